#include "apps/allot/options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "allot/base/error.hpp"
#include "allot/base/numbers.hpp"
#include "allot/base/words.hpp"
#include "allot/format/duration.hpp"
#include "apps/allot/exit.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app {
namespace {

/// Seconds of `90`, `10m`, `1.5h`, `500ms`, `0` or `-1`.
double parse_seconds(const std::string& option, const std::string& text) {
  if (const auto seconds = parse_duration(text)) return *seconds;
  double value = -1;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc{} && value == 0 && (at == end || parse_duration("1" + std::string(at, end))))
    return 0;
  if (error == std::errc{} && at == end && value < 0) return value;
  throw OptionError(
      option,
      "needs a time, in seconds or such as '500ms', '90s', '10m', '1.5h' or '1d', not " + in_quotes(text));
}

constexpr std::string_view kOtherSeparators = " ;|/+";

/// Names separated by commas. 'map jsq' and 'map;jsq' look like two names to people, but are an error here.
std::vector<std::string> parse_list(const std::string& option, std::string_view text) {
  std::vector<std::string> names;
  if (text.empty()) return names;
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    std::string_view name = text.substr(0, comma);
    more = comma != std::string_view::npos;
    text.remove_prefix(more ? comma + 1 : text.size());
    const std::size_t first = std::min(name.find_first_not_of(' '), name.size());
    name = name.substr(first, name.find_last_not_of(' ') + 1 - first);
    if (name.find_first_of(kOtherSeparators) != std::string_view::npos) {
      std::string meant;
      for (const char c : name) {
        const bool separates = kOtherSeparators.find(c) != std::string_view::npos;
        if (!separates)
          meant += c;
        else if (!meant.empty() && !meant.ends_with(','))
          meant += ',';
      }
      throw OptionError(option, "commas separate the names: " + meant + ", not " + in_quotes(name));
    }
    names.emplace_back(name);
  }
  return names;
}

struct Setter {
  std::string option;
  const std::vector<std::string>& words;
  const std::string& text = words.front();

  void check(const std::string& problem, const std::string& advice = {}) const {
    if (!problem.empty()) throw OptionError(option, problem + ", is " + in_quotes(text) + advice);
  }

  void operator()(const FlagValue& value) const { value.set(value.off.empty()); }
  void operator()(const WholeValue& value) const {
    if (value.otherwise.empty() || text != value.otherwise)
      value.set(parse_whole(option, text, value.least, value.most));
  }
  void operator()(const NumberValue& value) const { check(put(value, parse_number(option, text))); }
  void operator()(const RangeValue& value) const {
    const std::size_t comma = text.find(',');
    if (comma == std::string::npos) {
      throw OptionError(option, "needs two numbers with a comma between, as in 1,10, not " + in_quotes(text));
    }
    value.set(parse_number(option, text.substr(0, comma)), parse_number(option, text.substr(comma + 1)));
  }
  void operator()(const SecondsValue& value) const { check(put(value, parse_seconds(option, text))); }
  void operator()(const PartValue& value) const {
    const bool is_percent = text.ends_with('%');
    const double number = parse_number(option, is_percent ? text.substr(0, text.size() - 1) : text);
    check(put(value, is_percent ? number / 100 : number),
          number >= 1 && number < 100 && !is_percent ? "; for percent write '" + text + "%'" : "");
  }
  void operator()(const WordValue& value) const { check(put(value, text)); }
  void operator()(const TextValue& value) const { value.set(text); }
  void operator()(const TextsValue& value) const {
    value.set(value.has_commas ? parse_list(option, text) : words);
  }
  // Read together with the scenario: see asking.hpp.
  void operator()(const AssignmentValue&) const {}
  void operator()(const ProbabilitiesValue&) const {}
};

struct Placeholder {
  std::string operator()(const FlagValue&) const { return {}; }
  std::string operator()(const WholeValue& value) const {
    return value.otherwise.empty() ? "N" : "N|" + std::string(value.otherwise);
  }
  std::string operator()(const NumberValue&) const { return "N"; }
  std::string operator()(const RangeValue&) const { return "A,B"; }
  std::string operator()(const SecondsValue&) const { return "TIME"; }
  std::string operator()(const PartValue&) const { return "P"; }
  std::string operator()(const WordValue& value) const {
    std::string text;
    for (const std::string_view word : value.words) text += (text.empty() ? "" : "|") + std::string(word);
    return text;
  }
  std::string operator()(const TextValue& value) const { return value.is_path ? "PATH" : "TEXT"; }
  std::string operator()(const auto&) const { return "TEXT"; }
};

}  // namespace

double parse_number(const std::string& option, const std::string& text) {
  const auto value = number_in<double>(text);
  if (!value || !std::isfinite(*value)) throw OptionError(option, "needs a number, not " + in_quotes(text));
  return *value;
}

std::uint64_t parse_whole(const std::string& option, const std::string& text, std::uint64_t least,
                          std::uint64_t most) {
  const auto value = number_in<std::uint64_t>(text);
  if (!value || *value < least || *value > most) {
    const std::string range = most == std::numeric_limits<std::uint64_t>::max()
                                  ? "of at least " + std::to_string(least)
                                  : "from " + std::to_string(least) + " to " + std::to_string(most);
    throw OptionError(option, "needs a whole number " + range + ", not " + in_quotes(text));
  }
  return *value;
}

std::string spelled(const Option& option) {
  if (option.is_positional) return option.name;
  const auto* const flag = std::get_if<FlagValue>(&option.value);
  std::string name = flag != nullptr && !flag->off.empty() ? std::string(flag->off) : option.name;
  std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

std::string placeholder(const Option& option) {
  return option.placeholder.empty() ? std::visit(Placeholder{}, option.value) : option.placeholder;
}

void set_option(const Option& option, const std::vector<std::string>& words) {
  try {
    std::visit(Setter{spelled(option), words}, option.value);
  } catch (const InvalidModel& error) {
    const std::string problem = error.what();
    // The error concerns the option itself, or a file that its value names.
    if (error.field() == option.name)
      throw OptionError(spelled(option), problem.substr(error.field().size() + 2));
    if (error.field().find(':') != std::string::npos)
      throw Failure(Exit::kInvalidInput, spelled(option) + ": " + shown(problem));
    throw OptionError(spelled(option), problem);
  }
}

Option json_option(bool& json) { return flag_option("json", json, "one JSON document instead of text"); }

Option seed_option(std::uint64_t& seed) {
  return whole_option("seed", seed, 0, std::numeric_limits<std::uint64_t>::max(),
                      "random seed; the same seed gives the same result")
      .with_letter("s");
}

}  // namespace allot::app
