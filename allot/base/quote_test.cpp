#include "allot/base/quote.hpp"

#include <gtest/gtest.h>
#include <stdio.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "allot/base/random.hpp"

namespace allot {
namespace {

/// Every byte, on its own and doubled, and what several of them mean together.
std::vector<std::string> metacharacters() {
  std::vector<std::string> all;
  for (int byte = 1; byte < 256; ++byte) {
    all.emplace_back(1, static_cast<char>(byte));
    all.emplace_back(std::string(2, static_cast<char>(byte)) + "x");
  }
  for (const char* text : {"`id`",
                           "$(id)",
                           "${PATH}",
                           "'; id; '",
                           "\"; id; \"",
                           "a\nid",
                           "\\'",
                           "\\",
                           "!!",
                           "*",
                           "?",
                           "[a]",
                           "~",
                           "-rf",
                           "#",
                           "<script>",
                           "</style>",
                           "]]>",
                           "&amp;",
                           "\x1b[2J",
                           "\r",
                           "\xc2\x9b"
                           "2J",
                           "\xe2\x80\xae"
                           "abc",
                           "\xe2\x81\xa6",
                           "\xe2\x80\xa8",
                           "\xff\xfe",
                           "{a,b}",
                           "{1..3}",
                           "=1+1",
                           "@x",
                           "%s",
                           "\xd8\x9c",
                           "\xe2\x80\x8f"}) {
    all.emplace_back(text);
  }
  return all;
}

std::string said_by(const std::string& command) {
  std::string out;
  FILE* const pipe = ::popen(command.c_str(), "r");
  char buffer[4096];
  for (std::size_t size = 0; (size = ::fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.append(buffer, size);
  ::pclose(pipe);
  return out;
}

TEST(Quote, AShellReadsBackEveryWord) {
  // All words through one shell, each ended by a zero byte, which no word has.
  std::string command = "printf '%s\\0'";
  std::string expected;
  for (const std::string& word : metacharacters()) {
    command += " " + quote::shell(word);
    expected += word + '\0';
  }
  EXPECT_EQ(said_by(command), expected);
}

TEST(Quote, SshsShellReadsBackEveryWord) {
  std::vector<std::string> words = {"printf", "%s\\0"};
  std::string expected;
  for (const std::string& word : metacharacters()) {
    words.push_back(word);
    expected += word + '\0';
  }
  words.emplace_back("");
  // As ssh does it: the words joined with blanks, for a shell at the far end.
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + quote::shell(word);
  EXPECT_EQ(said_by(line), expected + '\0');
}

/// Bytes that do something to a terminal, or to the direction of text.
bool is_harmless(const std::string& text, bool lines) {
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x20 && !(lines && (byte == '\n' || byte == '\t'))) return false;
    if (byte == 0x7f) return false;
    const std::size_t length = quote::utf8_length(text, at);
    if (length == 0) return false;
    const std::string c = text.substr(at, length);
    if (length == 2 && byte == 0xc2 && static_cast<unsigned char>(c[1]) < 0xa0) return false;
    for (const char* mark : {"\xd8\x9c", "\xe2\x80\x8e", "\xe2\x80\x8f", "\xe2\x80\xa8", "\xe2\x80\xa9",
                             "\xe2\x80\xaa", "\xe2\x80\xab", "\xe2\x80\xac", "\xe2\x80\xad", "\xe2\x80\xae",
                             "\xe2\x81\xa6", "\xe2\x81\xa7", "\xe2\x81\xa8", "\xe2\x81\xa9"}) {
      if (c == mark) return false;
    }
    at += length;
  }
  return true;
}

TEST(Quote, NothingReachesATerminalButText) {
  for (const std::string& text : metacharacters()) {
    EXPECT_TRUE(is_harmless(quote::terminal(text), false)) << quote::terminal(text);
    EXPECT_TRUE(is_harmless(quote::terminal_lines(text), true)) << quote::terminal(text);
    EXPECT_TRUE(is_harmless(quote::terminal_document(text), true)) << quote::terminal(text);
    EXPECT_TRUE(is_harmless(quote::html(text), true)) << quote::terminal(text);
  }
  EXPECT_EQ(quote::terminal("a\x1b[31mb\r\n\t"), "a\\x1b[31mb\\x0d\\n\\t");
  EXPECT_EQ(quote::terminal("caf\xc3\xa9 \xe2\x80\xae\xc2\x9b"), "caf\xc3\xa9 \\u202e\\u009b");
}

TEST(Quote, TextForTerminalsHasALength) {
  EXPECT_EQ(quote::terminal(std::string(3'000'000, 'n'), 10), "nnnnnnnnnn...");
  EXPECT_EQ(quote::terminal("nnnnnnnnnn", 10), "nnnnnnnnnn");
  EXPECT_EQ(quote::terminal_lines("aaaaaa\nbb\ncccccc", 4), "aaaa...\nbb\ncccc...");
  EXPECT_EQ(quote::terminal_lines("aaaa\nbb", 4), "aaaa\nbb");
}

TEST(Quote, ADocumentKeepsItsMeaningAsJson) {
  EXPECT_EQ(quote::terminal_document("{\"a\": \"\x7f\xc2\x9b\xe2\x80\xae\"}\n"),
            "{\"a\": \"\\u007f\\u009b\\u202e\"}\n");
}

TEST(Quote, NothingInHtmlEndsItsPlace) {
  for (const std::string& text : metacharacters()) {
    EXPECT_EQ(quote::html(text).find_first_of("<>\"'"), std::string::npos) << quote::terminal(text);
  }
  EXPECT_EQ(quote::html("a & b < c > d \" e ' f"), "a &amp; b &lt; c &gt; d &quot; e &#39; f");
}

TEST(Quote, CsvFieldsAreReadBack) {
  for (const std::string& text : metacharacters()) {
    std::string field = quote::csv(text);
    if (field.starts_with('"')) {  // as RFC 4180 has it
      ASSERT_GE(field.size(), 2u);
      field = field.substr(1, field.size() - 2);
      for (std::size_t at = 0; (at = field.find('"', at)) != std::string::npos; ++at) {
        ASSERT_EQ(field.substr(at, 2), "\"\"");
        field.erase(at, 1);
      }
    } else {
      EXPECT_EQ(field.find_first_of(",\"\r\n"), std::string::npos);
    }
    EXPECT_EQ(field, text);
  }
}

TEST(Quote, PrintsOneLineWhateverTheBytes) {
  EXPECT_EQ(quote::terminal("a\tb\nc\x1b[31m\x7f"), "a\\tb\\nc\\x1b[31m\\x7f");
  EXPECT_EQ(quote::terminal("\xC3\xA9 \xF0\x9F\x98\x80"), "\xC3\xA9 \xF0\x9F\x98\x80");
  EXPECT_EQ(quote::terminal("\xC3( \xED\xA0\x80 \xC0\x80 \xF5"), "\\xc3( \\xed\\xa0\\x80 \\xc0\\x80 \\xf5");
  EXPECT_EQ(quote::terminal("\xC2\x85"), "\\u0085");  // a control character of two bytes
  EXPECT_EQ(quote::terminal("abcdef", 3), "abc...");
}

TEST(Quote, CutsLongLists) {
  EXPECT_EQ(quote::list(std::vector<std::string_view>(12, "x")), "x, x, x, x, x, x, x, x, x, x and 2 more");
}

TEST(Quote, WritesDoublesThatReadBackTheSame) {
  EXPECT_EQ(quote::number(0.1), "0.1");
  EXPECT_EQ(quote::number(65), "65.0");
  EXPECT_EQ(quote::number(1e22), "1e+22");
  EXPECT_EQ(quote::number(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(quote::number(-std::numeric_limits<double>::infinity()), "-inf");
  RandomStream random(1);
  for (int k = 0; k < 2000; ++k) {
    const double value =
        std::ldexp(static_cast<double>(random.bits() >> 11), static_cast<int>(random.below(2000)) - 1040);
    EXPECT_EQ(std::strtod(quote::number(value).c_str(), nullptr), value);
  }
}

TEST(Quote, MetricsKeepTheirLinesAndQuotes) {
  EXPECT_EQ(quote::metrics("gpu \xC3\xA9"), "gpu \xC3\xA9");
  EXPECT_EQ(quote::metrics("a\"b\\c\nd\r"), "a\\\"b\\\\c\\nd\r");
  EXPECT_EQ(quote::metrics("\xC3(\xFF"), "\xEF\xBF\xBD(\xEF\xBF\xBD");
}

}  // namespace
}  // namespace allot
