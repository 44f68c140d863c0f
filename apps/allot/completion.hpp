// Completions of a command line: words from the tables of commands and options, and names from the given
// file.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace allot::app {

struct Candidate {
  std::string word;
  std::string help;  ///< one line, or empty
};

struct Candidates {
  std::vector<Candidate> words;
  bool are_files = false;  ///< complete file names, not words
};

/// Completions for the last word of the command line, which may be empty. `words` does not include the name
/// of the program. Never throws because of the contents of files.
Candidates candidates(std::span<const std::string> words);

enum class Shell { kBash, kZsh, kFish };

/// "words" or "files" on the first line, then one word per line in the format of the shell's script.
std::string candidates_text(const Candidates& candidates, Shell shell);

}  // namespace allot::app
