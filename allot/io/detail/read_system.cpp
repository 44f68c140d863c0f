#include "allot/io/detail/read_system.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "allot/io/detail/text.hpp"

namespace allot::detail {
namespace {

constexpr std::array<std::string_view, 7> kResourceKeys = {"name",      "kind",  "servers",   "discipline",
                                                           "min_depth", "power", "idle_power"};
constexpr std::array<std::string_view, 6> kTaskKeys = {"name", "count", "home", "priority", "floor", "rates"};
constexpr std::array<std::string_view, 2> kKinds = {"gp", "sa"};
constexpr std::array<std::string_view, 2> kDisciplines = {"ps", "fcfs"};

/// Rates are kept as a full matrix; more entries than this would be a typing error, or an attack.
constexpr std::size_t kMostRates = std::size_t{1} << 24;

void check_accelerators(std::span<const Node> nodes, const SystemParts& parts, Problems& problems) {
  std::vector<std::vector<std::string_view>> users(parts.resources.size());
  for (std::size_t i = 0; i < parts.rates.size(); ++i) {
    for (const auto& [j, rate] : parts.rates[i]) {
      if (parts.resources[j].kind == Kind::kSpecialized) users[j].push_back(parts.task_names.order[i]);
    }
  }
  for (std::size_t j = 0; j < users.size(); ++j) {
    if (users[j].size() < 2) continue;
    const Node* const kind = nodes[j].find("kind");
    problems.add(kind ? *kind : nodes[j],
                 in_quotes(parts.resource_names.order[j]) +
                     " is an accelerator (\"sa\"): only one task type may have a rate on it, " + "not " +
                     listed(users[j], true));
  }
}

}  // namespace

std::string read_name(const TableReader& table, Names& names,
                      std::unordered_map<std::string_view, const Node*>& first, Problems& problems) {
  table.require("name", "a " + std::string(names.noun) + " is known by it");
  const Node* const node = table.find("name");
  const auto name = table.name("name");
  const std::size_t at = names.order.size();
  if (!name || name->empty()) {
    if (name) problems.add(*node, "'name' must not be empty");
    names.is_complete = false;
    names.order.push_back({});
    return {};
  }
  const std::string_view kept = *node->get<std::string>();
  names.order.push_back(kept);
  if (!names.index.emplace(kept, at).second) {
    problems.add(*node, std::string(names.noun) + " name " + in_quotes(kept) + " is used twice, first at " +
                            problems.document().place(*first.at(kept)));
  }
  first.emplace(kept, node);
  return *name;
}

Resource read_resource(const TableReader& table, std::string name) {
  Resource resource;
  resource.name = std::move(name);
  if (const auto kind = table.word("kind", kKinds))
    resource.kind = *kind == 0 ? Kind::kGeneral : Kind::kSpecialized;
  if (const auto discipline = table.word("discipline", kDisciplines)) {
    resource.discipline = *discipline == 0 ? Discipline::kPs : Discipline::kFcfs;
  }
  resource.servers = table.whole("servers", 1, kMaxCount).value_or(resource.servers);
  resource.min_depth = table.whole("min_depth", 1, kMaxCount).value_or(resource.min_depth);
  resource.power = table.number("power").value_or(resource.power);
  resource.idle_power = table.number("idle_power").value_or(resource.idle_power);
  return resource;
}

bool read_rates(const Node& node, const Names& resources, RateRow& row, Problems& problems) {
  const auto* table = node.get<Node::Table>();
  if (!table) {
    const char* const kind = problems.document().format() == FileFormat::kToml ? "a table" : "an object";
    problems.add(node, "'rates' must be " + std::string(kind) + " of resource names and rates, is " +
                           problems.document().describe(node));
    return false;
  }
  const std::size_t before = problems.size();
  bool is_sound = true;
  for (const Entry& entry : *table) {
    const auto resource = resolve(resources, entry.key, entry.value, problems);
    const auto rate = read_number(entry.value, "the rate on " + in_quotes(entry.key), problems);
    if (rate && *rate > 0 && *rate < 1 / kMaxNumber) {
      problems.add(entry.value, "the rate on " + in_quotes(entry.key) + " must be 0 or at least 1e-100, is " +
                                    shortest(*rate));
    }
    is_sound = is_sound && resource && rate;
    if (resource && rate && *rate > 0) row.emplace_back(*resource, *rate);
  }
  return is_sound && problems.size() == before;
}

void check_priorities(std::span<const Node> nodes, std::span<const std::optional<double>> priorities,
                      Problems& problems) {
  std::vector<const Node*> given;
  for (const Node& node : nodes) {
    if (const Node* const priority = node.find("priority")) given.push_back(priority);
  }
  if (given.empty()) return;
  for (const Node& node : nodes) {
    if (node.get<Node::Table>() && !node.find("priority")) {
      problems.add(node,
                   "needs 'priority', since other tasks have one: give it for all task types or for none");
    }
  }
  double weight = 0;
  std::size_t right = 0;
  for (const std::optional<double>& priority : priorities) {
    weight += priority.value_or(0.0);
    right += priority ? 1 : 0;
  }
  if (right == given.size() && weight == 0) {
    problems.add(*given.front(), "the priorities must not all be 0: they are weights of the completions");
  }
}

std::optional<std::size_t> resolve(const Names& names, std::string_view name, const Node& where,
                                   Problems& problems) {
  const auto it = names.index.find(name);
  if (it != names.index.end()) return it->second;
  if (names.is_complete) {
    problems.add(where, "unknown " + std::string(names.noun) + " " + in_quotes(name) +
                            problems.suggestion(name, names.order) + " (" + std::string(names.noun) +
                            "s: " + listed(names.order) + ")");
  }
  return std::nullopt;
}

std::span<const Node> read_entries(const TableReader& root, std::string_view key, Names& names,
                                   Problems& problems) {
  root.require(key, key == "resources" ? "at least one resource" : "at least one task type");
  const auto found =
      root.array(key, problems.document().format() == FileFormat::kToml ? "tables" : "objects");
  const Node* const node = root.find(key);
  if (node && node->get<Node::Array>() && found.empty()) {
    problems.add(*node, in_quotes(key) + " needs at least one " + std::string(names.noun));
  }
  names.is_complete = !found.empty();
  return found;
}

SystemParts read_system(const TableReader& root, bool has_threads,
                        const std::unordered_set<std::string_view>& types_with_other_work,
                        Problems& problems) {
  SystemParts parts;
  std::unordered_map<std::string_view, const Node*> first;
  const std::span<const Node> resource_nodes =
      read_entries(root, "resources", parts.resource_names, problems);
  for (const Node& node : resource_nodes) {
    const TableReader table(node, "a resource", kResourceKeys, problems);
    parts.resources.push_back(read_resource(table, read_name(table, parts.resource_names, first, problems)));
  }

  first.clear();
  const std::span<const Node> task_nodes = read_entries(root, "tasks", parts.task_names, problems);
  for (const Node& node : task_nodes) {
    const TableReader table(node, "a task", kTaskKeys, problems);
    TaskClass task;
    task.name = read_name(table, parts.task_names, first, problems);
    if (!has_threads && !types_with_other_work.contains(task.name)) {
      table.require("count", "the number of threads whose tasks are of this type");
    }
    const auto count = table.whole("count", 0, kMaxCount);
    task.count = count.value_or(0);
    parts.has_sound_counts = parts.has_sound_counts && (count || !table.find("count"));
    if (has_threads && task.count > 0) {
      problems.add(*table.find("count"),
                   "'count' must be 0 or absent where 'threads' are given, which take its place");
    }
    task.priority = table.number("priority");
    task.floor = table.number("floor");

    SystemParts::Row row;
    const Node* const rates = table.find("rates");
    const bool is_sound = rates ? read_rates(*rates, parts.resource_names, row, problems) : table.is_table();
    if (is_sound && row.empty() && task.count > 0) {
      problems.add(rates ? *rates : node, in_quotes(task.name) +
                                              " has threads but can run nowhere: 'rates' needs a " +
                                              "rate > 0 on at least one resource");
    }
    if (const auto home = table.text("home")) {
      const Node& where = *table.find("home");
      const auto at = resolve(parts.resource_names, *home, where, problems);
      const bool runs =
          at && std::any_of(row.begin(), row.end(), [&](const auto& pair) { return pair.first == *at; });
      if (runs) task.home = resource_id(*at);
      if (at && !runs && is_sound) {
        problems.add(where, "'home' must be a resource that can run the type, but it has no rate > 0 on " +
                                in_quotes(*home));
      }
    }
    parts.tasks.push_back(std::move(task));
    parts.rates.push_back(std::move(row));
    parts.has_sound_rates.push_back(is_sound);
  }

  std::vector<std::optional<double>> priorities;
  for (const TaskClass& task : parts.tasks) priorities.push_back(task.priority);
  check_priorities(task_nodes, priorities, problems);
  check_accelerators(resource_nodes, parts, problems);
  if (!parts.resources.empty() && parts.tasks.size() > kMostRates / parts.resources.size()) {
    problems.add(root.node(), "is too large: " + std::to_string(parts.tasks.size()) + " task types times " +
                                  std::to_string(parts.resources.size()) + " resources are more than " +
                                  std::to_string(kMostRates) + " rates");
  }
  return parts;
}

}  // namespace allot::detail
