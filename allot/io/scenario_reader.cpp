#include "allot/io/scenario_reader.hpp"

#include <array>
#include <utility>

#include "allot/base/error.hpp"
#include "allot/io/detail/file_kind.hpp"
#include "allot/io/detail/read_system.hpp"
#include "allot/io/detail/read_work.hpp"
#include "allot/io/detail/text.hpp"
#include "allot/io/problems.hpp"

namespace allot {
namespace {

constexpr std::array<std::string_view, 7> kKeys = {"name",       "resources", "tasks",   "threads",
                                                   "population", "arrivals",  "measured"};

System build(detail::SystemParts parts) {
  PerPair<double> rates(parts.tasks.size(), parts.resources.size());
  for (std::size_t i = 0; i < parts.rates.size(); ++i) {
    for (const auto& [j, rate] : parts.rates[i]) rates(task_type(i), resource_id(j)) = rate;
  }
  return System(std::move(parts.resources), std::move(parts.tasks), Rates(std::move(rates)));
}

}  // namespace

ReadResult<Scenario> read_scenario_node(const Document& document, const Node& node) {
  if (const std::string other = detail::mistaken_for(detail::FileKind::kScenario, node); !other.empty())
    return std::vector<Diagnostic>{{document.place(node), other}};
  Problems problems(document);
  const TableReader root(node, "a scenario", kKeys, problems);
  if (!root.is_table()) return problems.diagnostics();

  const std::string name = root.name("name").value_or("");
  const Node* const threads = root.find("threads");
  const bool has_threads = threads && threads->get<Node::Array>() && !threads->get<Node::Array>()->empty();
  detail::SystemParts parts =
      detail::read_system(root, has_threads, detail::types_with_other_work(node), problems);
  std::vector<ThreadGroup> groups = detail::read_threads(root, parts, problems);
  std::vector<PopulationChange> population = detail::read_population(root, parts, problems);
  std::vector<Arrivals> arrivals = detail::read_arrivals(root, parts, problems);
  std::vector<MeasuredRate> measured = detail::read_measured(root, parts, problems);
  if (!problems.empty()) return problems.diagnostics();
  try {
    return Scenario{name,
                    build(std::move(parts)),
                    std::move(groups),
                    std::move(population),
                    std::move(arrivals),
                    std::move(measured)};
  } catch (const InvalidModel& error) {
    // A rule of the model that the reader does not know would be a defect; the user still gets an answer.
    problems.add(node, error.what());
    return problems.diagnostics();
  }
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
      return detail::in_quotes(system.resource(j).name) + " (" + detail::shortest(system.rate(i, j)) +
             " per second)";
    };
    out.push_back("task " + detail::in_quotes(system.task(i).name) + " is at home on " + speed(*home) +
                  " but fastest on " + speed(fastest));
  }
  if (left_out > 0)
    out.push_back("and " + std::to_string(left_out) +
                  " more task types are not at home where they are fastest");
  return out;
}

}  // namespace allot
