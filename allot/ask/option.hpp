// An option of a question: its name, the kind of its value, its default and a line of help. Command lines,
// Python calls, pages and the reference are generated from these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "allot/model/assignment.hpp"

namespace allot {

// ---- kinds of values: each passes the given value to the question

/// Yes or no.
struct FlagValue {
  bool initial = false;
  std::function<void(bool)> set;
  /// For a flag that is on by default: the name of the command-line option that turns it off.
  std::string_view off = {};
};

/// A whole number from `least` to `most`.
struct WholeValue {
  std::optional<std::uint64_t> initial;
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  std::function<void(std::uint64_t)> set;
  /// A word that may be given instead; nothing is set then: `auto`.
  std::string_view otherwise = {};
};

/// A number of at least `least`.
struct NumberValue {
  std::optional<double> initial;
  double least = 0;
  std::function<void(double)> set;
};

/// Two numbers.
struct RangeValue {
  std::pair<double, double> initial;
  std::function<void(double, double)> set;
};

/// A time above 0, or 0 if that is allowed. A command line also accepts units.
struct SecondsValue {
  std::optional<double> initial;
  bool may_be_zero = false;
  std::function<void(double)> set;
  std::function<void()> clear = {};  ///< called for "no time"; null: a time is required
};

/// A part between 0 and 1; 0 only if that is allowed. A command line also accepts percent.
struct PartValue {
  std::optional<double> initial;
  bool may_be_zero = false;
  std::function<void(double)> set;
};

/// One of a few words, by its position.
struct WordValue {
  std::optional<std::size_t> initial;
  std::vector<std::string_view> words;
  std::function<void(std::size_t)> set;
};

/// A text. An error that `set` throws as InvalidModel names the option.
struct TextValue {
  std::string initial;
  std::function<void(std::string)> set;
  bool is_path = false;    ///< the name of a file
  bool is_output = false;  ///< the file is written
  /// The name of a policy; a caller with functions may pass one instead.
  bool is_policy = false;
};

/// Several texts: as a repeated option on a command line, or as one value with commas.
struct TextsValue {
  std::function<void(std::vector<std::string>)> set;
  bool has_commas = false;
  bool are_policies = false;  ///< as in TextValue
};

/// An assignment for the scenario of the question: a matrix, or a file with one.
struct AssignmentValue {
  std::optional<Assignment>* target;
};

/// The probability of each resource for each type, row-major: a matrix, or a file with one.
struct ProbabilitiesValue {
  std::vector<double>* target;
};

using OptionValue = std::variant<FlagValue, WholeValue, NumberValue, RangeValue, SecondsValue, PartValue,
                                 WordValue, TextValue, TextsValue, AssignmentValue, ProbabilitiesValue>;

/// Passes a value to the question if it is right. If not, says what it must be: "must be above 0".
std::string put(const NumberValue& option, double number);
std::string put(const SecondsValue& option, double seconds);
std::string put(const PartValue& option, double part);
std::string put(const WordValue& option, std::string_view word);

// ---- options

struct Option {
  std::string name;  ///< in Python and on pages; a command line uses hyphens
  OptionValue value;
  std::string help;              ///< one line, without the default
  std::string absent = {};       ///< the meaning of an absent option, in words; empty: the initial value
  std::string placeholder = {};  ///< of the value in the usage; by default that of its kind
  std::string group = {};        ///< heading in the help; by default the general one
  std::string letter = {};       ///< its short name on a command line
  std::string old_name = {};     ///< still accepted, but not shown in the help
  bool is_required = false;
  bool is_positional = false;
  bool is_leading = false;  ///< may be passed by position in Python
  bool is_hidden = false;
  /// False: only for callers with files and threads, which a page does not have.
  bool is_for_page = true;
  /// False: only for programs, not for command lines.
  bool is_for_command = true;
  std::string excludes = {};  ///< another option that cannot be given with it
  /// For completion: suggested values, in addition to the words of a WordValue; other values are accepted,
  /// too.
  std::vector<std::string> suggestions = {};
  /// More of them, depending on the first file that is named on the command line.
  std::function<std::vector<std::string>(const std::string&)> suggestions_in = {};

