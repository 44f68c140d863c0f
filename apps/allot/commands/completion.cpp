// allot completion: scripts with which a shell completes commands, options and values. They are the same for
// all versions: they ask the program itself for completions.
#include "apps/allot/completion.hpp"

#include <string>
#include <string_view>

#include "apps/allot/command.hpp"

namespace allot::app::completion_command {
namespace {

constexpr std::string_view kBash =
    R"sh(# allot completion bash: source it, or put it into bash-completion's folder.
_allot() {
  local -a lines
  mapfile -t lines < <("$1" completion bash words "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  COMPREPLY=("${lines[@]:1}")
  if [[ ${lines[0]-} == files ]]; then compopt -o default 2>/dev/null; fi
}
complete -F _allot allot
)sh";

constexpr std::string_view kZsh = R"sh(#compdef allot
# allot completion zsh: source it after compinit, or put it into a folder of fpath as _allot.
_allot() {
  local -a lines described
  lines=("${(@f)$("${words[1]}" completion zsh words "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  described=("${(@)lines[2,-1]}")
  if [[ ${lines[1]} == files ]]; then
    _files
  elif (( ${#lines} > 1 )); then
    _describe -V 'allot' described
  fi
}
if [[ ${funcstack[1]} == _allot ]]; then
  _allot "$@"
else
  compdef _allot allot
fi
)sh";

constexpr std::string_view kFish =
    R"sh(# allot completion fish: source it, or put it into fish's folder of completions as allot.fish.
function __allot_candidates
    set -l typed (commandline -opc)
    set -l program $typed[1]
    set -l last (commandline -ct)
    set -l lines ($program completion fish words $typed[2..-1] "$last" 2>/dev/null)
    if test "$lines[1]" = files
        __fish_complete_path "$last"
    else
        string join \n -- $lines[2..-1]
    end
end
complete -c allot -f -a '(__allot_candidates)'
)sh";

struct Arguments {
  Shell shell = Shell::kBash;
};

Exit run_completion(const Arguments& arguments, Console& console) {
  console.document(arguments.shell == Shell::kBash ? kBash : arguments.shell == Shell::kZsh ? kZsh : kFish);
  return Exit::kOk;
}

std::vector<Option> options_of(Arguments& arguments) {
  return {word_option("SHELL", arguments.shell, {"bash", "zsh", "fish"}, "bash, zsh or fish")
              .positional()
              .required()};
}

}  // namespace

extern const Command command;
const Command command{"completion", "Print a completion script for a shell.",
                      "source <(allot completion bash)                  # now, in this shell\n"
                      "allot completion zsh > ~/.zfunc/_allot           # in a folder of fpath\n"
                      "allot completion fish > ~/.config/fish/completions/allot.fish",
                      declared_by(options_of, run_completion), "It prints a script for the shell."};

}  // namespace allot::app::completion_command
