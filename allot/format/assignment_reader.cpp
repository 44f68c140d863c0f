#include "allot/format/assignment_reader.hpp"

#include <utility>

#include "allot/base/quote.hpp"
#include "allot/format/detail/read_matrix.hpp"
#include "allot/format/problems.hpp"

namespace allot {
namespace {

void read_row(const Node& matrix, const System& system, TaskType i, bool any_counts, Assignment& assignment,
              Problems& problems) {
  const std::string task = quote::name(system.task(i).name);
  const std::span<const Node> row = detail::matrix_row(matrix, system, i, "counts", problems);
  if (row.empty()) return;
  bool is_right = true;
  for (const ResourceId j : system.resource_ids()) {
    const Node& entry = row[index(j)];
    const std::string resource = quote::name(system.resource(j).name);
    const auto count = read_whole(entry, "the count of " + task + " on " + resource, 0, kMaxCount, problems);
    is_right = is_right && count;
    if (count && *count > 0 && !system.can_run(i, j)) {
      problems.add(entry, task + " cannot run on " + resource + ": its count there must be 0, is " +
                              std::to_string(*count));
    }
    assignment(i, j) = count.value_or(0);
  }
  if (is_right && !any_counts && assignment.row_sum(i) != system.count(i)) {
    problems.add((*matrix.get<Node::Array>())[index(i)],
                 "the row of " + task + " must sum to its " + std::to_string(system.count(i)) +
                     " threads, sums to " + std::to_string(assignment.row_sum(i)));
  }
}

ReadResult<Assignment> read(const Document& document, const System& system, bool any_counts) {
  Problems problems(document);
  const Node* const matrix = detail::find_matrix(document.root(), "assignment", system, problems);
  if (!matrix) return problems.diagnostics();
  Assignment assignment(system.type_count(), system.resource_count());
  for (const TaskType i : system.types()) read_row(*matrix, system, i, any_counts, assignment, problems);
  if (problems.empty() && !any_counts) {
    for (const ResourceId j : system.resource_ids()) {
      const Count depth = assignment.column_sum(j);
      const Count least = system.resource(j).min_depth;
      if (depth == 0 || depth >= least) continue;
      problems.add(*matrix, quote::name(system.resource(j).name) + " must have no task or at least " +
                                std::to_string(least) + " (its min_depth), has " + std::to_string(depth));
    }
  }
  if (!problems.empty()) return problems.diagnostics();
  return assignment;
}

ReadResult<Assignment> read(const ReadResult<Document>& document, const System& system, bool any_counts) {
  if (!document) return document.diagnostics();
  return read(*document, system, any_counts);
}

}  // namespace

ReadResult<Assignment> read_assignment(const std::string& path, const System& system) {
  return read(read_document(path), system, false);
}

ReadResult<Assignment> read_assignment_text(std::string_view text, const System& system, std::string source) {
  return read(parse_document(text, FileFormat::kJson, std::move(source)), system, false);
}

ReadResult<Assignment> read_pattern(const std::string& path, const System& system) {
  return read(read_document(path), system, true);
}

ReadResult<Assignment> read_assignment(const Document& document, const System& system) {
  return read(document, system, false);
}

ReadResult<Assignment> read_pattern(const Document& document, const System& system) {
  return read(document, system, true);
}

}  // namespace allot
