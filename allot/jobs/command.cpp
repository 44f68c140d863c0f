#include "allot/jobs/command.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "allot/jobs/tokens.hpp"

namespace allot {
namespace {

/// Reads a script just far enough to know the quotes around each placeholder.
class ScriptReader {
 public:
  ScriptReader(std::string_view script, const TemplateScope& scope, std::vector<std::string>& problems)
      : text_(script), scope_(scope), problems_(problems) {}

  /// sh, -c, the script with references for placeholders, a name for $0, and the values of the references.
  std::vector<Template> run() {
    while (at_ < text_.size()) step();
    for (const Context context : contexts_) {
      if (context == Context::kBare) continue;
      problems_.push_back(context == Context::kDouble ? "a double quote is not closed"
                                                      : "'$(' or '(' is not closed");
    }
    std::vector<Template> words = {Template::literal("sh"), Template::literal("-c"),
                                   Template::literal(std::move(out_)), Template::literal("allot")};
    for (Template& argument : arguments_) words.push_back(std::move(argument));
    return words;
  }

 private:
  enum class Context { kBare, kDouble, kParentheses };

  Context context() const { return contexts_.back(); }
  char look(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool sees(std::string_view word) const { return text_.substr(at_, word.size()) == word; }
  void copy(std::size_t count = 1) {
    count = std::min(count, text_.size() - at_);
    out_ += text_.substr(at_, count);
    at_ += count;
  }

  void step() {
    const char c = look();
    if (c == '{' || c == '}') {
      brace();
    } else if (c == '\\') {
      backslash();
    } else if (c == '$') {
      dollar();
    } else if (c == '`') {
      backquoted();
    } else if (c == '"') {
      if (context() == Context::kDouble) {
        contexts_.pop_back();
      } else {
        contexts_.push_back(Context::kDouble);
      }
      copy();
    } else if (context() == Context::kDouble) {
      copy();
    } else {
      outside_quotes(c);
    }
  }

  void outside_quotes(char c) {
    const bool begins_word =
        out_.empty() || std::string_view(" \t\n;|&()").find(out_.back()) != std::string_view::npos;
    if (c == '\'') {
      quoted(at_ + 1, '\'', "single quotes", "; use double quotes");
    } else if (c == '#' && begins_word) {
      quoted(at_ + 1, '\n', "comments", "");
    } else if (sees("((")) {
      problems_.push_back("'((' is arithmetic to some shells; for a subshell in another write '( ('");
      copy(2);
    } else if (c == '(') {
      contexts_.push_back(Context::kParentheses);
      copy();
    } else if (c == ')') {
      if (context() == Context::kParentheses) contexts_.pop_back();
      copy();
    } else if (sees("<<")) {
      problems_.push_back("here-documents cannot be followed; pipe the text in, as in printf ... | command");
      copy(2);
    } else if (context() == Context::kParentheses && begins_word && sees("case") &&
               std::isspace(static_cast<unsigned char>(look(4))) != 0) {
      problems_.push_back("'case' within parentheses cannot be followed; put it into a script");
      copy(4);
    } else {
      copy();
    }
  }

  /// A placeholder, or a doubled brace.
  void brace() {
    const char c = look();
    if (look(1) == c) {
      out_ += c;
      at_ += 2;
      return;
    }
    const std::size_t end = c == '{' ? text_.find_first_of("{}", at_ + 1) : std::string_view::npos;
    if (end == std::string_view::npos || text_[end] != '}') {
      problems_.push_back(std::string("'") + c +
                          "' without its counterpart; for the character itself write '" + c + c + "'");
      copy();
      return;
    }
    const std::string source(text_.substr(at_, end + 1 - at_));
    const std::string reference = "${" + std::to_string(argument(source)) + "}";
    out_ += context() == Context::kDouble ? reference : "\"" + reference + "\"";
    at_ = end + 1;
  }

  /// Number of the argument with this placeholder's value.
  std::size_t argument(const std::string& source) {
    const auto [it, is_new] = numbers_.emplace(source, arguments_.size() + 1);
    if (is_new) arguments_.push_back(Template::parse(source, scope_, problems_));
    return it->second;
  }

  void backslash() {
    const bool is_doubled = (look(1) == '{' || look(1) == '}') && look(2) == look(1);
    if (look(1) == '{' && !is_doubled) {
      problems_.push_back("a placeholder may not follow a backslash");
      const std::size_t end = text_.find('}', at_);
      copy(end == std::string_view::npos ? 2 : end + 1 - at_);
      return;
    }
    copy();
    // The escaped character is not examined, even if it is a quote or another backslash.
    if (is_doubled) {
      brace();
    } else if (look() != '}') {
      copy();
    }
  }

  void dollar() {
    if (sees("$((")) {
      copy_arithmetic();
    } else if (sees("$(")) {
      copy(2);
      contexts_.push_back(Context::kParentheses);
    } else if (sees("${")) {
      copy_parameter();
    } else if (sees("$[") || (sees("$'") && context() != Context::kDouble)) {
      problems_.push_back("'" + std::string(text_.substr(at_, 2)) + "' does not mean the same to every sh; " +
                          (sees("$[") ? "use $((...))" : "use printf"));
      copy(2);
    } else {
      copy();
    }
  }

  /// ${NAME} and similar forms belong to the shell and stay unchanged.
  void copy_parameter() {
    const std::size_t end = text_.find('}', at_);
    const std::string_view inside =
        end == std::string_view::npos ? "{" : text_.substr(at_ + 2, end - at_ - 2);
    if (inside.empty() || inside.find_first_of("{'\"`$\\") != std::string_view::npos) {
      problems_.push_back(
          "'${' begins a parameter of the shell, as in ${NAME}; placeholders, quotes and other parameters "
          "are not allowed in it");
      copy(2);
      return;
    }
    copy(end + 1 - at_);
  }

  /// $((...)), which would evaluate values.
  void copy_arithmetic() {
    std::size_t end = at_ + 1;
    for (int depth = 0; end < text_.size(); ++end) {
      if (text_[end] == '(') ++depth;
      if (text_[end] == ')' && --depth == 0) break;
    }
    const std::string_view inside = text_.substr(at_, end - at_);
    if (end == text_.size() || inside.find_first_of("{}'\"`\\") != std::string_view::npos) {
      problems_.push_back("placeholders and quotes are not allowed in $((...)): assign to a variable first");
      copy(3);
      return;
    }
    copy(end + 1 - at_);
  }

  void backquoted() { quoted(at_ + 1, '`', "backquotes", "; use $(...)"); }

  /// Copies text in which placeholders are not allowed, up to `close` or, for comments, the end of the text.
  /// Doubled braces become single ones here, too.
  void quoted(std::size_t from, char close, const std::string& what, const std::string& advice) {
    const std::size_t end = text_.find(close, from);
    if (end == std::string_view::npos && close != '\n') problems_.push_back("a quote is not closed: " + what);
    const std::size_t stop = end == std::string_view::npos ? text_.size() : end;
    copy();
    bool told = false;
    while (at_ < stop) {
      const char c = look();
      const bool is_intricate = close == '`' && c == '\\';
      if (c != '{' && c != '}' && !is_intricate) {
        copy();
      } else if (!is_intricate && at_ + 1 < stop && look(1) == c) {
        out_ += c;
        at_ += 2;
      } else {
        // Anything is allowed in a comment.
        if (close != '\n' && !told)
          problems_.push_back((is_intricate ? "backslashes" : "placeholders") +
                              (" are not allowed in " + what) + advice +
                              "; for braces themselves write '{{' and '}}'");
        told = true;
        copy();
      }
    }
    if (at_ < text_.size()) copy();
  }

  std::string_view text_;
  const TemplateScope& scope_;
  std::vector<std::string>& problems_;
  std::size_t at_ = 0;
  std::string out_;
  std::vector<Context> contexts_ = {Context::kBare};
  std::map<std::string, std::size_t> numbers_;
  std::vector<Template> arguments_;
};

}  // namespace

CommandTemplate CommandTemplate::from_words(const std::vector<std::string>& words, const TemplateScope& scope,
                                            std::vector<std::string>& problems) {
  CommandTemplate command;
  if (words.empty() || words.front().empty()) problems.emplace_back("has no program to run");
  for (const std::string& word : words) command.words_.push_back(Template::parse(word, scope, problems));
  command.source_ = join_command(words);
  return command;
}

CommandTemplate CommandTemplate::from_line(std::string_view line, const TemplateScope& scope,
                                           std::vector<std::string>& problems) {
  return from_words(split_command(line, problems), scope, problems);
}

CommandTemplate CommandTemplate::from_script(std::string_view script, const TemplateScope& scope,
                                             std::vector<std::string>& problems) {
  CommandTemplate command;
  if (script.find_first_not_of(" \t\r\n") == std::string_view::npos)
    problems.emplace_back("has nothing to run");
  command.words_ = ScriptReader(script, scope, problems).run();
  command.source_ = "sh -c " + quote_word(script);
  return command;
}

std::vector<std::string> CommandTemplate::expand(const TemplateValues& values) const {
  std::vector<std::string> out;
  out.reserve(words_.size());
  for (const Template& word : words_) out.push_back(word.expand(values));
  return out;
}

bool CommandTemplate::uses(Placeholder placeholder) const noexcept {
  return std::any_of(words_.begin(), words_.end(),
                     [&](const Template& word) { return word.uses(placeholder); });
}

}  // namespace allot
