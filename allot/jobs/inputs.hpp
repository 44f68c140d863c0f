// The inputs of tasks: one row of values for each, from patterns, lists, tables or counting.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace allot {

/// Rows of values; all rows have as many values as there are columns.
struct InputTable {
  std::vector<std::string> columns = {""};  ///< at least one; a list has one without a name
  std::vector<std::string> values;          ///< row after row, bytes as they are

  std::size_t rows() const noexcept { return values.size() / columns.size(); }
  std::span<const std::string> row(std::size_t at) const noexcept {
    return std::span(values).subspan(at * columns.size(), columns.size());
  }
  friend bool operator==(const InputTable&, const InputTable&) = default;
};

/// What is wrong with an input. `line` counts from 1; 0 where there is none.
struct InputProblem {
  std::size_t line = 0;
  std::string message;
  friend bool operator==(const InputProblem&, const InputProblem&) = default;
};

/// Most rows of all tasks of a job.
inline constexpr std::size_t kMostInputs = 10'000'000;
/// The largest list or table that is read.
inline constexpr std::size_t kMostInputBytes = std::size_t{256} << 20;

/// Each entry a value, or a pattern (with `*`, `?` or `[`) that stands for the paths it matches: `*` stops at
/// slashes, `**` as a whole step is any number of folders, names that begin with a dot must be asked for.
/// Relative to `folder`, in byte order; a path found that begins with `-` gets `./` before it. A pattern that
/// matches nothing is a problem. Stops at `most` rows.
InputTable inputs_from_patterns(std::span<const std::string> entries, const std::string& folder,
                                std::size_t most, std::vector<InputProblem>& problems);

/// One value per line, empty lines left out; a carriage return before the line end and a byte order mark at
/// the beginning do not belong to a value.
InputTable inputs_from_list(std::string_view text, std::size_t most, std::vector<InputProblem>& problems);

/// Values that end in zero bytes, as `find -print0` writes them; empty ones left out, all else kept as it is.
InputTable inputs_from_null_list(std::string_view text, std::size_t most,
                                 std::vector<InputProblem>& problems);

/// One of these two from a stream, to its end; more than kMostInputBytes are a problem.
InputTable inputs_from_stream(std::istream& in, bool null_separated, std::size_t most,
                              std::vector<InputProblem>& problems);

/// Comma-separated values (RFC 4180): the first record names the columns, every other has as many fields.
/// Column names must differ, and must be valid in braces.
InputTable inputs_from_csv(std::string_view text, std::size_t most, std::vector<InputProblem>& problems);

/// A list, or a table where the name ends in `.csv`. A file that cannot be read is a problem without a line.
InputTable inputs_from_file(const std::string& path, std::size_t most, std::vector<InputProblem>& problems);

/// "1" to "count".
InputTable inputs_by_counting(std::size_t count);

}  // namespace allot
