#include "allot/jobs/tokens.hpp"

#include <cctype>
#include <utility>

#include "allot/base/quote.hpp"

namespace allot {
namespace {

constexpr std::string_view kBlanks = " \t";
constexpr std::string_view kOperators = ";|&<>`";

bool is_name_start(char c) noexcept {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '(' || c == '{';
}

/// Splits a line, character by character.
class Splitter {
 public:
  Splitter(std::string_view text, std::vector<std::string>& problems) : text_(text), problems_(problems) {}

  std::vector<std::string> run() {
    // Line ends around a command, as in a multi-line TOML string, have no meaning.
    const std::size_t first = text_.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return {};
    text_ = text_.substr(first, text_.find_last_not_of(" \t\r\n") + 1 - first);
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (kBlanks.find(c) != std::string_view::npos) {
        end_word();
        ++at_;
      } else {
        step(c);
      }
    }
    end_word();
    return std::move(words_);
  }

 private:
  void step(char c) {
    if (c == '\'') {
      single_quoted();
    } else if (c == '"') {
      double_quoted();
    } else if (c == '\\') {
      escaped();
    } else if (kOperators.find(c) != std::string_view::npos || c == '\n') {
      problem(c == '\n' ? std::string("a line end") : std::string("'") + c + "'");
      ++at_;
    } else {
      expansion(c);
      add(c);
    }
  }

  void single_quoted() {
    const std::size_t end = text_.find('\'', at_ + 1);
    in_word_ = true;
    if (end == std::string_view::npos) {
      problems_.push_back("a single quote is not closed");
      at_ = text_.size();
      return;
    }
    word_ += text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
  }

  void double_quoted() {
    in_word_ = true;
    ++at_;
    while (at_ < text_.size() && text_[at_] != '"') {
      const char c = text_[at_];
      const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
      if (c == '\\' && (next == '"' || next == '\\' || next == '`' || next == '$' || next == '\n')) {
        if (next != '\n') word_ += next;
        at_ += 2;
        continue;
      }
      if (c == '`') problem("'`'");
      expansion(c);
      add(c);
    }
    if (at_ == text_.size()) problems_.push_back("a double quote is not closed");
    ++at_;
  }

  void escaped() {
    if (at_ + 1 == text_.size()) {
      problems_.push_back("a backslash at the end escapes nothing");
      ++at_;
      return;
    }
    const char next = text_[at_ + 1];
    if (next != '\n') {  // an escaped line end joins two lines
      word_ += next;
      in_word_ = true;
    }
    at_ += 2;
  }

  void expansion(char c) {
    if (c == '$' && at_ + 1 < text_.size() && is_name_start(text_[at_ + 1])) problem("'$'");
  }

  void problem(const std::string& what) {
    problems_.push_back(what + " has a meaning in a shell, but no shell is involved: quote it, or set " +
                        "'shell = true'");
  }

  void add(char c) {
    word_ += c;
    in_word_ = true;
    ++at_;
  }

  void end_word() {
    if (in_word_) words_.push_back(std::exchange(word_, {}));
    in_word_ = false;
  }

  std::string_view text_;
  std::vector<std::string>& problems_;
  std::size_t at_ = 0;
  std::vector<std::string> words_;
  std::string word_;
  bool in_word_ = false;
};

}  // namespace

std::vector<std::string> split_command(std::string_view text, std::vector<std::string>& problems) {
  return Splitter(text, problems).run();
}

std::string quote_word(std::string_view word) { return quote::shell(word); }

std::string join_command(std::span<const std::string> words) {
  std::string out;
  for (const std::string& word : words) {
    // As the first word, a word with '=' would be an assignment.
    const bool assigns = out.empty() && word.find('=') != std::string::npos;
    const std::string quoted = quote_word(word);
    out += (out.empty() ? "" : " ") + (assigns && quoted == word ? "'" + word + "'" : quoted);
  }
  return out;
}

}  // namespace allot