  // For tables: each sets one more property of an option.
  Option&& unless_said(std::string what) && { return absent = std::move(what), std::move(*this); }
  Option&& shown_as(std::string what) && { return placeholder = std::move(what), std::move(*this); }
  Option&& under(std::string heading) && { return group = std::move(heading), std::move(*this); }
  Option&& with_letter(std::string short_name) && { return letter = std::move(short_name), std::move(*this); }
  Option&& once_called(std::string name_before) && {
    return old_name = std::move(name_before), std::move(*this);
  }
  Option&& required() && { return is_required = true, std::move(*this); }
  Option&& leading() && { return is_leading = true, std::move(*this); }
  Option&& positional() && { return is_positional = true, std::move(*this); }
  Option&& hidden() && { return is_hidden = true, std::move(*this); }
  Option&& not_for_pages() && { return is_for_page = false, std::move(*this); }
  Option&& not_for_commands() && { return is_for_command = false, std::move(*this); }
  Option&& suggesting(std::vector<std::string> values) && {
    return suggestions = std::move(values), std::move(*this);
  }
  Option&& suggesting_in(std::function<std::vector<std::string>(const std::string&)> values) && {
    return suggestions_in = std::move(values), std::move(*this);
  }
  Option&& not_with(std::string other) && { return excludes = std::move(other), std::move(*this); }
};

/// The default of the option, such as "10" or "no limit"; empty: none.
std::string default_of(const Option& option);

/// The names of the entries of a table of built-ins, as suggestions.
template <typename Table>
std::vector<std::string> names_in(const Table& table) {
  std::vector<std::string> names;
  for (const auto* entry : table) names.emplace_back(entry->name);
  return names;
}

// ---- for tables: the target holds the default, and must outlive the option

Option flag_option(std::string name, bool& target, std::string help);

template <typename Target>
Option whole_option(std::string name, Target& target, std::uint64_t least, std::uint64_t most,
                    std::string help) {
  return {std::move(name),
          WholeValue{static_cast<std::uint64_t>(target), least, most,
                     [&target](std::uint64_t value) { target = static_cast<Target>(value); }},
          std::move(help)};
}
Option whole_option(std::string name, std::optional<std::uint64_t>& target, std::uint64_t least,
                    std::uint64_t most, std::string_view otherwise, std::string help);

Option range_option(std::string name, double& low, double& high, std::string help);

Option seconds_option(std::string name, double& target, std::string help, bool may_be_zero = false);
Option seconds_option(std::string name, std::optional<double>& target, std::string help);

Option part_option(std::string name, double& target, std::string help, bool may_be_zero = false);
Option part_option(std::string name, std::optional<double>& target, std::string help);

/// The enumerators of `Target`, in the order of the words.
template <typename Target>
Option word_option(std::string name, Target& target, std::vector<std::string_view> words, std::string help) {
  return {std::move(name),
          WordValue{static_cast<std::size_t>(target), std::move(words),
                    [&target](std::size_t at) { target = static_cast<Target>(at); }},
          std::move(help)};
}
template <typename Target>
Option word_option(std::string name, std::optional<Target>& target, std::vector<std::string_view> words,
                   std::string help) {
  std::optional<std::size_t> initial;
  if (target) initial = static_cast<std::size_t>(*target);
  return {
      std::move(name),
      WordValue{initial, std::move(words), [&target](std::size_t at) { target = static_cast<Target>(at); }},
      std::move(help)};
}

Option text_option(std::string name, std::string& target, std::string help);
Option input_option(std::string name, std::string& target, std::string help);   ///< a file to read
Option output_option(std::string name, std::string& target, std::string help);  ///< a file to write
Option texts_option(std::string name, std::vector<std::string>& target, std::string help);

}  // namespace allot
