// Plain text as HTML.
#pragma once

#include <string>
#include <string_view>

namespace allot::detail {

/// With &, <, > and quotes escaped.
std::string html_escape(std::string_view text);
/// Empty lines separate paragraphs; `code` in backquotes.
std::string html_paragraphs(std::string_view text);
/// The same without paragraphs.
std::string html_inline(std::string_view text);

}  // namespace allot::detail
