#include "allot/format/detail/read_matrix.hpp"

#include <vector>

#include "allot/base/quote.hpp"

namespace allot::detail {
namespace {

/// A matrix that was made for another system is caught by the names it carries.
void check_names(const Node& root, std::string_view what, std::string_view key, const auto& entries,
                 Problems& problems) {
  const Node* const node = root.find(key);
  const auto* names = node ? node->get<Node::Array>() : nullptr;
  if (!names) return;
  bool is_same = names->size() == entries.size();
  for (std::size_t k = 0; is_same && k < entries.size(); ++k) {
    const auto* name = (*names)[k].get<std::string>();
    is_same = name && *name == entries[k].name;
  }
  if (is_same) return;
  std::vector<std::string_view> wanted;
  for (const auto& entry : entries) wanted.push_back(entry.name);
  problems.add(*node, "the " + std::string(what) + (what.ends_with('s') ? " are" : " is") +
                          " for another scenario: its " + std::string(key) + " must be " +
                          quote::names(wanted) + ", in this order");
}

}  // namespace

const Node* find_matrix(const Node& root, std::string_view key, const System& system, Problems& problems) {
  const Node* matrix = &root;
  if (root.get<Node::Table>()) {
    matrix = root.find(key);
    check_names(root, key, "tasks", system.tasks(), problems);
    check_names(root, key, "resources", system.resources(), problems);
  }
  const std::string shape = "an array of " + std::to_string(system.type_count()) + " rows, one per task type";
  if (!matrix) {
    problems.add(root, "needs " + quote::name(key) + ", " + shape);
    return nullptr;
  }
  const auto* rows = matrix->get<Node::Array>();
  if (rows && rows->size() == system.type_count()) return matrix;
  problems.add(*matrix,
               "the " + std::string(key) + " must be " + shape + ", is " +
                   (rows ? "one of " + std::to_string(rows->size()) : problems.document().describe(*matrix)));
  return nullptr;
}

std::span<const Node> matrix_row(const Node& matrix, const System& system, TaskType i,
                                 std::string_view of_what, Problems& problems) {
  const Node& node = (*matrix.get<Node::Array>())[index(i)];
  const auto* row = node.get<Node::Array>();
  if (row && row->size() == system.resource_count()) return *row;
  problems.add(node,
               "the row of " + quote::name(system.task(i).name) + " must be an array of " +
                   std::to_string(system.resource_count()) + " " + std::string(of_what) +
                   ", one per resource, is " +
                   (row ? "one of " + std::to_string(row->size()) : problems.document().describe(node)));
  return {};
}

}  // namespace allot::detail
