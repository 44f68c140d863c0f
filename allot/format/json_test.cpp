#include "allot/format/json.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace allot {
namespace {

TEST(Json, ALineHasNoBlanks) {
  const Json json =
      Json::object({{"a", 1},
                    {"b", Json::Array{1, 2.0, -0.0, 1e300, 0.1}},
                    {"c", Json::object({{"d", true}, {"e", Json::Array{Json::Array{}, nullptr}}})},
                    {"f", Json::object({})},
                    {"g", "h"}});
  EXPECT_EQ(json.line(),
            R"({"a":1,"b":[1,2.0,-0.0,1e+300,0.1],"c":{"d":true,"e":[[],null]},"f":{},"g":"h"})");
}

TEST(Json, ADocumentHasAFieldPerLine) {
  Json json;
  json.add("rows", Json::matrix({1, 2, 3, 4}, 2));
  json.add("inside", Json::object({{"a", 1}, {"b", "c"}}));
  EXPECT_EQ(json.text(), R"({
  "rows": [
    [1.0, 2.0],
    [3.0, 4.0]
  ],
  "inside": {"a": 1, "b": "c"}
}
)");
}

TEST(Json, WhatHasNoValueIsNull) {
  const Json::Array none{Json(), std::numeric_limits<double>::infinity(),
                         std::numeric_limits<double>::quiet_NaN(), std::optional<double>(),
                         std::optional<std::string>()};
  EXPECT_EQ(Json(none).line(), "[null,null,null,null,null]");
}

TEST(Json, LargeNumbersAreExact) {
  const Json::Array numbers{std::numeric_limits<std::uint64_t>::max(),
                            std::numeric_limits<std::int64_t>::min(), 1.0 / 3,
                            std::numeric_limits<double>::denorm_min()};
  EXPECT_EQ(Json(numbers).line(), "[18446744073709551615,-9223372036854775808,0.3333333333333333,5e-324]");
}

TEST(Json, TextIsEscapedAndBytesThatAreNotUtf8AreReplaced) {
  EXPECT_EQ(Json::object({{"ke\"y\n", "a\\b\x01\xff\xc3\xa9"}}).line(),
            "{\"ke\\\"y\\n\":\"a\\\\b\\u0001\xef\xbf\xbd\xc3\xa9\"}");
}

}  // namespace
}  // namespace allot
