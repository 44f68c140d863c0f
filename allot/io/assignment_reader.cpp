#include "allot/io/assignment_reader.hpp"

#include <utility>

#include "allot/io/detail/text.hpp"
#include "allot/io/problems.hpp"

namespace allot {
namespace {

using detail::in_quotes;

/// An assignment that was made for another system is caught by the names it carries.
void check_names(const Node& root, std::string_view key, const auto& entries, Problems& problems) {
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
  problems.add(*node, "the assignment is for another scenario: its " + std::string(key) + " must be " +
                          detail::listed(wanted, true) + ", in this order");
}

void read_row(const Node& node, const System& system, TaskType i, Assignment& assignment,
              Problems& problems) {
  const std::string task = in_quotes(system.task(i).name);
  const auto* row = node.get<Node::Array>();
  if (!row || row->size() != system.resource_count()) {
    problems.add(node,
                 "the row of " + task + " must be an array of " + std::to_string(system.resource_count()) +
                     " counts, one per resource, is " +
                     (row ? "one of " + std::to_string(row->size()) : problems.document().describe(node)));
    return;
  }
  bool is_right = true;
  for (const ResourceId j : system.resource_ids()) {
    const Node& entry = (*row)[index(j)];
    const std::string resource = in_quotes(system.resource(j).name);
    const auto count = read_whole(entry, "the count of " + task + " on " + resource, 0, kMaxCount, problems);
    is_right = is_right && count;
    if (count && *count > 0 && !system.can_run(i, j)) {
      problems.add(entry, task + " cannot run on " + resource + ": its count there must be 0, is " +
                              std::to_string(*count));
    }
    assignment(i, j) = count.value_or(0);
  }
  if (is_right && assignment.row_sum(i) != system.count(i)) {
    problems.add(node, "the row of " + task + " must sum to its " + std::to_string(system.count(i)) +
                           " threads, sums to " + std::to_string(assignment.row_sum(i)));
  }
}

ReadResult<Assignment> read(const ReadResult<Document>& document, const System& system) {
  if (!document) return document.diagnostics();
  Problems problems(*document);
  const Node& root = document->root();
  const Node* matrix = &root;
  if (root.get<Node::Table>()) {
    matrix = root.find("assignment");
    check_names(root, "tasks", system.tasks(), problems);
    check_names(root, "resources", system.resources(), problems);
  }
  const auto* rows = matrix ? matrix->get<Node::Array>() : nullptr;
  if (!rows || rows->size() != system.type_count()) {
    const std::string shape =
        "an array of " + std::to_string(system.type_count()) + " rows, one per task type";
    if (!matrix) {
      problems.add(root, "needs 'assignment', " + shape);
    } else {
      problems.add(*matrix,
                   "the assignment must be " + shape + ", is " +
                       (rows ? "one of " + std::to_string(rows->size()) : document->describe(*matrix)));
    }
    return problems.diagnostics();
  }
  Assignment assignment(system.type_count(), system.resource_count());
  for (const TaskType i : system.types()) read_row((*rows)[index(i)], system, i, assignment, problems);
  if (problems.empty()) {
    for (const ResourceId j : system.resource_ids()) {
      const Count depth = assignment.column_sum(j);
      const Count least = system.resource(j).min_depth;
      if (depth == 0 || depth >= least) continue;
      problems.add(*matrix, in_quotes(system.resource(j).name) + " must have no task or at least " +
                                std::to_string(least) + " (its min_depth), has " + std::to_string(depth));
    }
  }
  if (!problems.empty()) return problems.diagnostics();
  return assignment;
}

}  // namespace

ReadResult<Assignment> read_assignment(const std::string& path, const System& system) {
  return read(read_document(path), system);
}

ReadResult<Assignment> read_assignment_text(std::string_view text, const System& system, std::string source) {
  return read(parse_document(text, FileFormat::kJson, std::move(source)), system);
}

}  // namespace allot
