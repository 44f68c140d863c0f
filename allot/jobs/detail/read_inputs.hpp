// The inputs of a task type in a job file: a list, a file or a count.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allot/format/problems.hpp"
#include "allot/jobs/inputs.hpp"

namespace allot::detail {

/// A message that contains text of the user: on one line, printable.
std::string line(const std::string& message);

/// Whether the text contains a zero byte, which is reported as a problem.
bool has_zero(const Node& node, std::string_view text, const std::string& what, Problems& problems);

/// An array of texts, or a problem.
std::optional<std::vector<std::string>> read_words(const Node& node, const std::string& what,
                                                   Problems& problems);

struct InputReader {
  const std::string& folder;  ///< folder of the job
  std::size_t most;           ///< maximum inputs of all types together
  bool reads_input;           ///< an input may come from standard input
  const InputTable* given;    ///< the inputs of all types, which then have none of their own; may be null
  Problems& problems;
  std::vector<Diagnostic>& elsewhere;  ///< problems in lists and tables

  /// Whether the type takes its inputs from the outputs of another type. Reports other inputs next to `from`.
  bool is_from(const TableReader& table) const;
  /// Counts `rows` tasks that come from another type; reports it if there are too many.
  void count(const Node& from, std::size_t rows);
  /// Returns whether the columns are known.
  bool read(const TableReader& table, InputTable& inputs);
  /// One value per line of standard input, which only one type can read.
  bool read_standard_input(const Node& node, InputTable& inputs);
};

}  // namespace allot::detail
