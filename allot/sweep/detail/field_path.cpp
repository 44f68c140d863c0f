#include "allot/sweep/detail/field_path.hpp"

#include <algorithm>

#include "allot/base/numbers.hpp"
#include "allot/base/quote.hpp"
#include "allot/format/problems.hpp"

namespace allot::detail {
namespace {

/// The element that a part of a path names; null if there is none.
Node* element(Node::Array& array, const std::string& part) {
  for (Node& candidate : array) {
    const Node* const name = candidate.find("name");
    const auto* text = name ? name->get<std::string>() : nullptr;
    if (text && *text == part) return &candidate;
  }
  const auto at = number_in<std::size_t>(part);
  return at && *at < array.size() ? &array[*at] : nullptr;
}

std::vector<std::string_view> names_in(const Node& node) {
  std::vector<std::string_view> names;
  if (const auto* table = node.get<Node::Table>()) {
    for (const Entry& entry : *table) names.emplace_back(entry.key);
  } else if (const auto* array = node.get<Node::Array>()) {
    for (const Node& child : *array) {
      const Node* const name = child.find("name");
      if (const auto* text = name ? name->get<std::string>() : nullptr) names.emplace_back(*text);
    }
  }
  return names;
}

Entry* entry_of(Node::Table& table, const std::string& key) {
  const auto it =
      std::find_if(table.begin(), table.end(), [&](const Entry& entry) { return entry.key == key; });
  return it == table.end() ? nullptr : &*it;
}

std::string nothing_called(const std::string& part, const Node& node) {
  const std::vector<std::string_view> names = names_in(node);
  return "there is no " + quote::name(part) + suggestion(part, names) +
         (names.empty() ? "" : " (there: " + quote::list(names) + ")");
}

}  // namespace

std::vector<std::string> split_path(std::string_view path) {
  std::vector<std::string> parts;
  for (bool more = true; more;) {
    std::string part;
    if (path.starts_with('"')) {
      const std::size_t end = path.find('"', 1);
      if (end == std::string_view::npos) return {};
      part = path.substr(1, end - 1);
      path.remove_prefix(end + 1);
    } else {
      const std::size_t end = std::min(path.find('.'), path.size());
      part = path.substr(0, end);
      path.remove_prefix(end);
    }
    if (part.empty() || (!path.empty() && path.front() != '.')) return {};
    parts.push_back(std::move(part));
    more = !path.empty();
    if (more) path.remove_prefix(1);
  }
  return parts;
}

std::string set_field(Node& root, const std::vector<std::string>& path, const Node::Content& value) {
  Node* node = &root;
  for (std::size_t at = 0; at + 1 < path.size(); ++at) {
    Node* next = nullptr;
    if (auto* table = std::get_if<Node::Table>(&node->content)) {
      Entry* const entry = entry_of(*table, path[at]);
      next = entry ? &entry->value : nullptr;
    } else if (auto* array = std::get_if<Node::Array>(&node->content)) {
      next = element(*array, path[at]);
    }
    if (next == nullptr) return nothing_called(path[at], *node);
    node = next;
  }
  if (auto* table = std::get_if<Node::Table>(&node->content)) {
    if (Entry* const entry = entry_of(*table, path.back())) {
      entry->value.content = value;
    } else {
      Node added;
      added.content = value;
      added.line = node->line;
      table->push_back({path.back(), std::move(added)});
    }
    return {};
  }
  auto* array = std::get_if<Node::Array>(&node->content);
  Node* const target = array ? element(*array, path.back()) : nullptr;
  if (target == nullptr) return nothing_called(path.back(), *node);
  if (target->get<Node::Table>()) return "is a table; name one of its fields, as in 'resources.gpu.servers'";
  target->content = value;
  return {};
}

}  // namespace allot::detail
