#include "allot/format/result_field.hpp"

#include <type_traits>

namespace allot {

Json json_of(const Kept& value, std::size_t columns, bool may_be_empty) {
  return std::visit(
      [&](const auto* at) {
        using Value = std::remove_cvref_t<decltype(*at)>;
        if constexpr (requires { at->empty(); } && !std::is_same_v<Value, Assignment>) {
          if (may_be_empty && at->empty()) return Json();
        }
        if constexpr (std::is_same_v<Value, std::vector<double>>) {
          if (columns > 0) return Json::matrix(*at, columns);
        }
        return Json(*at);
      },
      value);
}

}  // namespace allot
