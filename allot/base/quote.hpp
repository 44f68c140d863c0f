// Untrusted text: one function for each reader that would interpret part of it.
// docs/background/threats.md says where each is used.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace allot::quote {

/// One word for a POSIX shell: in single quotes if it needs them.
std::string shell(std::string_view word);

/// For a terminal, on one line: control characters (also C1, and the line end), marks that change the
/// direction of text, separators of lines and bytes that are not UTF-8 become visible escapes, `\x1b` or
/// `\u202e`. Beyond `most` bytes it ends with "...".
std::string terminal(std::string_view text, std::size_t most = 1000);

/// The same for text of several lines: keeps line ends and tabs, and cuts each line separately.
std::string terminal_lines(std::string_view text, std::size_t most_of_a_line = 4096);

/// 'text', for messages: on one line, short.
std::string name(std::string_view text);
/// a, b, c, or 'a', 'b', 'c': cut after ten.
std::string list(std::span<const std::string_view> texts);
std::string names(std::span<const std::string_view> texts);
/// The shortest decimal that reads back as the same double; always with a point or an exponent.
std::string number(double value);

/// A document for machines, shown on a terminal: the same characters as `terminal_lines`, nothing cut,
/// written so that JSON stays JSON with the same values (`\u001b`).
std::string terminal_document(std::string_view text);

/// Content or attribute of HTML and of SVG: &, <, > and quotes become entities; what `terminal` escapes is
/// escaped here, too; line ends and tabs stay.
std::string html(std::string_view text);

/// A field of comma-separated values (RFC 4180): in double quotes if it needs them. The value does not
/// change.
std::string csv(std::string_view field);

/// The value of an OpenMetrics label, or a help text: backslashes, quotes and line ends are escaped, bytes
/// that are not UTF-8 are replaced.
std::string metrics(std::string_view text);

/// Length of the valid UTF-8 sequence at `at`; 0 if there is none.
std::size_t utf8_length(std::string_view text, std::size_t at) noexcept;

}  // namespace allot::quote
