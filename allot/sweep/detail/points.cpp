#include "allot/sweep/detail/points.hpp"

#include <array>
#include <set>
#include <utility>

#include "allot/base/error.hpp"
#include "allot/base/quote.hpp"
#include "allot/format/scenario_reader.hpp"
#include "allot/sweep/detail/field_path.hpp"

namespace allot::detail {
namespace {

constexpr std::array<std::string_view, 7> kGenerateKeys = {"gps",   "sas",        "threads", "rule",
                                                           "rates", "priorities", "powers"};
constexpr std::array<std::string_view, 4> kRules = {"row", "column", "ordered", "none"};
constexpr std::size_t kMostReports = 20;  // of points with invalid systems

ReadResult<GenerateOptions> read_generate(const Document& document) {
  Problems problems(document);
  const TableReader table(document.root(), "'generate'", kGenerateKeys, problems);
  GenerateOptions options;
  options.general = static_cast<std::size_t>(table.whole("gps", 0, 4096).value_or(2));
  options.specialized = static_cast<std::size_t>(table.whole("sas", 0, 4096).value_or(1));
  options.threads = table.whole("threads", 0, kMaxCount).value_or(options.threads);
  options.rule = static_cast<AffinityRule>(table.word("rule", kRules).value_or(0));
  options.priorities = table.flag("priorities").value_or(options.priorities);
  options.powers = table.flag("powers").value_or(options.powers);
  if (const Node* const rates = table.find("rates")) {
    const auto* pair = rates->get<Node::Array>();
    const auto low = pair && pair->size() == 2 ? finite_number((*pair)[0]) : std::nullopt;
    const auto high = pair && pair->size() == 2 ? finite_number((*pair)[1]) : std::nullopt;
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

/// A part of a document as a document of its own, with the same line numbers.
Document part(const Document& document, const Node& node) {
  return {document.format(), document.source(), node};
}

using Source = std::variant<Scenario, GenerateOptions>;

/// The base with some values set: a system, or its problems.
ReadResult<Source> make_source(const Base& base, std::span<const Vary> varied,
                               std::span<const std::size_t> values) {
  Node root = base.document.root();
  for (std::size_t at = 0; at < values.size(); ++at) {
    const Node::Content content = content_of(varied[at].axis.values[values[at]]);
    for (std::size_t field = 0; field < varied[at].paths.size(); ++field) {
      const std::string wrong = set_field(root, varied[at].paths[field], content);
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

/// Makes the systems of all points. If one is invalid, finds the value that causes it.
class PointMaker {
 public:
  PointMaker(const Base& base, std::span<const Vary> varied, Problems& problems)
      : base_(base), varied_(varied), problems_(problems) {}

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
    report(problems_.document().root(), point, problems);
  }

  /// The problems when only this value is set in the base.
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
  Problems& problems_;
  std::set<std::pair<std::size_t, std::size_t>> guilty_;
  std::size_t reports_ = 0;
};

}  // namespace

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
  if (!name || name->empty()) {
    problems.add(*scenario, "'scenario' must be the path of a scenario file, or a scenario, is " +
                                problems.document().describe(*scenario));
    return std::nullopt;
  }
  ReadResult<Document> file = read_document((folder / *name).string());
  if (file) return Base{std::move(file).value(), false};
  elsewhere = file.diagnostics();
  return std::nullopt;
}

std::vector<Diagnostic> check_base(const Base& base) {
  const ReadResult<Source> plain = make_source(base, {}, {});
  return plain ? std::vector<Diagnostic>() : plain.diagnostics();
}

std::vector<SweepPoint> make_points(const Base& base, std::span<const Vary> varied, Problems& problems) {
  return PointMaker(base, varied, problems).run();
}

}  // namespace allot::detail
