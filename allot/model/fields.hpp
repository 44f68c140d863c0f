// The table of fields: every key of a scenario file, once. Readers, writers, the model's rules, Python's
// columns, the page, the JSON Schema, the reference and the fuzzers' dictionaries all come from these rows.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "allot/model/scenario.hpp"

namespace allot {

/// A value with its own code for reading and writing: its description in words and as JSON Schema.
struct Special {
  std::string_view value;
  std::string_view schema;
};

/// Where a value is kept. Its type says what kind of value it is.
template <typename Owner>
using Member =
    std::variant<Special, std::string Owner::*, Count Owner::*, double Owner::*, bool Owner::*,
                 std::optional<double> Owner::*, Kind Owner::*, Discipline Owner::*, TaskType Owner::*,
                 ResourceId Owner::*, std::optional<ResourceId> Owner::*, std::vector<TaskType> Owner::*,
                 std::vector<ResourceNumber> Owner::*, std::vector<Need> Owner::*>;

/// One key of a table. Its default is the value of the member in a fresh Owner.
template <typename Owner>
struct Field {
  std::string_view key;
  Member<Owner> member;
  std::string_view help;         ///< one line
  std::string_view absent = {};  ///< the meaning of an absent key, unless the default says it
  bool required = false;
  double least = 0;  ///< of a number
  double most = kMaxNumber;
  std::string_view unit = {};               ///< of a number; a value in "s" may be a text such as "10m"
  std::string_view column = {};             ///< Python's name for the values of all entries
  std::span<const std::string_view> words;  ///< of an enumeration, in its order
  bool is_for_jobs = true;                  ///< job files have it, too
};

// In the order in which files are written and keys are listed.
std::span<const Field<Resource>> resource_fields() noexcept;
std::span<const Field<TaskClass>> task_fields() noexcept;
std::span<const Field<Capacity>> capacity_fields() noexcept;
std::span<const Field<ThreadGroup>> thread_fields() noexcept;
std::span<const Field<PopulationChange>> population_fields() noexcept;
std::span<const Field<Arrivals>> arrival_fields() noexcept;
std::span<const Field<MeasuredRate>> measured_fields() noexcept;
/// Of the file itself.
std::span<const Field<ScenarioParts>> scenario_fields() noexcept;

template <typename Owner>
std::vector<std::string_view> keys_of(std::span<const Field<Owner>> fields) {
  std::vector<std::string_view> keys;
  for (const Field<Owner>& field : fields) keys.push_back(field.key);
  return keys;
}

}  // namespace allot
