// How a task is run: the words of its command, each a template.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "allot/jobs/template.hpp"

namespace allot {

/// The command of a task type on a resource. Values never become more than one word, nor code.
class CommandTemplate {
 public:
  CommandTemplate() = default;
  /// One template for each word. Appends to `problems`.
  static CommandTemplate from_words(const std::vector<std::string>& words, const TemplateScope& scope,
                                    std::vector<std::string>& problems);
  /// A command line, split once as split_command does; then as from_words.
  static CommandTemplate from_line(std::string_view line, const TemplateScope& scope,
                                   std::vector<std::string>& problems);
  /// A script for `sh -c`. Placeholders become references to arguments, quoted so that no value is split or
  /// read as code: `cat {} > {out}` runs as sh -c 'cat "${1}" > "${2}"' allot INPUT OUTPUT. They may stand
  /// outside of quotes, in double quotes and in $(...); anywhere else (single quotes, backquotes, ${...},
  /// $((...)), after a backslash) they are a problem, and so are here-documents. `${NAME}` is the shell's
  /// own.
  static CommandTemplate from_script(std::string_view script, const TemplateScope& scope,
                                     std::vector<std::string>& problems);

  /// The words to execute.
  std::vector<std::string> expand(const TemplateValues& values) const;

  const std::vector<Template>& words() const noexcept { return words_; }
  /// As a command line, placeholders in it: what it is recognised by when a run is resumed.
  const std::string& source() const noexcept { return source_; }
  bool uses(Placeholder placeholder) const noexcept;

  friend bool operator==(const CommandTemplate&, const CommandTemplate&) = default;

 private:
  std::vector<Template> words_;
  std::string source_;
};

}  // namespace allot
