#include "allot/ask/option.hpp"

#include <gmock/gmock.h>

namespace allot {
namespace {

enum class Colour { kRed, kGreen };

TEST(Option, KnowsItsDefaultFromWhereItsValueGoes) {
  bool flag = false;
  int whole = 20;
  double low = 0;
  double high = 1.5;
  std::optional<double> none;
  Colour colour = Colour::kGreen;
  std::string text = "exponential";
  std::optional<std::uint64_t> pilot;
  EXPECT_EQ(default_of(flag_option("x", flag, "")), "");
  EXPECT_EQ(default_of(whole_option("x", whole, 1, 100, "")), "20");
  EXPECT_EQ(default_of(whole_option("x", pilot, 0, 100, "auto", "")), "auto");
  EXPECT_EQ(default_of({"x", NumberValue{1e9, 1, nullptr}, ""}), "1e9");
  EXPECT_EQ(default_of(range_option("x", low, high, "")), "0,1.5");
  EXPECT_EQ(default_of(seconds_option("x", none, "")), "");
  EXPECT_EQ(default_of(seconds_option("x", none, "").unless_said("no limit")), "no limit");
  EXPECT_EQ(default_of(word_option("x", colour, {"red", "green"}, "")), "green");
  EXPECT_EQ(default_of(text_option("x", text, "")), "exponential");
}

TEST(Option, HandsItsValueToWhereItGoes) {
  std::uint32_t whole = 0;
  std::get<WholeValue>(whole_option("x", whole, 0, 9, "").value).set(7);
  EXPECT_EQ(whole, 7U);
  std::optional<Colour> colour;
  std::get<WordValue>(word_option("x", colour, {"red", "green"}, "").value).set(1);
  EXPECT_EQ(colour, Colour::kGreen);
  double low = 0;
  double high = 0;
  std::get<RangeValue>(range_option("x", low, high, "").value).set(1, 2);
  EXPECT_EQ(low, 1);
  EXPECT_EQ(high, 2);
}

TEST(Option, SaysWhatAValueMustBeAndSetsOnlyThat) {
  double number = 0;
  const auto set = [&](double value) { number = value; };
  EXPECT_EQ(put(NumberValue{{}, 1.5, set}, 1), "must be at least 1.5");
  EXPECT_EQ(put(SecondsValue{{}, false, set}, 0), "must be above 0");
  EXPECT_EQ(put(SecondsValue{{}, true, set}, -1), "must not be negative");
  EXPECT_EQ(put(PartValue{{}, false, set}, 0), "must be between 0 and 1");
  EXPECT_EQ(put(PartValue{{}, true, set}, 1), "must be from 0 to below 1");
  EXPECT_EQ(number, 0);
  EXPECT_EQ(put(PartValue{{}, true, set}, 0.5), "");
  EXPECT_EQ(number, 0.5);
  Colour colour = Colour::kRed;
  const Option word = word_option("x", colour, {"red", "green"}, "");
  EXPECT_EQ(put(std::get<WordValue>(word.value), "blue"), "must be red or green");
  EXPECT_EQ(put(std::get<WordValue>(word.value), "green"), "");
  EXPECT_EQ(colour, Colour::kGreen);
}

}  // namespace
}  // namespace allot
