// The fields of a result as Python's attributes and in pickles, from its table.
#pragma once

#include <span>

#include "allot/format/result_field.hpp"
#include "integrations/python/native/convert.hpp"

namespace allot::python {

/// None if there is no value. `columns` of a matrix; otherwise 0.
py::object to_object(const Kept& value, std::size_t columns, bool may_be_empty);

/// An attribute for each field with a docstring. `member`: the result inside `Held`.
template <typename Held, typename Result>
void add_attributes(py::class_<Held>& bound, std::span<const ResultField<Result>> fields,
                    Result Held::*member) {
  for (const ResultField<Result>& field : fields) {
    if (field.help.empty()) continue;
    const auto get = [&field, member](const Held& self) -> py::object {
      const System& system = self.scenario->system;
      if (field.has_value != nullptr && !field.has_value(system, self.*member)) return py::none();
      return to_object(kept(field, self.*member), field.is_matrix ? system.resource_count() : 0,
                       field.may_be_empty);
    };
    bound.def_property_readonly(field.key.data(), get, field.help.data());
  }
}

/// For the archive: all fields that are kept.
template <typename Result>
void archive_fields(auto& archive, std::span<const ResultField<Result>> fields, Result& result) {
  for (const ResultField<Result>& field : fields) {
    if (field.kept != nullptr && archive.keeps(field.key))
      std::visit([&](auto* value) { archive(*value); }, field.kept(result));
  }
}

}  // namespace allot::python
