#include "apps/allot/completion.hpp"

#include <algorithm>
#include <string_view>

#include "allot/base/quote.hpp"
#include "apps/allot/command.hpp"
#include "apps/allot/help.hpp"
#include "apps/allot/options.hpp"

namespace allot::app {
namespace {

/// A command line, parsed as far as it goes.
struct Typed {
  std::span<const Option> options;
  const Option* awaits = nullptr;    ///< the option whose value is the last word
  std::vector<std::string> places;   ///< words before the last that are not options
  std::vector<const Option*> given;  ///< before the last word
};

const Option* option_called(std::span<const Option> options, std::string_view word) {
  for (const Option& option : options) {
    if (option.is_positional || option.is_hidden) continue;
    if (word == spelled(option) || (!option.letter.empty() && word == "-" + option.letter)) return &option;
  }
  return nullptr;
}

bool takes_value(const Option& option) { return !std::holds_alternative<FlagValue>(option.value); }

Typed read_line(std::span<const Option> options, std::span<const std::string> before) {
  Typed typed{options, nullptr, {}, {}};
  for (const std::string& word : before) {
    if (typed.awaits != nullptr) {
      typed.awaits = nullptr;
      continue;
    }
    if (!word.starts_with('-') || word == "-") {
      typed.places.push_back(word);
      continue;
    }
    const std::size_t sign = word.find('=');
    const Option* const option = option_called(options, word.substr(0, sign));
    if (option == nullptr) continue;
    typed.given.push_back(option);
    if (sign == std::string::npos && takes_value(*option)) typed.awaits = option;
  }
  return typed;
}

/// The values of an option that start with `begun`; `kept` is put before each.
Candidates values_of(const Option& option, const Typed& typed, std::string_view begun, std::string kept) {
  Candidates out;
  std::vector<std::string> values = option.suggestions;
  bool is_path = option.is_positional;
  if (const auto* const word = std::get_if<WordValue>(&option.value)) {
    values.insert(values.end(), word->words.begin(), word->words.end());
    is_path = false;
  } else if (const auto* const whole = std::get_if<WholeValue>(&option.value)) {
    if (!whole->otherwise.empty()) values.emplace_back(whole->otherwise);
  } else if (const auto* const text = std::get_if<TextValue>(&option.value)) {
    is_path = text->is_path || (is_path && values.empty());
  } else if (const auto* const texts = std::get_if<TextsValue>(&option.value);
             texts != nullptr && texts->has_commas) {
    for (std::size_t comma = 0; (comma = begun.find(',')) != std::string_view::npos;) {
      std::erase(values, begun.substr(0, comma));  // no name twice
      kept += begun.substr(0, comma + 1);
      begun.remove_prefix(comma + 1);
    }
  }
  if (option.suggestions_in && !typed.places.empty()) {
    for (std::string& value : option.suggestions_in(typed.places.front())) values.push_back(std::move(value));
  }
  out.are_files = is_path;
  for (const std::string& value : values) {
    if (value.starts_with(begun)) out.words.push_back({kept + value, ""});
  }
  return out;
}

Candidates option_names(const Typed& typed, std::string_view begun) {
  Candidates out;
  for (const Option& option : typed.options) {
    if (option.is_positional || option.is_hidden || !spelled(option).starts_with(begun)) continue;
    const bool repeats = std::holds_alternative<TextsValue>(option.value);
    const bool is_given = std::find(typed.given.begin(), typed.given.end(), &option) != typed.given.end();
    if (!is_given || repeats) out.words.push_back({spelled(option), option.help});
  }
  if (std::string_view("--help").starts_with(begun)) out.words.push_back({"--help", "print this help"});
  return out;
}

Candidates first_words(std::string_view begun) {
  Candidates out;
  for (const Command* command : commands()) {
    if (command->name.starts_with(begun))
      out.words.push_back({std::string(command->name), std::string(command->summary)});
  }
  for (const char* const option : {"--help", "--version"}) {
    if (begun.starts_with('-') && std::string_view(option).starts_with(begun))
      out.words.push_back({option, ""});
  }
  return out;
}

/// Bash splits '--a=b' into three words.
std::vector<std::string> joined_at_signs(std::span<const std::string> words) {
  std::vector<std::string> out;
  for (const std::string& word : words) {
    const bool goes_on =
        !out.empty() && out.back().starts_with("--") && (word == "=" || out.back().ends_with('='));
    if (goes_on) {
      out.back() += word;
    } else {
      out.push_back(word);
    }
  }
  return out;
}

}  // namespace

Candidates candidates(std::span<const std::string> typed_words) {
  const std::vector<std::string> words = joined_at_signs(typed_words);
  if (words.empty()) return {};
  const std::string& last = words.back();
  if (words.size() == 1) return first_words(last);
  const Command* const command = find_command(words.front());
  if (command == nullptr) return {};
  const Declared declared = command->declare();
  const std::span<const std::string> before = std::span(words).subspan(1, words.size() - 2);
  if (std::find(before.begin(), before.end(), ":::") != before.end()) return {{}, true};
  const Typed typed = read_line(declared.options, before);
  if (typed.awaits != nullptr) return values_of(*typed.awaits, typed, last, "");
  if (const std::size_t sign = last.find('='); last.starts_with("--") && sign != std::string::npos) {
    const Option* const option = option_called(declared.options, last.substr(0, sign));
    // For bash, the word starts after the '='.
    const bool is_split = typed_words.back() != last;
    return option == nullptr
               ? Candidates{}
               : values_of(*option, typed, last.substr(sign + 1), is_split ? "" : last.substr(0, sign + 1));
  }
  if (last.starts_with('-')) return option_names(typed, last);
  std::size_t place = typed.places.size();
  for (const Option& option : declared.options) {
    if (!option.is_positional) continue;
    if (place == 0 || std::holds_alternative<TextsValue>(option.value))
      return values_of(option, typed, last, "");
    --place;
  }
  return {};
}

std::string candidates_text(const Candidates& candidates, Shell shell) {
  std::string text = candidates.are_files ? "files\n" : "words\n";
  for (const auto& [word, help] : candidates.words) {
    if (word.find('\n') != std::string::npos) continue;  // no script here could distinguish it from two words
    switch (shell) {
      case Shell::kBash:
        text += quote::shell(word);
        break;
      case Shell::kZsh:  // word:help, a colon of the word escaped
        for (const char c : word) text += c == ':' || c == '\\' ? std::string("\\") + c : std::string(1, c);
        if (!help.empty()) text += ":" + help;
        break;
      case Shell::kFish:
        text += word + (help.empty() ? "" : "\t" + help);
        break;
    }
    text += '\n';
  }
  return text;
}

}  // namespace allot::app
