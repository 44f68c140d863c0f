// The rules of the model, each checked only here. All violations are found together, each with the place of
// the value; the reader of a file adds the line.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "allot/base/per.hpp"
#include "allot/model/fields.hpp"

namespace allot {

/// A value of a scenario or a job: `tasks[2].rates.gpu`.
struct FieldPlace {
  std::string_view table;              ///< "resources", "tasks", ...
  std::optional<std::size_t> entry;    ///< absent: the table itself
  std::string_view key = {};           ///< empty: the entry itself
  std::string inner = {};              ///< a name within a value that is a table; empty: the value itself
  std::optional<std::size_t> element;  ///< of a value that is an array
  std::string inmost = {};             ///< a name within that of `inner`
};
/// In the form that InvalidModel uses.
std::string to_string(const FieldPlace& place);

struct Violation {
  FieldPlace place;
  /// What is wrong. A message that begins with "must" is about the value at the place.
  std::string message;
  std::string value = {};           ///< the actual value; empty if that does not help
  std::optional<FieldPlace> first;  ///< for duplicates: the first place
};
/// "must be a whole number from 1 to 1000000000, is 0".
std::string to_string(const Violation& violation);
/// Throws InvalidModel with the first, if there is one.
void throw_if_any(const std::vector<Violation>& violations);

/// Collects violations. Rules that depend on a wrong or unreadable value are skipped.
class Rules {
 public:
  /// The value could not be read; a placeholder replaces it.
  void unread(std::string_view table, std::size_t entry, std::string_view key);
  void add(FieldPlace place, std::string message, std::string value = {},
           std::optional<FieldPlace> first = {});
  const std::vector<Violation>& found() const noexcept { return found_; }

  /// Checks each field of an entry by itself.
  template <typename Owner>
  void fields(std::string_view table, std::size_t entry, const Owner& owner,
              std::span<const Field<Owner>> fields);
  /// Not empty, printable, unique. `noun`: what the names stand for.
  void names(std::string_view table, std::string_view noun, std::span<const std::string_view> names);
  /// For all types or for none, and not all 0.
  void priorities(std::span<const std::optional<double>> priorities);
  /// The name of the scenario, which may be empty, and its power limit.
  void scenario(std::string_view name, const std::optional<double>& power_cap);
  void title(std::string_view name);
  /// At most one type may have `what` on an accelerator.
  void accelerator(std::size_t entry, const Resource& resource, std::span<const std::string_view> users,
                   std::string_view what);

  /// Unique names that no resource has, and valid amounts.
  void capacities(const std::vector<Resource>& resources, const std::vector<Capacity>& capacities);
  /// Checks each task type by itself, and that its needs can be met. `runs`: > 0 where the type can run.
  /// `what`: the word for what a type must have under `key` to run on a resource.
  void tasks(const std::vector<Resource>& resources, const std::vector<Capacity>& capacities,
             const std::vector<TaskClass>& tasks, std::span<const Field<TaskClass>> fields,
             const PerPair<double>& runs, std::string_view what, std::string_view key);

  /// The rules of a System.
  void system(const std::vector<Resource>& resources, const std::vector<TaskClass>& tasks,
              const PerPair<double>& rates, const std::vector<Capacity>& capacities = {});
  /// The rules of threads, population and arrivals.
  void work(const std::vector<TaskClass>& tasks, const PerPair<double>& rates,
            const std::vector<ThreadGroup>& threads, const std::vector<PopulationChange>& population,
            const std::vector<Arrivals>& arrivals);
  /// In a file, either counts or threads say how many threads there are. Simulations support both at once.
  void counts_or_threads(const std::vector<TaskClass>& tasks, const std::vector<ThreadGroup>& threads);
  void measured(const std::vector<MeasuredRate>& measured);

  /// Whether the value was read, and nothing was added about it.
  bool is_sound(std::string_view table, std::size_t entry, std::string_view key) const;

 private:
  /// Like `add`, for values that are valid by themselves.
  void conclude(FieldPlace place, std::string message);
  void check_whole(const FieldPlace& place, Count value, double least, double most);
  void check_number(const FieldPlace& place, double value, double least, double most);
  bool all_sound(std::string_view table, std::string_view key) const;
  void rates(const std::vector<Resource>& resources, const PerPair<double>& rates);
  void runs_somewhere(const FieldPlace& place, TaskType task, const std::vector<TaskClass>& tasks,
                      const PerPair<double>& rates);
  std::string name_of(ResourceId j) const;
  std::string name_of(CapacityId r) const;
  void needs(std::size_t i, const TaskClass& task, std::span<const double> runs, std::string_view what,
             std::string_view key);
  void limits_of_visited(const std::vector<TaskClass>& tasks, const std::vector<ThreadGroup>& threads,
                         const std::vector<Arrivals>& arrivals);
  void counts_over_time(const std::vector<TaskClass>& tasks, const std::vector<PopulationChange>& population);

  std::vector<Violation> found_;
  // While their fields and those of the tasks are checked.
  const std::vector<Resource>* resources_ = nullptr;
  const std::vector<Capacity>* capacities_ = nullptr;
  std::set<std::tuple<std::string_view, std::string_view, std::size_t>> wrong_;  // table, key, entry
};

/// The rule that a number breaks, such as "must be a finite number >= 0"; empty if it breaks none.
std::string wanted_number(double value, double least, double most);
/// The same for a rate.
std::string wanted_rate(double rate);
/// "must be a whole number from 1 to 1000000000".
std::string wanted_whole(double least, double most);

template <typename Owner>
void Rules::fields(std::string_view table, std::size_t entry, const Owner& owner,
                   std::span<const Field<Owner>> fields) {
  for (const Field<Owner>& field : fields) {
    if (const auto* whole = std::get_if<Count Owner::*>(&field.member)) {
      check_whole({table, entry, field.key}, owner.**whole, field.least, field.most);
    } else if (const auto* number = std::get_if<double Owner::*>(&field.member)) {
      check_number({table, entry, field.key}, owner.**number, field.least, field.most);
    } else if (const auto* optional = std::get_if<std::optional<double> Owner::*>(&field.member)) {
      if (owner.**optional)
        check_number({table, entry, field.key}, *(owner.**optional), field.least, field.most);
    } else if (const auto* numbers = std::get_if<std::vector<ResourceNumber> Owner::*>(&field.member)) {
      for (const ResourceNumber& one : owner.**numbers)
        check_number({table, entry, field.key, name_of(one.resource)}, one.value, field.least, field.most);
    } else if (const auto* needs = std::get_if<std::vector<Need> Owner::*>(&field.member)) {
      for (const Need& need : owner.**needs)
        check_number({table, entry, field.key, name_of(need.resource), {}, name_of(need.capacity)},
                     need.amount, field.least, field.most);
    }
  }
}

}  // namespace allot
