// A command line as words and back: quoting as in a POSIX shell, and nothing else of a shell.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace allot {

/// Splits a command line into words at blanks. Single quotes keep everything, double quotes all but `\"`,
/// `\\`, `` \` ``, `\$` and an escaped line end, a backslash the character after it. Nothing is expanded:
/// what a shell would do something with (`;`, `|`, `&`, `<`, `>`, a backquote, `$NAME`, `$(`, an unquoted
/// line end) is a problem that says to quote it or to ask for a shell. Appends one line to `problems` for
/// each.
std::vector<std::string> split_command(std::string_view text, std::vector<std::string>& problems);

/// The word as a shell reads it back: in single quotes where it needs any.
std::string quote_word(std::string_view word);

/// A command line that split_command, and a shell, take apart into the same words.
std::string join_command(std::span<const std::string> words);

}  // namespace allot
