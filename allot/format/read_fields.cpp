#include "allot/format/read_fields.hpp"

#include <cmath>

#include "allot/base/control.hpp"
#include "allot/base/numbers.hpp"
#include "allot/base/quote.hpp"
#include "allot/format/duration.hpp"

namespace allot::format {
namespace {

/// Significant digits of numbers in hints.
constexpr int kDigits = 6;

const Node* element(const Node* node, std::size_t at) {
  const auto* array = node ? node->get<Node::Array>() : nullptr;
  return array && at < array->size() ? &(*array)[at] : nullptr;
}

/// The node of the value, or the innermost node around it that exists.
const Node& node_at(const Node& root, const FieldPlace& place) {
  const Node* node = &root;
  const auto enter = [&](const Node* next) { node = next ? next : node; };
  enter(root.find(place.table));
  if (!place.entry) return *node;
  enter(element(node, *place.entry));
  const Node* const value = place.key.empty() ? nullptr : node->find(place.key);
  if (!value) return *node;
  node = value;
  if (!place.inner.empty()) enter(node->find(place.inner));
  if (!place.inmost.empty()) enter(node->find(place.inmost));
  if (place.element) enter(element(node, *place.element));
  return *node;
}

/// 'servers', or the rate on 'gpu'.
std::string subject(const FieldPlace& place) {
  if (place.inner.empty()) return quote::name(place.key.empty() ? place.table : place.key);
  const std::string_view one =
      place.key.ends_with('s') ? place.key.substr(0, place.key.size() - 1) : place.key;
  return "the " + std::string(one) + (place.inmost.empty() ? "" : " of " + quote::name(place.inmost)) +
         " on " + quote::name(place.inner);
}

/// A time, or a fraction, where a rate is wanted.
std::string rate_hint(const Node& node) {
  const auto* const text = node.get<std::string>();
  if (!text) return {};
  if (const auto quotient = parse_quotient(*text)) return "; write " + rounded_text(*quotient, kDigits);
  const auto seconds = parse_duration(*text);
  const bool has_unit = text->find_first_of("smhd") != std::string::npos;
  if (!seconds || !has_unit) return {};
  return "; a task that takes " + rounded_text(*seconds, kDigits) + " s has the rate " +
         rounded_text(1 / *seconds, kDigits);
}

}  // namespace

void Names::add(const Node& entry) {
  const Node* const node = entry.find("name");
  const auto* const text = node ? node->get<std::string>() : nullptr;
  const bool is_usable = text && !text->empty() && !has_control_character(*text);
  order.push_back(is_usable ? std::string_view(*text) : std::string_view());
  if (is_usable) {
    index.emplace(*text, order.size() - 1);
  } else {
    is_complete = false;
  }
}

std::optional<std::size_t> resolve(const Names& names, std::string_view name, const Node& where,
                                   Problems& problems) {
  const auto it = names.index.find(name);
  if (it != names.index.end()) return it->second;
  if (names.is_complete) {
    problems.add(where, "unknown " + std::string(names.noun) + " " + quote::name(name) +
                            problems.suggestion(name, names.order) + " (" + std::string(names.plural) + ": " +
                            quote::list(names.order) + ")");
  }
  return std::nullopt;
}

bool FieldReader::value(const Node& node, std::string_view key, const Wanted&, std::string& out) const {
  const auto text = read_text(node, quote::name(key), problems_);
  if (text) out = *text;
  return text.has_value();
}

bool FieldReader::value(const Node& node, std::string_view key, const Wanted& wanted, Count& out) const {
  const auto whole = any_whole(node, problems_.document());
  if (whole) {
    out = *whole;
    return true;
  }
  problems_.add(node, quote::name(key) + " " + wanted_whole(wanted.least, wanted.most) + ", is " +
                          problems_.document().describe(node));
  return false;
}

bool FieldReader::value(const Node& node, std::string_view key, const Wanted& wanted, double& out) const {
  if (wanted.unit == "s" && node.get<std::string>()) {
    const auto seconds = read_seconds(node, quote::name(key), problems_);
    out = seconds.value_or(out);
    return seconds.has_value();
  }
  if (const auto number = any_number(node)) {
    out = *number;
    return true;
  }
  problems_.add(node, quote::name(key) + " " + wanted_number(std::nan(""), wanted.least, wanted.most) +
                          ", is " + problems_.document().describe(node));
  return false;
}

/// A value that cannot be read still counts as given: a valid number takes its place.
bool FieldReader::value(const Node& node, std::string_view key, const Wanted& wanted,
                        std::optional<double>& out) const {
  return value(node, key, wanted, out.emplace(wanted.least + 1));
}

bool FieldReader::value(const Node& node, std::string_view key, const Wanted&, bool& out) const {
  const auto flag = read_flag(node, quote::name(key), problems_);
  out = flag.value_or(out);
  return flag.has_value();
}

std::optional<std::size_t> FieldReader::named(const Node& node, std::string_view key,
                                              const Names& names) const {
  const auto name = read_text(node, quote::name(key), problems_);
  return name ? resolve(names, *name, node, problems_) : std::nullopt;
}

bool FieldReader::value(const Node& node, std::string_view key, const Wanted&, TaskType& out) const {
  const auto at = named(node, key, tasks_);
  if (at) out = task_type(*at);
  return at.has_value();
}

bool FieldReader::value(const Node& node, std::string_view key, const Wanted&, ResourceId& out) const {
  const auto at = named(node, key, resources_);
  if (at) out = resource_id(*at);
  return at.has_value();
}

bool FieldReader::value(const Node& node, std::string_view key, const Wanted&,
                        std::optional<ResourceId>& out) const {
  const auto at = named(node, key, resources_);
  if (at) out = resource_id(*at);
  return at.has_value();
}

bool FieldReader::value(const Node& node, std::string_view key, const Wanted&,
                        std::vector<TaskType>& out) const {
  const auto* names = node.get<Node::Array>();
  if (!names) {
    problems_.add(node, quote::name(key) + " must be an array of task names, is " +
                            problems_.document().describe(node));
    return false;
  }
  bool is_read = true;
  for (const Node& name : *names) {
    const auto text = read_text(name, "a task name in " + quote::name(key), problems_);
    const auto task = text ? resolve(tasks_, *text, name, problems_) : std::nullopt;
    is_read = is_read && task;
    out.push_back(
        task_type(task.value_or(tasks_.order.size())));  // no type takes the place of an unknown one
  }
  return is_read;
}

bool FieldReader::value(const Node& node, std::string_view key, const Wanted& wanted,
                        std::vector<ResourceNumber>& out) const {
  const Node::Table* const table = this->table(node, quote::name(key), "resource names and numbers");
  if (!table) return false;
  bool is_read = true;
  for (const Entry& entry : *table) {
    const auto at = resolve(resources_, entry.key, entry.value, problems_);
    double number = wanted.least;
    const bool is_number = value(entry.value, entry.key, wanted, number);
    is_read = is_read && at && is_number;
    if (at) out.push_back({resource_id(*at), number});
  }
  return is_read;
}

bool FieldReader::value(const Node& node, std::string_view key, const Wanted& wanted,
                        std::vector<Need>& out) const {
  const Node::Table* const by_resource =
      table(node, quote::name(key), "resource names, each with a table of what a task takes there");
  if (!by_resource) return false;
  bool is_read = true;
  for (const Entry& at : *by_resource) {
    const auto j = resolve(resources_, at.key, at.value, problems_);
    const Node::Table* const taken =
        table(at.value, quote::name(key) + " on " + quote::name(at.key), "capacities and numbers");
    is_read = is_read && j && taken;
    if (!taken) continue;
    for (const Entry& entry : *taken) {
      const auto r = resolve(capacities_, entry.key, entry.value, problems_);
      double amount = 0;
      const bool is_number = value(entry.value, entry.key, wanted, amount);
      is_read = is_read && r && is_number;
      if (j && r && is_number) out.push_back({resource_id(*j), capacity_id(*r), amount});
    }
  }
  return is_read;
}

const Node::Table* FieldReader::table(const Node& node, const std::string& subject,
                                      std::string_view what) const {
  const auto* table = node.get<Node::Table>();
  if (!table) {
    const char* const kind = problems_.document().format() == FileFormat::kToml ? "a table" : "an object";
    problems_.add(node, subject + " must be " + kind + " of " + std::string(what) + ", is " +
                            problems_.document().describe(node));
  }
  return table;
}

std::span<const Node> tables(const TableReader& root, std::string_view key, const Problems& problems) {
  return root.array(key, problems.document().format() == FileFormat::kToml ? "tables" : "objects");
}

std::span<const Node> named_tables(const TableReader& root, std::string_view key, Names& names,
                                   Problems& problems) {
  const std::span<const Node> found = tables(root, key, problems);
  const Node* const node = root.find(key);
  if (node && node->get<Node::Array>() && found.empty())
    problems.add(*node, quote::name(key) + " needs at least one " + std::string(names.noun));
  names.is_complete = !found.empty();
  for (const Node& entry : found) names.add(entry);
  return found;
}

bool read_rates(const Node& node, const Names& resources, RateRow& row, Problems& problems) {
  const auto* table = node.get<Node::Table>();
  if (!table) {
    const char* const kind = problems.document().format() == FileFormat::kToml ? "a table" : "an object";
    problems.add(node, "'rates' must be " + std::string(kind) + " of resource names and rates, is " +
                           problems.document().describe(node));
    return false;
  }
  bool is_read = true;
  for (const Entry& entry : *table) {
    const auto resource = resolve(resources, entry.key, entry.value, problems);
    const auto rate = any_number(entry.value);
    // Nothing else checks the rate on a resource that does not exist.
    const std::string wrong =
        rate ? (resource ? "" : wanted_rate(*rate)) : wanted_rate(std::nan("")) + " (tasks per second)";
    if (!wrong.empty()) {
      problems.add(entry.value, "the rate on " + quote::name(entry.key) + " " + wrong + ", is " +
                                    problems.document().describe(entry.value) + rate_hint(entry.value));
    }
    is_read = is_read && resource && rate;
    if (resource && rate) row.emplace_back(resource_id(*resource), *rate);
  }
  return is_read;
}

void report(const std::vector<Violation>& violations, const Node& root, Problems& problems) {
  for (const Violation& violation : violations) {
    const Node& node = node_at(root, violation.place);
    std::string text = violation.message.starts_with("must") ? subject(violation.place) + " " : "";
    text += violation.message;
    if (!violation.value.empty()) text += ", is " + problems.document().describe(node);
    if (violation.first) text += ", first at " + problems.document().place(node_at(root, *violation.first));
    problems.add(node, std::move(text));
  }
}

}  // namespace allot::format
