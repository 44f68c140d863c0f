// One row per field of a result. JSON, Python's attributes, pickles and stubs, and the command's sentences
// all come from these rows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "allot/format/json.hpp"
#include "allot/model/system.hpp"

namespace allot {

/// Where a result keeps a value. The type says what kind of value it is.
using Kept =
    std::variant<bool*, std::uint32_t*, std::uint64_t*, double*, std::optional<double>*, std::string*,
                 std::string_view*, Assignment*, std::vector<double>*, std::vector<std::optional<double>>*,
                 std::vector<std::string>*, Estimate*, std::vector<Estimate>*, std::optional<TaskType>*,
                 std::optional<ResourceId>*, std::optional<CapacityId>*>;

template <typename Result>
struct ResultField {
  std::string_view key;
  std::string_view help = {};       ///< Python's docstring; empty: Python has its own code for it
  Kept (*kept)(Result&) = nullptr;  ///< null: it follows from others, or is kept in another form
  std::string_view (*word)(const Result&) = nullptr;  ///< instead, of a value that is one of a few words
  bool is_matrix = false;                             ///< by task type and resource, row-major
  bool may_be_empty = false;                          ///< then there is no value
  bool is_left_out = false;  ///< of the JSON if there is no value; otherwise it is null there
  bool is_inside = false;    ///< the JSON has it inside another field
  bool (*has_value)(const System&, const Result&) = nullptr;  ///< null: it always has one
  /// What the command says if there is a value, with {} for the number; empty: it has its own code for it.
  std::string_view sentence = {};
  Json (*json)(const System&, const Result&) = nullptr;  ///< instead of the value as it is kept
};

/// The value of a field. Only read it.
template <typename Result>
Kept kept(const ResultField<Result>& field, const Result& result) {
  return field.kept(const_cast<Result&>(result));
}

inline std::string_view name_of(const System& system, TaskType i) { return system.task(i).name; }
inline std::string_view name_of(const System& system, ResourceId j) { return system.resource(j).name; }
inline std::string_view name_of(const System& system, CapacityId r) { return system.capacity_name(r); }

/// Null if there is no value.
Json json_of(const Kept& value, const System& system, bool is_matrix, bool may_be_empty);

template <typename Result>
Json json_of(const ResultField<Result>& field, const System& system, const Result& result) {
  if (field.json != nullptr) return field.json(system, result);
  if (field.has_value != nullptr && !field.has_value(system, result)) return {};
  if (field.word != nullptr) return field.word(result);
  return json_of(kept(field, result), system, field.is_matrix, field.may_be_empty);
}

/// The object with all fields added, in the order of the table.
template <typename Result>
Json json_object(std::span<const ResultField<Result>> fields, const System& system, const Result& result,
                 Json object = {}) {
  for (const ResultField<Result>& field : fields) {
    if (field.is_inside) continue;
    Json value = json_of(field, system, result);
    if (!(field.is_left_out && value.is_null())) object.add(field.key, std::move(value));
  }
  return object;
}

/// An array of objects.
template <typename Result>
Json json_array(std::span<const ResultField<Result>> fields, const System& system,
                const std::vector<Result>& results) {
  Json::Array array;
  for (const Result& result : results) array.push_back(json_object(fields, system, result));
  return array;
}

}  // namespace allot
