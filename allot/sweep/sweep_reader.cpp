#include "allot/sweep/sweep_reader.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <set>
#include <utility>

#include "allot/base/error.hpp"
#include "allot/base/quote.hpp"
#include "allot/format/file_kind.hpp"
#include "allot/format/problems.hpp"
#include "allot/format/scenario_reader.hpp"
#include "allot/policy/policy.hpp"
#include "allot/size/distribution.hpp"
#include "allot/solve/solver.hpp"
#include "allot/sweep/detail/points.hpp"

namespace allot {
namespace {

constexpr std::array<std::string_view, 13> kKeys = {
    "title", "scenario", "generate",    "vary",   "policies",     "solvers", "distributions",
    "seed",  "seeds",    "completions", "warmup", "replications", "start"};

constexpr Count kMostCompletions = 1'000'000'000'000;
constexpr Count kMostReplications = 100'000;

/// Names of built-ins, each once.
template <typename Infos>
std::vector<std::string> read_names(const TableReader& root, std::string_view key, std::string_view noun,
                                    const Infos& infos, Problems& problems) {
  std::vector<std::string_view> known;
  for (const auto* info : infos) known.push_back(info->name);
  std::vector<std::string> names;
  for (const Node& node : root.array(key, "names")) {
    const auto name = read_text(node, "a " + std::string(noun), problems);
    if (!name) continue;
    if (std::find(known.begin(), known.end(), *name) == known.end()) {
      problems.add(node, "there is no " + std::string(noun) + " " + quote::name(*name) +
                             problems.suggestion(*name, known) + " (there: " + quote::list(known) + ")");
    } else if (std::find(names.begin(), names.end(), *name) != names.end()) {
      problems.add(node, "the " + std::string(noun) + " " + quote::name(*name) + " is given twice");
    } else {
      names.push_back(*name);
    }
  }
  return names;
}

std::vector<SweepSizes> read_distributions(const TableReader& root, const std::filesystem::path& folder,
                                           Problems& problems) {
  constexpr std::string_view kTrace = "trace:";
  std::vector<SweepSizes> sizes;
  for (const Node& node : root.array("distributions", "names")) {
    const auto name = read_text(node, "a distribution", problems);
    if (!name) continue;
    SweepSizes entry{*name, *name};
    if (name->starts_with(kTrace))
      entry.spec = kTrace.data() + (folder / name->substr(kTrace.size())).string();
    try {
      make_distribution(entry.spec);
    } catch (const InvalidModel& error) {
      problems.add(node, quote::terminal(error.what(), 200));
      continue;
    }
    const bool is_new = std::none_of(sizes.begin(), sizes.end(),
                                     [&](const SweepSizes& other) { return other.name == *name; });
    if (is_new) {
      sizes.push_back(std::move(entry));
    } else {
      problems.add(node, "the distribution " + quote::name(*name) + " is given twice");
    }
  }
  if (!root.find("distributions")) sizes.push_back({"exponential", "exponential"});
  return sizes;
}

std::vector<std::uint64_t> read_seeds(const TableReader& root, Problems& problems) {
  constexpr Count kLargest = std::numeric_limits<Count>::max();
  const Node* const node = root.find("seeds");
  if (node && root.find("seed")) problems.add(*node, "'seeds' does not go with 'seed'");
  if (!node) return {static_cast<std::uint64_t>(root.whole("seed", 0, kLargest).value_or(1))};
  std::vector<std::uint64_t> seeds;
  if (const auto* array = node->get<Node::Array>()) {
    for (const Node& element : *array) {
      const auto seed = read_whole(element, "a seed", 0, kLargest, problems);
      if (!seed) continue;
      if (std::find(seeds.begin(), seeds.end(), static_cast<std::uint64_t>(*seed)) != seeds.end())
        problems.add(element, "the seed " + std::to_string(*seed) + " is given twice");
      seeds.push_back(static_cast<std::uint64_t>(*seed));
    }
    if (array->empty()) problems.add(*node, "'seeds' must not be empty");
  } else if (const auto count =
                 read_whole(*node, "'seeds', if it is not a list,", 1, detail::kMostValues, problems)) {
    for (Count seed = 1; seed <= *count; ++seed) seeds.push_back(static_cast<std::uint64_t>(seed));
  }
  return seeds;
}

/// Each policy and solver must suit the systems of all points. Only the first system that it does not suit is
/// reported.
void check_methods(const TableReader& root, const SweepPlan& plan, Problems& problems) {
  const auto first_wrong = [&](std::string_view key, const std::string& name, const auto& check) {
    for (const SweepPoint& point : plan.points) {
      try {
        check(scenario_of(point, plan.seeds.front()));
      } catch (const InvalidModel& error) {
        problems.add(*root.find(key), quote::name(name) + ": " + quote::terminal(error.what(), 200));
        return;
      }
    }
  };
  for (const std::string& name : plan.policies) {
    first_wrong("policies", name,
                [&](const Scenario& scenario) { find_policy(name)->make(scenario.system, {}); });
  }
  for (const std::string& name : plan.solvers) {
    first_wrong("solvers", name, [&](const Scenario& scenario) {
      if (!scenario.is_static())
        throw InvalidModel("scenario", "solvers need constant counts: no threads, population or arrivals");
      if (!find_solver(name)->maximises_value && scenario.system.shares().empty())
        throw InvalidModel("scenario", "this solver needs priorities");
    });
  }
}

ReadResult<SweepPlan> read(const Document& document, const std::filesystem::path& folder) {
  Problems problems(document);
  std::vector<Diagnostic> elsewhere;  // of the scenario's own file
  if (const std::string other = format::mistaken_for(format::FileKind::kSweep, document.root());
      !other.empty())
    return std::vector<Diagnostic>{{document.place(document.root()), other}};
  const TableReader root(document.root(), "a sweep", kKeys, problems);
  if (!root.is_table()) return problems.diagnostics();

  SweepPlan plan;
  plan.title = root.name("title").value_or("");
  plan.policies = read_names(root, "policies", "policy", builtin_policies(), problems);
  plan.solvers = read_names(root, "solvers", "solver", builtin_solvers(), problems);
  plan.distributions = read_distributions(root, folder, problems);
  plan.seeds = read_seeds(root, problems);
  plan.completions =
      static_cast<std::uint64_t>(root.whole("completions", 1, kMostCompletions).value_or(100'000));
  plan.replications =
      static_cast<std::uint32_t>(root.whole("replications", 1, kMostReplications).value_or(10));
  plan.random_start = root.word("start", kStartWords).value_or(0) == 0;
  const Node* const warmup = root.find("warmup");
  const auto* word = warmup ? warmup->get<std::string>() : nullptr;
  if (warmup && !(word && *word == "auto")) {
    if (const auto count = read_whole(*warmup, "'warmup', unless \"auto\",", 0, kMostCompletions, problems))
      plan.warmup = static_cast<std::uint64_t>(*count);
  }
  for (const char* const key : {"policies", "solvers"}) {
    const Node* const node = root.find(key);
    const auto* array = node ? node->get<Node::Array>() : nullptr;
    if (array && array->empty()) problems.add(*node, quote::name(key) + " must not be empty");
  }
  if (!root.find("policies") && !root.find("solvers"))
    problems.add(document.root(), "needs 'policies' to simulate, 'solvers' to run, or both");
  for (const std::string& name : plan.policies) {
    if (find_policy(name)->needs_assignment)
      problems.add(*root.find("policies"), quote::name(name) + " needs an assignment, and a sweep has none");
  }

  const std::optional<detail::Base> base = detail::read_base(root, folder, problems, elsewhere);
  std::vector<detail::Vary> varied;
  for (const Node& node : root.array("vary", "tables"))
    varied.push_back(detail::read_vary(node, root.find("generate") != nullptr, problems));
  std::set<std::string> labels = {"seed", "distribution", "kind", "name"};
  std::size_t rows = 1;
  for (const detail::Vary& vary : varied) {
    if (!vary.axis.label.empty() && !labels.insert(vary.axis.label).second)
      problems.add(*vary.node,
                   "another column is called " + quote::name(vary.axis.label) + "; give it a 'label'");
    rows = std::min(rows * std::max<std::size_t>(vary.axis.values.size(), 1), kMostSweepRows + 1);
  }
  rows = std::min(rows * plan.seeds.size(), kMostSweepRows + 1) *
         std::max<std::size_t>(plan.policies.size() * plan.distributions.size() + plan.solvers.size(), 1);
  if (rows > kMostSweepRows)
    problems.add(document.root(), "gives more than " + std::to_string(kMostSweepRows) +
                                      " rows: all combinations of values, seeds, policies and distributions");

  // The system itself first: its own problems do not depend on what is varied.
  if (base) elsewhere = detail::check_base(*base);
  if (base && elsewhere.empty() && problems.empty()) {
    plan.points = detail::make_points(*base, varied, problems);
    if (problems.empty()) check_methods(root, plan, problems);
  }
  if (!problems.empty() || !elsewhere.empty()) {
    std::vector<Diagnostic> all = problems.empty() ? std::vector<Diagnostic>{} : problems.diagnostics();
    all.insert(all.end(), elsewhere.begin(), elsewhere.end());
    return all;
  }
  for (detail::Vary& vary : varied) plan.axes.push_back(std::move(vary.axis));
  return plan;
}

}  // namespace

bool SweepAxis::is_numeric() const noexcept {
  return std::all_of(values.begin(), values.end(),
                     [](const Cell& value) { return value.number.has_value(); });
}

Scenario scenario_of(const SweepPoint& point, std::uint64_t seed) {
  if (const auto* scenario = std::get_if<Scenario>(&point.source)) return *scenario;
  GenerateOptions options = std::get<GenerateOptions>(point.source);
  options.seed = seed;
  return generate(options);
}

ReadResult<SweepPlan> read_sweep(const std::string& path) {
  const ReadResult<Document> document = read_document(path);
  if (!document) return document.diagnostics();
  return read(*document, path == "-" ? std::filesystem::path() : std::filesystem::path(path).parent_path());
}

ReadResult<SweepPlan> read_sweep_text(std::string_view text, FileFormat format, std::string source,
                                      const std::string& folder) {
  const ReadResult<Document> document = parse_document(text, format, std::move(source));
  if (!document) return document.diagnostics();
  return read(*document, folder);
}

}  // namespace allot
