// The fields of a result as Python's attributes and in pickles, from its table.
#pragma once

#include <span>

#include "allot/format/result_field.hpp"
#include "integrations/python/native/convert.hpp"

namespace allot::python {

/// None if there is no value.
py::object to_object(const Kept& value, const System& system, bool is_matrix, bool may_be_empty);

template <typename Result>
py::object to_object(const ResultField<Result>& field, const System& system, const Result& result) {
  if (field.has_value != nullptr && !field.has_value(system, result)) return py::none();
  if (field.word != nullptr) return to_str(field.word(result));
  return to_object(kept(field, result), system, field.is_matrix, field.may_be_empty);
}

/// A record of allot._records: its fields are those with a docstring.
template <typename Result>
py::object to_record(const char* kind, std::span<const ResultField<Result>> fields, const System& system,
                     const Result& result) {
  py::dict values;
  for (const ResultField<Result>& field : fields) {
    if (!field.help.empty()) values[field.key.data()] = to_object(field, system, result);
  }
  return py::module_::import("allot._records").attr(kind)(**values);
}

template <typename Result>
py::list to_records(const char* kind, std::span<const ResultField<Result>> fields, const System& system,
                    const std::vector<Result>& results) {
  py::list records;
  for (const Result& result : results) records.append(to_record(kind, fields, system, result));
  return records;
}

/// An attribute for each field with a docstring. `member`: the result inside `Held`.
template <typename Held, typename Result>
void add_attributes(py::class_<Held>& bound, std::span<const ResultField<Result>> fields,
                    Result Held::*member) {
  for (const ResultField<Result>& field : fields) {
    if (field.help.empty()) continue;
    const auto get = [&field, member](const Held& self) {
      return to_object(field, self.scenario->system, self.*member);
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
