#include "allot/ask/option.hpp"

#include <algorithm>

#include "allot/base/numbers.hpp"
#include "allot/base/words.hpp"

namespace allot {
namespace {

/// The shortest text that reads back as the same number.
std::string text_of(double value) {
  std::string text = exact_text(value);
  for (const auto& [long_form, short_form] :
       {std::pair("e+0", "e"), std::pair("e+", "e"), std::pair("e-0", "e-")}) {
    if (const std::size_t at = text.find(long_form); at != std::string::npos)
      return text.replace(at, std::string_view(long_form).size(), short_form);
  }
  return text;
}

struct DefaultText {
  std::string operator()(const FlagValue&) const { return {}; }
  std::string operator()(const WholeValue& value) const {
    return value.initial ? std::to_string(*value.initial) : std::string(value.otherwise);
  }
  std::string operator()(const NumberValue& value) const { return of(value.initial); }
  std::string operator()(const RangeValue& value) const {
    return text_of(value.initial.first) + "," + text_of(value.initial.second);
  }
  std::string operator()(const SecondsValue& value) const {
    return value.initial ? of(value.initial) + "s" : std::string();
  }
  std::string operator()(const PartValue& value) const { return of(value.initial); }
  std::string operator()(const WordValue& value) const {
    return value.initial ? std::string(value.words[*value.initial]) : std::string();
  }
  std::string operator()(const TextValue& value) const { return value.initial; }
  std::string operator()(const auto&) const { return {}; }

  static std::string of(const std::optional<double>& value) {
    return value ? text_of(*value) : std::string();
  }
};

std::string put_if(bool is_right, const auto& option, double number, std::string wanted) {
  if (is_right) option.set(number);
  return is_right ? std::string() : std::move(wanted);
}

}  // namespace

std::string put(const NumberValue& option, double number) {
  return put_if(number >= option.least, option, number, "must be at least " + text_of(option.least));
}

std::string put(const SecondsValue& option, double seconds) {
  const bool zero = option.may_be_zero;
  return put_if(zero ? seconds >= 0 : seconds > 0, option, seconds,
                zero ? "must not be negative" : "must be above 0");
}

std::string put(const PartValue& option, double part) {
  const bool zero = option.may_be_zero;
  return put_if((zero ? part >= 0 : part > 0) && part < 1, option, part,
                zero ? "must be from 0 to below 1" : "must be between 0 and 1");
}

std::string put(const WordValue& option, std::string_view word) {
  const auto found = std::find(option.words.begin(), option.words.end(), word);
  if (found == option.words.end())
    return "must be " + alternatives(std::vector<std::string>(option.words.begin(), option.words.end()));
  option.set(static_cast<std::size_t>(found - option.words.begin()));
  return {};
}

std::string default_of(const Option& option) {
  return option.absent.empty() ? std::visit(DefaultText{}, option.value) : option.absent;
}

Option flag_option(std::string name, bool& target, std::string help) {
  return {std::move(name), FlagValue{target, [&target](bool value) { target = value; }}, std::move(help)};
}

Option whole_option(std::string name, std::optional<std::uint64_t>& target, std::uint64_t least,
                    std::uint64_t most, std::string_view otherwise, std::string help) {
  return {std::move(name),
          WholeValue{target, least, most, [&target](std::uint64_t value) { target = value; }, otherwise},
          std::move(help)};
}

Option range_option(std::string name, double& low, double& high, std::string help) {
  const auto set = [&low, &high](double from, double to) {
    low = from;
    high = to;
  };
  return {std::move(name), RangeValue{{low, high}, set}, std::move(help)};
}

Option seconds_option(std::string name, double& target, std::string help, bool may_be_zero) {
  return {std::move(name), SecondsValue{target, may_be_zero, [&target](double value) { target = value; }},
          std::move(help)};
}

Option seconds_option(std::string name, std::optional<double>& target, std::string help) {
  return {
      std::move(name),
      SecondsValue{target, false, [&target](double value) { target = value; }, [&target] { target.reset(); }},
      std::move(help)};
}

Option part_option(std::string name, double& target, std::string help, bool may_be_zero) {
  return {std::move(name), PartValue{target, may_be_zero, [&target](double value) { target = value; }},
          std::move(help)};
}

Option part_option(std::string name, std::optional<double>& target, std::string help) {
  return {std::move(name), PartValue{target, false, [&target](double value) { target = value; }},
          std::move(help)};
}

Option text_option(std::string name, std::string& target, std::string help) {
  return {std::move(name), TextValue{target, [&target](std::string value) { target = std::move(value); }},
          std::move(help)};
}

Option input_option(std::string name, std::string& target, std::string help) {
  Option option = text_option(std::move(name), target, std::move(help));
  std::get<TextValue>(option.value).is_path = true;
  return option;
}

Option output_option(std::string name, std::string& target, std::string help) {
  Option option = input_option(std::move(name), target, std::move(help));
  std::get<TextValue>(option.value).is_output = true;
  return option;
}

Option texts_option(std::string name, std::vector<std::string>& target, std::string help) {
  const auto set = [&target](std::vector<std::string> values) { target = std::move(values); };
  return {std::move(name), TextsValue{set}, std::move(help)};
}

}  // namespace allot
