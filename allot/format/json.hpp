// JSON output: results as trees of values, and their text.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "allot/base/statistics.hpp"
#include "allot/model/assignment.hpp"

namespace allot {

/// A value of JSON. Numbers that are not finite become null; fields keep the order in which they were added.
class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;

  Json(std::nullptr_t = nullptr) {}
  Json(bool value) : content_(value) {}
  Json(double value);
  template <std::signed_integral Whole>
  Json(Whole value) : content_(std::int64_t{value}) {}
  template <std::unsigned_integral Whole>
  requires(!std::same_as<Whole, bool>) Json(Whole value) : content_(std::uint64_t{value}) {}
  Json(std::string text) : content_(std::move(text)) {}
  Json(std::string_view text) : Json(std::string(text)) {}
  Json(const char* text) : Json(std::string(text)) {}
  template <typename Value>
  Json(const std::optional<Value>& value) : Json(value ? Json(*value) : Json()) {}
  template <typename Value>
  Json(const std::vector<Value>& values) : Json(Array(values.begin(), values.end())) {}
  Json(Array elements) : content_(std::move(elements)) {}
  /// A row for each task type.
  Json(const Assignment& assignment);
  Json(const Estimate& value) : Json(object({{"mean", value.mean}, {"half_width", value.half_width}})) {}
  /// Rows with this many columns.
  static Json matrix(const std::vector<double>& values, std::size_t columns);
  static Json object(Object fields) {
    Json object;
    object.content_ = std::move(fields);
    return object;
  }
  /// The names of the entries.
  template <typename Entry>
  static Json names(const std::vector<Entry>& entries) {
    Array array;
    for (const Entry& entry : entries) array.emplace_back(entry.name);
    return array;
  }

  /// Appends a field to an object, or an element to an array. A null becomes either.
  void add(std::string_view key, Json value);
  void add(Json element);
  bool is_null() const noexcept { return content_.index() == 0; }

  /// One document in UTF-8, laid out for reading (a field per line, a matrix row per line), ending in a
  /// newline. Numbers are exact: the shortest text that reads back as the same double.
  std::string text() const;
  /// The same on one line, without blanks and without a newline: {"a":1,"b":[1,2.0]}.
  std::string line() const;

 private:
  static constexpr std::size_t kOneLine = static_cast<std::size_t>(-1);

  /// Indented this far, or kOneLine.
  void lay_out(std::size_t indent, std::string& out) const;

  std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, Array, Object>
      content_;
};

}  // namespace allot
