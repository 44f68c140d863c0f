// The inputs of tasks: one row of values per task, from patterns, lists, tables or counting.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace allot {

/// Rows of values; each row has one value per column.
struct InputTable {
  std::vector<std::string> columns = {""};  ///< at least one; a list has one column without a name
  std::vector<std::string> values;          ///< row by row, bytes unchanged

  std::size_t rows() const noexcept { return values.size() / columns.size(); }
  std::span<const std::string> row(std::size_t at) const noexcept {
    return std::span(values).subspan(at * columns.size(), columns.size());
  }
  friend bool operator==(const InputTable&, const InputTable&) = default;
};

/// A problem with an input. `line` counts from 1; 0: no line.
struct InputProblem {
  std::size_t line = 0;
  std::string message;
  friend bool operator==(const InputProblem&, const InputProblem&) = default;
};

/// Maximum rows of all tasks of a job.
inline constexpr std::size_t kMostInputs = 10'000'000;
/// Maximum size of a list or table.
inline constexpr std::size_t kMostInputBytes = std::size_t{256} << 20;

/// Each entry is a value, or a pattern (with `*`, `?` or `[`) that stands for the paths it matches: `*` stops
/// at slashes, `**` as a whole step is any number of folders, and names that begin with a dot match only a
/// pattern with a dot. Relative to `folder`, in byte order; `./` is put before a found path that begins with
/// `-`. A pattern without a match is a problem. Stops at `most` rows.
InputTable inputs_from_patterns(std::span<const std::string> entries, const std::string& folder,
                                std::size_t most, std::vector<InputProblem>& problems);

/// One value per line, without empty lines; a carriage return before the line end and a byte order mark at
/// the beginning are not part of a value.
InputTable inputs_from_list(std::string_view text, std::size_t most, std::vector<InputProblem>& problems);

/// Values that end in zero bytes, as written by `find -print0`; empty values are left out, the others are
/// unchanged.
InputTable inputs_from_null_list(std::string_view text, std::size_t most,
                                 std::vector<InputProblem>& problems);

/// One of these two formats from a stream, to its end; more than kMostInputBytes are a problem.
InputTable inputs_from_stream(std::istream& in, bool null_separated, std::size_t most,
                              std::vector<InputProblem>& problems);

/// Comma-separated values (RFC 4180): the first record names the columns; the others have the same number of
/// fields. Column names must be different and valid in braces.
InputTable inputs_from_csv(std::string_view text, std::size_t most, std::vector<InputProblem>& problems);

/// A list, or a table if the name ends in `.csv`. A file that cannot be read is a problem without a line.
InputTable inputs_from_file(const std::string& path, std::size_t most, std::vector<InputProblem>& problems);

/// "1" to "count".
InputTable inputs_by_counting(std::size_t count);

}  // namespace allot
