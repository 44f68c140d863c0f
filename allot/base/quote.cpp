#include "allot/base/quote.hpp"

#include <algorithm>
#include <cmath>

#include "allot/base/numbers.hpp"

namespace allot::quote {
namespace {

constexpr std::string_view kHexadecimal = "0123456789abcdef";

unsigned char32(std::string_view sequence) noexcept {
  const auto byte = [&](std::size_t at) {
    return static_cast<unsigned>(static_cast<unsigned char>(sequence[at]));
  };
  switch (sequence.size()) {
    case 1:
      return byte(0);
    case 2:
      return (byte(0) & 0x1FU) << 6U | (byte(1) & 0x3FU);
    case 3:
      return (byte(0) & 0x0FU) << 12U | (byte(1) & 0x3FU) << 6U | (byte(2) & 0x3FU);
    default:
      return (byte(0) & 0x07U) << 18U | (byte(1) & 0x3FU) << 12U | (byte(2) & 0x3FU) << 6U |
             (byte(3) & 0x3FU);
  }
}

/// Whether the character changes the direction or the line of text.
bool moves_text(unsigned c) noexcept {
  return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

bool is_control(unsigned c) noexcept { return c < 0x20 || (c >= 0x7F && c < 0xA0); }

void append_byte(std::string& out, unsigned char byte) {
  out += "\\x";
  out += kHexadecimal[byte >> 4U];
  out += kHexadecimal[byte & 15U];
}

void append_unit(std::string& out, unsigned c) {
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kHexadecimal[c >> static_cast<unsigned>(shift) & 15U];
}

enum class Form { kOneLine, kLines, kDocument };

constexpr std::size_t kShort = 40;

std::string joined(std::span<const std::string_view> texts, std::string_view mark) {
  constexpr std::size_t kMost = 10;
  std::string out;
  for (const std::string_view text : texts.first(std::min(texts.size(), kMost)))
    out.append(out.empty() ? "" : ", ").append(mark).append(terminal(text, kShort)).append(mark);
  if (texts.size() > kMost) out += " and " + std::to_string(texts.size() - kMost) + " more";
  return out;
}

/// Appends the character at `at` in visible form; returns its length in bytes.
std::size_t append_visible(std::string& out, std::string_view text, std::size_t at, Form form) {
  const std::size_t length = utf8_length(text, at);
  if (length == 0) {
    append_byte(out, static_cast<unsigned char>(text[at]));
    return 1;
  }
  const std::string_view sequence = text.substr(at, length);
  const unsigned c = char32(sequence);
  const bool is_layout = form != Form::kOneLine && (c == '\n' || c == '\t');
  if (is_layout || (!is_control(c) && !moves_text(c))) {
    out += sequence;
  } else if (c >= 0x80 || form == Form::kDocument) {
    append_unit(out, c);
  } else if (c == '\n') {
    out += "\\n";
  } else if (c == '\t') {
    out += "\\t";
  } else {
    append_byte(out, static_cast<unsigned char>(c));
  }
  return length;
}

}  // namespace

std::size_t utf8_length(std::string_view text, std::size_t at) noexcept {
  const auto byte = [&](std::size_t k) {
    return at + k < text.size() ? static_cast<unsigned char>(text[at + k]) : 0U;
  };
  const auto tail = [&](std::size_t k) { return (byte(k) & 0xC0U) == 0x80U; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return tail(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const bool overlong = lead == 0xE0 && byte(1) < 0xA0;
    const bool surrogate = lead == 0xED && byte(1) > 0x9F;
    return tail(1) && tail(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const bool overlong = lead == 0xF0 && byte(1) < 0x90;
    const bool beyond = lead == 0xF4 && byte(1) > 0x8F;
    return tail(1) && tail(2) && tail(3) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

std::string shell(std::string_view word) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./:,@%{}";
  // Some shells expand {a,b} and {1..3}.
  const bool expands =
      word.find('{') != std::string_view::npos &&
      (word.find(',') != std::string_view::npos || word.find("..") != std::string_view::npos);
  if (!word.empty() && !expands && word.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(word);
  }
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out += "'";
}

std::string terminal(std::string_view text, std::size_t most) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (out.size() >= most) return out + "...";
    at += append_visible(out, text, at, Form::kOneLine);
  }
  return out;
}

std::string terminal_lines(std::string_view text, std::size_t most_of_a_line) {
  std::string out;
  std::size_t line = 0;  // where it begins in `out`
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '\n' && out.size() - line >= most_of_a_line) {
      out += "...";
      at = text.find('\n', at);
      if (at == std::string_view::npos) break;
    }
    const bool ends = text[at] == '\n';
    at += append_visible(out, text, at, Form::kLines);
    if (ends) line = out.size();
  }
  return out;
}

std::string terminal_document(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) at += append_visible(out, text, at, Form::kDocument);
  return out;
}

std::string html(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    switch (text[at]) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        at += append_visible(out, text, at, Form::kLines);
        continue;
    }
    ++at;
  }
  return out;
}

std::string csv(std::string_view field) {
  if (field.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(field);
  std::string out = "\"";
  for (const char c : field) {
    if (c == '"') out += '"';
    out += c;
  }
  return out += '"';
}

std::string metrics(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else if (text[at] == '\n') {
      out += "\\n";
    } else {
      if (text[at] == '\\' || text[at] == '"') out += '\\';
      out += text.substr(at, length);
    }
    at += std::max<std::size_t>(length, 1);
  }
  return out;
}

std::string name(std::string_view text) { return "'" + terminal(text, kShort) + "'"; }

std::string list(std::span<const std::string_view> texts) { return joined(texts, ""); }

std::string names(std::span<const std::string_view> texts) { return joined(texts, "'"); }

std::string number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string out = exact_text(value);
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

}  // namespace allot::quote
