#include "allot/format/result_field.hpp"

#include <type_traits>

namespace allot {

Json json_of(const Kept& value, const System& system, bool is_matrix, bool may_be_empty) {
  return std::visit(
      [&](const auto* at) {
        using Value = std::remove_cvref_t<decltype(*at)>;
        if constexpr (requires { at->empty(); } && !std::is_same_v<Value, Assignment>) {
          if (may_be_empty && at->empty()) return Json();
        }
        if constexpr (std::is_same_v<Value, std::vector<double>>) {
          if (is_matrix) return Json::matrix(*at, system.resource_count());
        }
        if constexpr (requires { name_of(system, **at); })
          return *at ? Json(name_of(system, **at)) : Json();
        else
          return Json(*at);
      },
      value);
}

}  // namespace allot
