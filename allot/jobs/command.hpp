// The command of a task: a list of words, each a template.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "allot/jobs/template.hpp"

namespace allot {

/// The command of a task type on a resource. A value never becomes more than one word, and never code.
class CommandTemplate {
 public:
  CommandTemplate() = default;
  /// One template per word. Appends to `problems`.
  static CommandTemplate from_words(const std::vector<std::string>& words, const TemplateScope& scope,
                                    std::vector<std::string>& problems);
  /// A command line: split once like split_command, then like from_words.
  static CommandTemplate from_line(std::string_view line, const TemplateScope& scope,
                                   std::vector<std::string>& problems);
  /// A script for `sh -c`. Placeholders become references to arguments, quoted so that no value is split or
  /// read as code: `cat {} > {out}` runs as sh -c 'cat "${1}" > "${2}"' allot INPUT OUTPUT. Placeholders may
  /// be outside of quotes, in double quotes and in $(...); anywhere else (single quotes, backquotes, ${...},
  /// $((...)), after a backslash) they are a problem, and so are here-documents. `${NAME}` is the shell's
  /// own.
  static CommandTemplate from_script(std::string_view script, const TemplateScope& scope,
                                     std::vector<std::string>& problems);

  /// The words to execute.
  std::vector<std::string> expand(const TemplateValues& values) const;

  const std::vector<Template>& words() const noexcept { return words_; }
  /// The command line with its placeholders. A resumed run compares it to detect changes.
  const std::string& source() const noexcept { return source_; }
  bool uses(Placeholder placeholder) const noexcept;

  friend bool operator==(const CommandTemplate&, const CommandTemplate&) = default;

 private:
  std::vector<Template> words_;
  std::string source_;
};

}  // namespace allot
