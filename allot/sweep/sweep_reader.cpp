#include "allot/sweep/sweep_reader.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <set>
#include <utility>

#include "allot/base/elementary.hpp"
#include "allot/base/error.hpp"
#include "allot/base/quote.hpp"
#include "allot/format/file_kind.hpp"
#include "allot/format/problems.hpp"
#include "allot/format/scenario_reader.hpp"
#include "allot/policy/policy.hpp"
#include "allot/size/distribution.hpp"
#include "allot/solve/solver.hpp"
#include "allot/sweep/detail/field_path.hpp"

namespace allot {
namespace {

constexpr std::array<std::string_view, 13> kKeys = {
    "title", "scenario", "generate",    "vary",   "policies",     "solvers", "distributions",
    "seed",  "seeds",    "completions", "warmup", "replications", "start"};
constexpr std::array<std::string_view, 9> kVaryKeys = {"field", "label",  "values", "from", "to",
                                                       "step",  "points", "scale",  "whole"};
constexpr std::array<std::string_view, 7> kGenerateKeys = {"gps",   "sas",        "threads", "rule",
                                                           "rates", "priorities", "powers"};
constexpr std::array<std::string_view, 2> kScales = {"linear", "log"};
constexpr std::array<std::string_view, 2> kStarts = {"random", "listed"};
constexpr std::array<std::string_view, 4> kRules = {"row", "column", "ordered", "none"};

constexpr Count kMostValues = 10'000;
constexpr Count kMostCompletions = 1'000'000'000'000;
constexpr Count kMostReplications = 100'000;
constexpr std::size_t kMostReports = 20;  // of points that make no system

std::optional<double> number_in(const Node& node) {
  if (const auto* integer = node.get<std::int64_t>()) return static_cast<double>(*integer);
  const auto* real = node.get<double>();
  return real && std::isfinite(*real) ? std::optional(*real) : std::nullopt;
}

std::optional<double> read_real(const TableReader& table, std::string_view key, Problems& problems) {
  const Node* const node = table.find(key);
  if (!node) return std::nullopt;
  const auto value = number_in(*node);
  if (!value)
    problems.add(*node,
                 quote::name(key) + " must be a finite number, is " + problems.document().describe(*node));
  return value;
}

std::optional<bool> read_bool(const TableReader& table, std::string_view key, Problems& problems) {
  const Node* const node = table.find(key);
  if (!node) return std::nullopt;
  if (const auto* value = node->get<bool>()) return *value;
  problems.add(*node, quote::name(key) + " must be true or false, is " + problems.document().describe(*node));
  return std::nullopt;
}

/// Steps and logarithms leave dust in the last digits; whoever wrote 0.1 means 0.3 by its third multiple.
double dusted(double value) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.12g", value);
  return std::strtod(text.data(), nullptr);
}

/// 4, 2.5, 1e-07: a number as the CSV has it.
std::string text_of(double value) {
  if (std::abs(value) < 1e15 && std::trunc(value) == value)
    return std::to_string(static_cast<std::int64_t>(value));
  return quote::number(value);
}

Cell cell_of(double value) { return {text_of(value), value}; }

/// The value as a document holds it. A whole number stays one.
Node::Content content_of(const Cell& cell) {
  if (!cell.number) {
    if (cell.text == "true" || cell.text == "false") return cell.text == "true";
    return cell.text;
  }
  if (std::trunc(*cell.number) == *cell.number && std::abs(*cell.number) < 9e15)
    return static_cast<std::int64_t>(*cell.number);
  return *cell.number;
}

std::vector<Cell> read_listed(const TableReader& table, Problems& problems) {
  std::vector<Cell> values;
  for (const Node& node : table.array("values", "numbers, texts or truth values")) {
    if (const auto value = number_in(node)) {
      values.push_back(cell_of(*value));
    } else if (const auto* text = node.get<std::string>()) {
      values.push_back({*text, std::nullopt});
    } else if (const auto* flag = node.get<bool>()) {
      values.push_back({*flag ? "true" : "false", std::nullopt});
    } else {
      problems.add(node, "a value must be a finite number, a text, true or false, is " +
                             problems.document().describe(node));
    }
  }
  const Node* const node = table.find("values");
  const auto* array = node->get<Node::Array>();
  if (array && array->empty()) problems.add(*node, "'values' must not be empty");
  if (array && static_cast<Count>(array->size()) > kMostValues)
    problems.add(*node, "'values' must be at most " + std::to_string(kMostValues) + " values");
  return values;
}

std::vector<Cell> read_range(const TableReader& table, Problems& problems) {
  const Node& node = table.node();
  const auto from = read_real(table, "from", problems);
  const auto to = read_real(table, "to", problems);
  const auto step = read_real(table, "step", problems);
  const auto points = table.whole("points", 1, kMostValues);
  const bool is_log = table.word("scale", kScales).value_or(0) == 1;
  const bool is_whole = read_bool(table, "whole", problems).value_or(false);
  if (!table.find("from") || !table.find("to")) {
    problems.add(node, "needs 'values', or 'from' and 'to'");
    return {};
  }
  if ((table.find("step") != nullptr) == (table.find("points") != nullptr)) {
    problems.add(node, "needs either 'step' or 'points' with 'from' and 'to'");
    return {};
  }
  if (!from || !to) return {};
  std::vector<Cell> values;
  if (step) {
    const double count = std::floor((*to - *from) / *step + 1e-9) + 1;
    if (is_log) {
      problems.add(*table.find("scale"), "a scale of \"log\" goes with 'points', not with 'step'");
    } else if (!(*step != 0 && count >= 1)) {
      problems.add(*table.find("step"), "'step' must lead from 'from' to 'to'");
    } else if (count > static_cast<double>(kMostValues)) {
      problems.add(*table.find("step"), "gives more than " + std::to_string(kMostValues) + " values");
    } else {
      for (std::size_t at = 0; at < static_cast<std::size_t>(count); ++at)
        values.push_back(cell_of(dusted(*from + static_cast<double>(at) * *step)));
    }
  } else if (points) {
    if (is_log && !(*from > 0 && *to > 0)) {
      problems.add(node, "a scale of \"log\" needs 'from' and 'to' above 0");
      return {};
    }
    for (Count at = 0; at < *points; ++at) {
      const double share = *points == 1 ? 0 : static_cast<double>(at) / static_cast<double>(*points - 1);
      double value = is_log ? *from * portable_pow(*to / *from, share) : *from + (*to - *from) * share;
      if (is_whole) value = std::round(value);
      const Cell cell = cell_of(at + 1 == *points && *points > 1 && !is_whole ? *to : dusted(value));
      if (is_whole && !values.empty() && values.back().text == cell.text) continue;  // rounded to the same
      values.push_back(cell);
    }
  }
  return values;
}

struct Vary {
  SweepAxis axis;
  std::vector<std::vector<std::string>> paths;  ///< one per field, into the scenario or the [generate] table
  const Node* node = nullptr;
};

/// Where a field stands in the document that it is part of: short forms written out.
std::vector<std::string> resolved(std::vector<std::string> path, bool is_generated) {
  if (is_generated && path.size() > 1 && path[0] == "generate") path.erase(path.begin());
  if (!is_generated && path.size() == 3 && path[0] == "rates") path = {"tasks", path[1], "rates", path[2]};
  return path;
}

Vary read_vary(const Node& node, bool is_generated, Problems& problems) {
  const TableReader table(node, "an entry of 'vary'", kVaryKeys, problems);
  Vary vary;
  vary.node = &node;
  if (!table.is_table()) return vary;
  table.require("field", "what is varied, such as 'resources.gpu.servers'");
  const Node* const field = table.find("field");
  std::vector<const Node*> fields;
  if (field && field->get<Node::Array>()) {
    for (const Node& element : *field->get<Node::Array>()) fields.push_back(&element);
    if (fields.empty()) problems.add(*field, "'field' must not be empty");
  } else if (field) {
    fields.push_back(field);
  }
  for (const Node* const element : fields) {
    const auto text = read_text(*element, "'field'", problems);
    if (!text) continue;
    std::vector<std::string> path = detail::split_path(*text);
    if (is_generated && (path.size() < 2 || path[0] != "generate")) {
      problems.add(*element,
                   "with [generate], 'field' must be one of its own, such as 'generate.threads', is " +
                       quote::name(*text));
      continue;
    }
    if (path.empty()) {
      problems.add(*element,
                   "'field' must be names with points between them, such as 'resources.gpu.servers', is " +
                       quote::name(*text));
      continue;
    }
    vary.axis.fields.push_back(*text);
    vary.paths.push_back(resolved(std::move(path), is_generated));
  }
  vary.axis.label = table.name("label").value_or(vary.axis.fields.empty() ? "" : vary.axis.fields.front());
  if (table.find("values")) {
    for (const std::string_view key : {"from", "to", "step", "points", "scale", "whole"}) {
      if (const Node* const other = table.find(key))
        problems.add(*other, quote::name(key) + " does not go with 'values'");
    }
    vary.axis.values = read_listed(table, problems);
  } else {
    vary.axis.values = read_range(table, problems);
  }
  std::set<std::string> seen;
  for (const Cell& value : vary.axis.values) {
    if (!seen.insert(value.text).second) {
      problems.add(node, "the value " + value.text + " comes twice");
      break;
    }
  }
  return vary;
}

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
      problems.add(node, "the " + std::string(noun) + " " + quote::name(*name) + " comes twice");
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
      problems.add(node, "the distribution " + quote::name(*name) + " comes twice");
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
        problems.add(element, "the seed " + std::to_string(*seed) + " comes twice");
      seeds.push_back(static_cast<std::uint64_t>(*seed));
    }
    if (array->empty()) problems.add(*node, "'seeds' must not be empty");
  } else if (const auto count =
                 read_whole(*node, "'seeds', where it is no list,", 1, kMostValues, problems)) {
    for (Count seed = 1; seed <= *count; ++seed) seeds.push_back(static_cast<std::uint64_t>(seed));
  }
  return seeds;
}

