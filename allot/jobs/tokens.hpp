// Splits and joins command lines: the quoting of a POSIX shell, and no other shell syntax.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace allot {

/// Splits a command line into words at blanks. Single quotes keep everything; double quotes keep everything
/// except `\"`, `\\`, `` \` ``, `\$` and an escaped line end; a backslash keeps the character after it.
/// Nothing is expanded: characters with a meaning in a shell (`;`, `|`, `&`, `<`, `>`, a backquote, `$NAME`,
/// `$(`, an unquoted line end) are problems, with the advice to quote them or to use a shell. Appends one
/// line to `problems` for each.
std::vector<std::string> split_command(std::string_view text, std::vector<std::string>& problems);

/// The word as a shell would read it back: in single quotes if it needs any.
std::string quote_word(std::string_view word);

/// A command line that split_command, or a shell, splits into the same words.
std::string join_command(std::span<const std::string> words);

}  // namespace allot
