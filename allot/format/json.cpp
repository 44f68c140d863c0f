#include "allot/format/json.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>

namespace allot {
namespace {

/// Numbers and texts as the library for JSON writes them. Bytes that are not UTF-8 are replaced.
template <typename Plain>
std::string plain_text(const Plain& value) {
  return nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

Json::Json(double value) {
  if (std::isfinite(value)) content_ = value;
}

Json::Json(const Assignment& assignment) : content_(Array()) {
  for (std::size_t i = 0; i < assignment.types(); ++i) {
    Array row;
    for (std::size_t j = 0; j < assignment.resources(); ++j)
      row.emplace_back(assignment(task_type(i), resource_id(j)));
    add(std::move(row));
  }
}

Json Json::matrix(const std::vector<double>& values, std::size_t columns) {
  Array rows;
  for (auto at = values.begin(); at != values.end(); at += static_cast<std::ptrdiff_t>(columns))
    rows.emplace_back(Array(at, at + static_cast<std::ptrdiff_t>(columns)));
  return rows;
}

void Json::add(std::string_view key, Json value) {
  if (is_null()) content_ = Object();
  std::get<Object>(content_).emplace_back(key, std::move(value));
}

void Json::add(Json element) {
  if (is_null()) content_ = Array();
  std::get<Array>(content_).push_back(std::move(element));
}

std::string Json::text() const {
  std::string out;
  lay_out(0, out);
  return out += '\n';
}

std::string Json::line() const {
  std::string out;
  lay_out(kOneLine, out);
  return out;
}

/// A field per line; a container of plain values only stays on one line.
void Json::lay_out(std::size_t indent, std::string& out) const {
  const bool is_line = indent == kOneLine;
  const auto is_plain = [](const Json& value) { return value.content_.index() < 6; };
  const auto lay_out_all = [&](const auto& entries, char open, char close, auto value_of, auto key_of) {
    const bool is_short =
        is_line || (indent > 0 && std::all_of(entries.begin(), entries.end(),
                                              [&](const auto& entry) { return is_plain(value_of(entry)); }));
    const std::string line = is_short ? "" : "\n" + std::string(indent, ' ');
    out += open;
    std::string_view separator;
    for (const auto& entry : entries) {
      out += separator;
      separator = is_short && !is_line ? ", " : ",";
      if (!is_short) out += line + "  ";
      out += key_of(entry);
      value_of(entry).lay_out(is_line ? kOneLine : indent + 2, out);
    }
    if (!is_short) out += line;
    out += close;
  };
  std::visit(
      [&](const auto& value) {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, Array>) {
          lay_out_all(
              value, '[', ']', [](const Json& element) -> const Json& { return element; },
              [](const Json&) { return std::string(); });
        } else if constexpr (std::is_same_v<Value, Object>) {
          lay_out_all(
              value, '{', '}', [](const auto& field) -> const Json& { return field.second; },
              [&](const auto& field) { return plain_text(field.first) + (is_line ? ":" : ": "); });
        } else {
          out += plain_text(value);
        }
      },
      content_);
}

}  // namespace allot
