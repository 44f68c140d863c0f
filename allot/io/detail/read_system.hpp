// The resources and task types of a scenario document, before they become a System.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "allot/io/problems.hpp"
#include "allot/model/system.hpp"

namespace allot::detail {

/// The names of one array of tables, in order.
struct Names {
  std::string_view noun;                ///< "resource" or "task"
  std::vector<std::string_view> order;  ///< views into the document
  std::unordered_map<std::string_view, std::size_t> index;
  bool is_complete = true;  ///< false when some entry has no usable name: then an unknown name proves nothing
};

/// The index of a name, or a problem at `where`.
std::optional<std::size_t> resolve(const Names& names, std::string_view name, const Node& where,
                                   Problems& problems);

using RateRow = std::vector<std::pair<std::size_t, double>>;  ///< resource and rate > 0

// What every file with resources and task types has in common.

/// The tables under `resources` or `tasks`: at least one, or a problem.
std::span<const Node> read_entries(const TableReader& root, std::string_view key, Names& names,
                                   Problems& problems);
/// The name of a table: not empty, and not one that came before.
std::string read_name(const TableReader& table, Names& names,
                      std::unordered_map<std::string_view, const Node*>& first, Problems& problems);
/// All but the name.
Resource read_resource(const TableReader& table, std::string name);
/// The rates of one type. Returns whether all of them were right.
bool read_rates(const Node& node, const Names& resources, RateRow& row, Problems& problems);
/// Priorities are for all types or for none, and not all 0.
void check_priorities(std::span<const Node> nodes, std::span<const std::optional<double>> priorities,
                      Problems& problems);

struct SystemParts {
  using Row = RateRow;

  Names resource_names{"resource", {}, {}, true};
  Names task_names{"task", {}, {}, true};
  std::vector<Resource> resources;
  std::vector<TaskClass> tasks;
  std::vector<Row> rates;
  bool has_sound_counts = true;       ///< false when some count is wrong
  std::vector<bool> has_sound_rates;  ///< false when a problem was found in the rates of the type

  bool runs_nowhere(std::size_t task) const { return has_sound_rates[task] && rates[task].empty(); }
};

/// Reads `resources` and `tasks`. Threads given as sequences take the place of the counts; a type in
/// `types_with_other_work` needs no count either.
SystemParts read_system(const TableReader& root, bool has_threads,
                        const std::unordered_set<std::string_view>& types_with_other_work,
                        Problems& problems);

}  // namespace allot::detail
