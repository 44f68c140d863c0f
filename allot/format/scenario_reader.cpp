#include "allot/format/scenario_reader.hpp"

#include <unordered_set>
#include <utility>

#include "allot/base/quote.hpp"
#include "allot/format/file_kind.hpp"
#include "allot/format/problems.hpp"
#include "allot/format/read_fields.hpp"

namespace allot {
namespace {

/// Rates are kept as a full matrix; more entries than this would be a typing error, or an attack.
constexpr std::size_t kMostRates = std::size_t{1} << 24;

/// The names under `task` in population and arrivals, right or wrong.
std::unordered_set<std::string_view> types_with_other_work(const Node& root) {
  std::unordered_set<std::string_view> names;
  for (const std::string_view key : {"population", "arrivals"}) {
    const Node* const node = root.find(key);
    const auto* array = node ? node->get<Node::Array>() : nullptr;
    if (!array) continue;
    for (const Node& entry : *array) {
      const Node* const task = entry.find("task");
      if (task && task->get<std::string>()) names.insert(*task->get<std::string>());
    }
  }
  return names;
}

class ScenarioReader {
 public:
  ScenarioReader(const Document& document, const Node& node) : node_(node), problems_(document) {}

  ReadResult<Scenario> run() {
    const std::vector<std::string_view> keys = keys_of(scenario_fields());
    const TableReader root(node_, "a scenario", keys, problems_);
    if (!root.is_table()) return problems_.diagnostics();
    fields_.read(root, "", 0, scenario_fields(), parts_);
    rules_.scenario(parts_.name, parts_.power_cap);
    const std::span<const Node> resources = format::named_tables(root, "resources", resources_, problems_);
    const std::span<const Node> tasks = format::named_tables(root, "tasks", tasks_, problems_);
    const std::span<const Node> capacities = format::tables(root, "capacities", problems_);
    capacities_.is_complete = resources_.is_complete;
    for (const Node& entry : resources) capacities_.add(entry);
    for (const Node& entry : capacities) capacities_.add(entry);
    read("capacities", "a capacity", capacities, capacity_fields(), parts_.capacities);
    read("resources", "a resource", resources, resource_fields(), parts_.resources);
    read("tasks", "a task", tasks, task_fields(), parts_.tasks);
    if (!resources.empty() && tasks.size() > kMostRates / resources.size()) {
      problems_.add(node_, "is too large: " + std::to_string(tasks.size()) + " task types times " +
                               std::to_string(resources.size()) + " resources are more than " +
                               std::to_string(kMostRates) + " rates");
      return problems_.diagnostics();
    }
    read_section(root, "threads", "a group of threads", thread_fields(), parts_.threads);
    read_section(root, "population", "a population change", population_fields(), parts_.population);
    read_section(root, "arrivals", "an arrival stream", arrival_fields(), parts_.arrivals);
    read_section(root, "measured", "a measured rate", measured_fields(), parts_.measured);
    require_counts(tasks);
    parts_.rates = PerPair<double>(tasks.size(), resources.size());
    for (std::size_t i = 0; i < tasks.size(); ++i) read_rates(tasks[i], i);
    check();
    if (!problems_.empty()) return problems_.diagnostics();
    return Scenario{std::move(parts_.name),
                    System(std::move(parts_.resources), std::move(parts_.tasks),
                           Rates(std::move(parts_.rates)), std::move(parts_.capacities)),
                    std::move(parts_.threads),
                    std::move(parts_.population),
                    std::move(parts_.arrivals),
                    std::move(parts_.measured),
                    parts_.power_cap};
  }

 private:
  template <typename Owner>
  void read(std::string_view section, std::string_view what, std::span<const Node> nodes,
            std::span<const Field<Owner>> fields, std::vector<Owner>& out) {
    const std::vector<std::string_view> keys = keys_of(fields);
    for (const Node& node : nodes) {
      const TableReader table(node, what, keys, problems_);
      Owner& owner = out.emplace_back();
      fields_.read(table, section, out.size() - 1, fields, owner);
    }
  }
  template <typename Owner>
  void read_section(const TableReader& root, std::string_view section, std::string_view what,
                    std::span<const Field<Owner>> fields, std::vector<Owner>& out) {
    read(section, what, format::tables(root, section, problems_), fields, out);
  }

