// What may be typed next: words from the tables of commands and options, names from the file that was named.
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
  bool are_files = false;  ///< files are meant, and no words
};

/// For the last of the words on the command line, which may be empty. The name of the program is none of
/// them. Never throws for what is in files.
Candidates candidates(std::span<const std::string> words);

enum class Shell { kBash, kZsh, kFish };

/// "words" or "files" on the first line, then a word a line as the shell's script takes it.
std::string candidates_text(const Candidates& candidates, Shell shell);

}  // namespace allot::app
