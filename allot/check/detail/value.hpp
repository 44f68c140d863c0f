// A JSON document for the readers of certificates: every value knows its place, and errors name the place.
#pragma once

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace allot::check::detail {

using Json = nlohmann::json;

/// The largest count in a certificate, the same as in scenario files.
inline constexpr std::int64_t kMostTasks = 1'000'000'000;

class Problem : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A value of the file and its place.
class Value {
 public:
  Value(const Json& json, std::string path) : json_(json), path_(std::move(path)) {}

  [[noreturn]] void fail(const std::string& what) const { throw Problem(path_ + ": " + what); }
  bool has(const char* key) const { return json_.is_object() && json_.contains(key); }
  Value operator[](const char* key) const {
    if (!json_.is_object()) fail("must be an object");
    if (!json_.contains(key)) fail(std::string("'") + key + "' is missing");
    return {json_.at(key), path_ + "." + key};
  }
  /// An array of `size` elements, each read by `read`.
  template <typename Read>
  auto list(Read&& read, std::optional<std::size_t> size = {}) const {
    if (!json_.is_array()) fail("must be an array");
    if (size && json_.size() != *size) {
      fail("must have " + std::to_string(*size) + " elements, has " + std::to_string(json_.size()));
    }
    std::vector<decltype(read(std::declval<Value>()))> result;
    for (std::size_t at = 0; at < json_.size(); ++at) {
      result.push_back(read(Value(json_[at], path_ + "[" + std::to_string(at) + "]")));
    }
    return result;
  }
  std::string text() const {
    if (!json_.is_string()) fail("must be a string");
    return json_.get<std::string>();
  }
  bool truth() const {
    if (!json_.is_boolean()) fail("must be true or false");
    return json_.get<bool>();
  }
  double number() const {
    if (!json_.is_number() || !std::isfinite(json_.get<double>())) fail("must be a finite number");
    return json_.get<double>();
  }
  double not_negative() const {
    const double value = number();
    if (value < 0) fail("must not be negative");
    return value;
  }
  std::int64_t whole(std::int64_t least, std::int64_t most) const {
    const bool fits = json_.is_number_integer() &&
                      (!json_.is_number_unsigned() || json_.get<std::uint64_t>() <= std::uint64_t{INT64_MAX});
    if (!fits || json_.get<std::int64_t>() < least || json_.get<std::int64_t>() > most) {
      fail("must be a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    }
    return json_.get<std::int64_t>();
  }

 private:
  const Json& json_;
  std::string path_;
};

/// The result of `read` for the text of a certificate, or none and the problem. `Answer` is constructed from
/// both.
template <typename Answer, typename Read>
Answer read_text(std::string_view text, const Read& read) {
  try {
    const Json json = Json::parse(text);
    const Value root(json, "certificate");
    if (root["allot_certificate"].whole(0, 1000) != 1) root["allot_certificate"].fail("must be 1");
    return {read(root), {}};
  } catch (const Problem& problem) {
    return {std::nullopt, problem.what()};
  } catch (const Json::exception& problem) {
    // "[json.exception.parse_error.101] parse error at ...": without the name that the library gives it.
    const std::string_view what = problem.what();
    const std::size_t name = what.find("] ");
    return {std::nullopt, "not valid JSON: " + std::string(what.substr(name == what.npos ? 0 : name + 2))};
  }
}

}  // namespace allot::check::detail
