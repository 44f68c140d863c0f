#include "allot/sweep/detail/read_vary.hpp"

#include <array>
#include <cmath>
#include <cstdlib>
#include <set>
#include <utility>

#include "allot/base/elementary.hpp"
#include "allot/base/numbers.hpp"
#include "allot/base/quote.hpp"
#include "allot/sweep/detail/field_path.hpp"

namespace allot::detail {
namespace {

constexpr std::array<std::string_view, 9> kVaryKeys = {"field", "label",  "values", "from", "to",
                                                       "step",  "points", "scale",  "whole"};
constexpr std::array<std::string_view, 2> kScales = {"linear", "log"};

std::optional<double> read_real(const TableReader& table, std::string_view key, Problems& problems) {
  const Node* const node = table.find(key);
  if (!node) return std::nullopt;
  const auto value = finite_number(*node);
  if (!value)
    problems.add(*node,
                 quote::name(key) + " must be a finite number, is " + problems.document().describe(*node));
  return value;
}

/// Removes rounding errors in the last digits, which steps and logarithms leave: three steps of 0.1 mean 0.3.
double dusted(double value) { return std::strtod(rounded_text(value, 12).c_str(), nullptr); }

/// A number as in the CSV: 4, 2.5, 1e-07.
std::string text_of(double value) {
  if (std::abs(value) < 1e15 && std::trunc(value) == value)
    return std::to_string(static_cast<std::int64_t>(value));
  return quote::number(value);
}

Cell cell_of(double value) { return {text_of(value), value}; }

std::vector<Cell> read_listed(const TableReader& table, Problems& problems) {
  std::vector<Cell> values;
  for (const Node& node : table.array("values", "numbers, strings or booleans")) {
    if (const auto value = finite_number(node)) {
      values.push_back(cell_of(*value));
    } else if (const auto* text = node.get<std::string>()) {
      values.push_back({*text, std::nullopt});
    } else if (const auto* flag = node.get<bool>()) {
      values.push_back({*flag ? "true" : "false", std::nullopt});
    } else {
      problems.add(node, "a value must be a finite number, a string, true or false, is " +
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
  const bool is_whole = table.flag("whole").value_or(false);
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

/// The path of a field in its document, with short forms written out.
std::vector<std::string> resolved(std::vector<std::string> path, bool is_generated) {
  if (is_generated && path.size() > 1 && path[0] == "generate") path.erase(path.begin());
  if (!is_generated && path.size() == 3 && path[0] == "rates") path = {"tasks", path[1], "rates", path[2]};
  return path;
}

}  // namespace

Vary read_vary(const Node& node, bool is_generated, Problems& problems) {
  const TableReader table(node, "an entry of 'vary'", kVaryKeys, problems);
  Vary vary;
  vary.node = &node;
  if (!table.is_table()) return vary;
  table.require("field", "the field to vary, such as 'resources.gpu.servers'");
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
    std::vector<std::string> path = split_path(*text);
    if (is_generated && (path.size() < 2 || path[0] != "generate")) {
      problems.add(*element,
                   "with [generate], 'field' must be one of its options, such as 'generate.threads', is " +
                       quote::name(*text));
      continue;
    }
    if (path.empty()) {
      problems.add(*element,
                   "'field' must be names with dots between them, such as 'resources.gpu.servers', is " +
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
      problems.add(node, "the value " + value.text + " is given twice");
      break;
    }
  }
  return vary;
}

std::optional<double> finite_number(const Node& node) {
  const auto value = any_number(node);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

Node::Content content_of(const Cell& cell) {
  if (!cell.number) {
    if (cell.text == "true" || cell.text == "false") return cell.text == "true";
    return cell.text;
  }
  if (std::trunc(*cell.number) == *cell.number && std::abs(*cell.number) < 9e15)
    return static_cast<std::int64_t>(*cell.number);
  return *cell.number;
}

}  // namespace allot::detail