  /// A type needs a count unless its threads or tasks are given in another way.
  void require_counts(std::span<const Node> tasks) {
    if (!parts_.threads.empty() || !rules_.is_sound("", 0, "threads")) return;
    const std::unordered_set<std::string_view> others = types_with_other_work(node_);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (tasks[i].get<Node::Table>() && !tasks[i].find("count") && rules_.is_sound("tasks", i, "count") &&
          !others.contains(parts_.tasks[i].name))
        problems_.add(tasks[i], "needs 'count', the number of threads whose tasks are of this type");
    }
  }

  void read_rates(const Node& task, std::size_t i) {
    const Node* const node = task.find("rates");
    if (!node) return;
    format::RateRow row;
    if (!format::read_rates(*node, resources_, row, problems_)) rules_.unread("tasks", i, "rates");
    for (const auto& [j, rate] : row) parts_.rates(task_type(i), j) = rate;
  }

  void check() {
    if (!parts_.resources.empty() && !parts_.tasks.empty())
      rules_.system(parts_.resources, parts_.tasks, parts_.rates, parts_.capacities);
    rules_.counts_or_threads(parts_.tasks, parts_.threads);
    rules_.work(parts_.tasks, parts_.rates, parts_.threads, parts_.population, parts_.arrivals);
    rules_.measured(parts_.measured);
    format::report(rules_.found(), node_, problems_);
  }

  const Node& node_;
  Problems problems_;
  Rules rules_;
  format::Names resources_{"resource", "resources", {}, {}, true};
  format::Names tasks_{"task", "tasks", {}, {}, true};
  format::Names capacities_{"capacity", "capacities", {}, {}, true};
  format::FieldReader fields_{resources_, tasks_, capacities_, rules_, problems_};
  ScenarioParts parts_;
};

}  // namespace

ReadResult<Scenario> read_scenario_node(const Document& document, const Node& node) {
  if (const std::string other = format::mistaken_for(format::FileKind::kScenario, node); !other.empty())
    return std::vector<Diagnostic>{{document.place(node), other}};
  return ScenarioReader(document, node).run();
}

ReadResult<Scenario> read_scenario_text(std::string_view text, FileFormat format, std::string source) {
  const ReadResult<Document> document = parse_document(text, format, std::move(source));
  if (!document) return document.diagnostics();
  return read_scenario_node(*document, document->root());
}

ReadResult<Scenario> read_scenario(const std::string& path) {
  const ReadResult<Document> document = read_document(path);
  if (!document) return document.diagnostics();
  return read_scenario_node(*document, document->root());
}

std::vector<std::string> notes(const Scenario& scenario, std::size_t most) {
  const System& system = scenario.system;
  std::vector<std::string> out;
  std::size_t left_out = 0;
  for (const TaskType i : system.types()) {
    const auto home = system.home(i);
    if (!home) continue;
    ResourceId fastest = *home;
    for (const ResourceId j : system.resources_for(i)) {
      if (system.rate(i, j) > system.rate(i, fastest)) fastest = j;
    }
    if (fastest == *home) continue;
    if (out.size() == most) {
      ++left_out;
      continue;
    }
    const auto speed = [&](ResourceId j) {
      return quote::name(system.resource(j).name) + " (" + quote::number(system.rate(i, j)) + " per second)";
    };
    out.push_back("task " + quote::name(system.task(i).name) + " has its home on " + speed(*home) +
                  " but is fastest on " + speed(fastest));
  }
  if (left_out > 0)
    out.push_back("and " + std::to_string(left_out) +
                  " more task types do not have their home where they are fastest");
  return out;
}

}  // namespace allot