ReadResult<GenerateOptions> read_generate(const Document& document) {
  Problems problems(document);
  const TableReader table(document.root(), "'generate'", kGenerateKeys, problems);
  GenerateOptions options;
  options.general = static_cast<std::size_t>(table.whole("gps", 0, 4096).value_or(2));
  options.specialized = static_cast<std::size_t>(table.whole("sas", 0, 4096).value_or(1));
  options.threads = table.whole("threads", 0, kMaxCount).value_or(18);
  options.rule = static_cast<AffinityRule>(table.word("rule", kRules).value_or(0));
  options.priorities = read_bool(table, "priorities", problems).value_or(false);
  options.powers = read_bool(table, "powers", problems).value_or(false);
  if (const Node* const rates = table.find("rates")) {
    const auto* pair = rates->get<Node::Array>();
    const auto low = pair && pair->size() == 2 ? number_in((*pair)[0]) : std::nullopt;
    const auto high = pair && pair->size() == 2 ? number_in((*pair)[1]) : std::nullopt;
    if (low && high) {
      options.lowest_rate = *low;
      options.highest_rate = *high;
    } else {
      problems.add(*rates, "'rates' must be two numbers, as in [1, 10]");
    }
  }
  if (!problems.empty()) return problems.diagnostics();
  try {
    generate(options);
  } catch (const InvalidModel& error) {
    problems.add(document.root(), error.what());
    return problems.diagnostics();
  }
  return options;
}

