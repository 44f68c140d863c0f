#include "integrations/python/native/result_fields.hpp"

#include <pybind11/stl.h>

#include <cmath>
#include <type_traits>

namespace allot::python {

py::object to_object(const Kept& value, const System& system, bool is_matrix, bool may_be_empty) {
  return std::visit(
      [&](const auto* at) -> py::object {
        using Value = std::remove_cvref_t<decltype(*at)>;
        if constexpr (std::is_same_v<Value, std::optional<double>>) {
          return *at && std::isfinite(**at) ? py::object(py::float_(**at)) : py::none();
        } else if constexpr (std::is_same_v<Value, std::vector<double>>) {
          if (may_be_empty && at->empty()) return py::none();
          if (is_matrix) return to_matrix(*at, system.resource_count());
          return to_array(*at);
        } else if constexpr (std::is_same_v<Value, std::vector<std::optional<double>>>) {
          return to_array(*at);
        } else if constexpr (std::is_same_v<Value, Assignment>) {
          return to_matrix(*at);
        } else if constexpr (requires { name_of(system, **at); }) {
          return *at ? py::object(to_str(name_of(system, **at))) : py::none();
        } else {
          return py::cast(*at);
        }
      },
      value);
}

}  // namespace allot::python
