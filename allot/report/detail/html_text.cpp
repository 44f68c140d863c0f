#include "allot/report/detail/html_text.hpp"

#include "allot/base/quote.hpp"

namespace allot::detail {

std::string html_escape(std::string_view text) { return quote::html(text); }

std::string html_inline(std::string_view text) {
  std::string out;
  bool code = false;
  for (std::size_t at = text.find('`'); at != std::string_view::npos; at = text.find('`')) {
    if (!code && text.find('`', at + 1) == std::string_view::npos) break;  // a single one is just a character
    out += html_escape(text.substr(0, at)) + (code ? "</code>" : "<code>");
    code = !code;
    text.remove_prefix(at + 1);
  }
  return out + html_escape(text);
}

std::string html_paragraphs(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find("\n\n");
    out += "<p>" + html_inline(text.substr(0, end)) + "</p>\n";
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 2);
  }
  return out;
}

}  // namespace allot::detail
