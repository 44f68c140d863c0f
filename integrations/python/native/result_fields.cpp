#include "integrations/python/native/result_fields.hpp"

#include <pybind11/stl.h>

#include <cmath>
#include <type_traits>

namespace allot::python {

py::object to_object(const Kept& value, std::size_t columns, bool may_be_empty) {
  return std::visit(
      [&](const auto* at) -> py::object {
        using Value = std::remove_cvref_t<decltype(*at)>;
        if constexpr (std::is_same_v<Value, std::optional<double>>) {
          return *at && std::isfinite(**at) ? py::object(py::float_(**at)) : py::none();
        } else if constexpr (std::is_same_v<Value, std::vector<double>>) {
          if (may_be_empty && at->empty()) return py::none();
          if (columns > 0) return to_matrix(*at, columns);
          return to_array(*at);
        } else if constexpr (std::is_same_v<Value, std::vector<std::optional<double>>>) {
          return to_array(*at);
        } else if constexpr (std::is_same_v<Value, Assignment>) {
          return to_matrix(*at);
        } else {
          return py::cast(*at);
        }
      },
      value);
}

}  // namespace allot::python