/// What points are made of: the scenario, or the table of `generate`.
struct Base {
  Document document;
  bool is_generated = false;
};

/// The part of a document as one of its own, which keeps the lines.
Document part(const Document& document, const Node& node) {
  return {document.format(), document.source(), node};
}

std::optional<Base> read_base(const TableReader& root, const std::filesystem::path& folder,
                              Problems& problems, std::vector<Diagnostic>& elsewhere) {
  const Node* const scenario = root.find("scenario");
  const Node* const generated = root.find("generate");
  if ((scenario != nullptr) == (generated != nullptr)) {
    problems.add(
        root.node(),
        scenario
            ? "takes 'scenario' or 'generate', not both"
            : "needs 'scenario', a file or a table, or 'generate', a table of options for random systems");
    return std::nullopt;
  }
  if (generated) return Base{part(problems.document(), *generated), true};
  if (scenario->get<Node::Table>()) return Base{part(problems.document(), *scenario), false};
  const auto* name = scenario->get<std::string>();
  if (!name) {
    problems.add(*scenario, "'scenario' must be the path of a scenario file, or a scenario, is " +
                                problems.document().describe(*scenario));
    return std::nullopt;
  }
  ReadResult<Document> file = read_document((folder / *name).string());
  if (file) return Base{std::move(file).value(), false};
  elsewhere = file.diagnostics();
  return std::nullopt;
}

using Source = std::variant<Scenario, GenerateOptions>;

/// The base with some values set: a system, or what is wrong.
ReadResult<Source> make_source(const Base& base, std::span<const Vary> varied,
                               std::span<const std::size_t> values) {
  Node root = base.document.root();
  for (std::size_t at = 0; at < values.size(); ++at) {
    const Node::Content content = content_of(varied[at].axis.values[values[at]]);
    for (std::size_t field = 0; field < varied[at].paths.size(); ++field) {
      const std::string wrong = detail::set_field(root, varied[at].paths[field], content);
      if (!wrong.empty())
        return std::vector<Diagnostic>{{"field " + quote::name(varied[at].axis.fields[field]), wrong}};
    }
  }
  const Document changed(base.document.format(), base.document.source(), std::move(root));
  if (base.is_generated) {
    ReadResult<GenerateOptions> options = read_generate(changed);
    if (!options) return options.diagnostics();
    return Source(std::move(options).value());
  }
  ReadResult<Scenario> scenario = read_scenario_node(changed, changed.root());
  if (!scenario) return scenario.diagnostics();
  return Source(std::move(scenario).value());
}

