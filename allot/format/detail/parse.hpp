// The two parsers behind parse_document, each in a file of its own with the library it wraps.
#pragma once

#include <string>
#include <string_view>

#include "allot/format/document.hpp"

namespace allot::detail {

ReadResult<Document> parse_toml(std::string_view text, std::string source);
ReadResult<Document> parse_json(std::string_view text, std::string source);

/// The place of a syntax error.
std::string text_place(const std::string& source, std::size_t line, std::size_t column);

}  // namespace allot::detail
