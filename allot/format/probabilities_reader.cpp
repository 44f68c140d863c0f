#include "allot/format/probabilities_reader.hpp"

#include <cmath>
#include <utility>

#include "allot/base/quote.hpp"
#include "allot/format/detail/read_matrix.hpp"
#include "allot/format/problems.hpp"

namespace allot {
namespace {

/// The deviation from 1 that the policy accepts.
constexpr double kSumError = 1e-9;

ReadResult<std::vector<double>> read(const Document& document, const System& system) {
  Problems problems(document);
  const Node* const matrix = detail::find_matrix(document.root(), "probabilities", system, problems);
  if (!matrix) return problems.diagnostics();
  std::vector<double> values;
  for (const TaskType i : system.types()) {
    const std::string task = quote::name(system.task(i).name);
    const std::span<const Node> row = detail::matrix_row(*matrix, system, i, "probabilities", problems);
    if (row.empty()) continue;
    bool is_right = true;
    double sum = 0;
    for (const ResourceId j : system.resource_ids()) {
      const Node& entry = row[index(j)];
      const std::string resource = quote::name(system.resource(j).name);
      const auto value = read_number(entry, "the probability of " + task + " on " + resource, problems);
      is_right = is_right && value;
      values.push_back(value.value_or(0));
      sum += values.back();
      if (values.back() > 0 && !system.can_run(i, j)) {
        problems.add(entry, task + " cannot run on " + resource + ": its probability there must be 0");
      }
    }
    if (is_right && !system.resources_for(i).empty() && std::abs(sum - 1) > kSumError) {
      problems.add((*matrix->get<Node::Array>())[index(i)],
                   "the row of " + task + " must sum to 1, sums to " + quote::number(sum));
    }
  }
  if (!problems.empty()) return problems.diagnostics();
  return values;
}

ReadResult<std::vector<double>> read(const ReadResult<Document>& document, const System& system) {
  if (!document) return document.diagnostics();
  return read(*document, system);
}

}  // namespace

ReadResult<std::vector<double>> read_probabilities(const std::string& path, const System& system) {
  return read(read_document(path), system);
}

ReadResult<std::vector<double>> read_probabilities_text(std::string_view text, const System& system,
                                                        std::string source) {
  return read(parse_document(text, FileFormat::kJson, std::move(source)), system);
}

ReadResult<std::vector<double>> read_probabilities(const Document& document, const System& system) {
  return read(document, system);
}

}  // namespace allot