std::string shown(const Vary& vary, std::size_t value) {
  return quote::terminal(vary.axis.label, 200) + " = " + quote::terminal(vary.axis.values[value].text, 200);
}

/// Makes the systems of all points, and finds out which value is to blame where one cannot be.
class PointMaker {
 public:
  PointMaker(const Base& base, std::span<const Vary> varied, const Node& root, Problems& problems)
      : base_(base), varied_(varied), root_(root), problems_(problems) {}

  std::vector<SweepPoint> run() {
    std::vector<SweepPoint> points;
    std::vector<std::size_t> values(varied_.size(), 0);
    for (bool more = true; more; more = advance(values)) {
      ReadResult<Source> source = make_source(base_, varied_, values);
      if (source) {
        points.push_back({values, std::move(source).value()});
      } else {
        blame(values, source.diagnostics());
        if (reports_ >= kMostReports) break;
      }
    }
    return points;
  }

 private:
  bool advance(std::vector<std::size_t>& values) const {
    for (std::size_t at = values.size(); at-- > 0;) {
      if (++values[at] < varied_[at].axis.values.size()) return true;
      values[at] = 0;
    }
    return false;
  }

  void blame(const std::vector<std::size_t>& values, const std::vector<Diagnostic>& problems) {
    for (std::size_t at = 0; at < values.size(); ++at) {
      if (const auto alone = alone_wrong(at, values[at])) {
        if (!guilty_.insert({at, values[at]}).second) return;
        report(*varied_[at].node, shown(varied_[at], values[at]), *alone);
        return;
      }
    }
    std::string point;
    for (std::size_t at = 0; at < values.size(); ++at)
      point += (at > 0 ? ", " : "") + shown(varied_[at], values[at]);
    report(root_, point, problems);
  }

  /// What is wrong when this value is set in the base and nothing else is.
  std::optional<std::vector<Diagnostic>> alone_wrong(std::size_t axis, std::size_t value) const {
    const std::array<std::size_t, 1> values = {value};
    const ReadResult<Source> source = make_source(base_, varied_.subspan(axis, 1), values);
    return source ? std::nullopt : std::optional(source.diagnostics());
  }

  void report(const Node& where, const std::string& point, const std::vector<Diagnostic>& problems) {
    for (const Diagnostic& problem : problems) {
      ++reports_;
      problems_.add(where, (point.empty() ? "" : "with " + point + ": ") + to_string(problem));
    }
  }

  const Base& base_;
  std::span<const Vary> varied_;
  const Node& root_;
  Problems& problems_;
  std::set<std::pair<std::size_t, std::size_t>> guilty_;
  std::size_t reports_ = 0;
};

/// Each policy and solver must suit the systems: the same at all points, so the first that it does not suit
/// is told.
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
      if (!find_solver(name)->maximises_throughput && scenario.system.shares().empty())
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
  plan.random_start = root.word("start", kStarts).value_or(0) == 0;
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
  if (std::find(plan.policies.begin(), plan.policies.end(), "fixed") != plan.policies.end())
    problems.add(*root.find("policies"), "'fixed' holds a given assignment; a sweep has none to give");

  const std::optional<Base> base = read_base(root, folder, problems, elsewhere);
  std::vector<Vary> varied;
  for (const Node& node : root.array("vary", "tables"))
    varied.push_back(read_vary(node, root.find("generate") != nullptr, problems));
  std::set<std::string> labels = {"seed", "distribution", "kind", "name"};
  std::size_t rows = 1;
  for (const Vary& vary : varied) {
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

  if (base) {
    // The system itself first: its own problems have nothing to do with what is varied.
    const ReadResult<Source> plain = make_source(*base, {}, {});
    if (!plain) elsewhere = plain.diagnostics();
  }
  if (base && elsewhere.empty() && problems.empty()) {
    plan.points = PointMaker(*base, varied, document.root(), problems).run();
    if (problems.empty()) check_methods(root, plan, problems);
  }
  if (!problems.empty() || !elsewhere.empty()) {
    std::vector<Diagnostic> all = problems.empty() ? std::vector<Diagnostic>{} : problems.diagnostics();
    all.insert(all.end(), elsewhere.begin(), elsewhere.end());
    return all;
  }
  for (Vary& vary : varied) plan.axes.push_back(std::move(vary.axis));
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
