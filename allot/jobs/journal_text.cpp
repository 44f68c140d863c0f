#include "allot/jobs/journal_text.hpp"

#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>

#include "allot/base/quote.hpp"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;  // fields stay in the order in which they are documented

/// Absent where there is nothing: null in JSON.
std::optional<std::string> maybe(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

/// Calls `visit` with the name and the value of every column, in their order.
void for_each_column(const AttemptRow& attempt, const auto& visit) {
  visit("sequence", attempt.sequence);
  visit("run", attempt.run);
  visit("task", attempt.task);
  visit("type", attempt.type);
  visit("resource", attempt.resource);
  visit("slot", attempt.slot);
  visit("attempt", attempt.attempt);
  visit("status", to_string(attempt.status));
  visit("exit", attempt.exit);
  visit("signal", attempt.signal);
  visit("start_unix", attempt.start_unix);
  visit("queue_s", attempt.queue_s);
  visit("wall_s", attempt.wall_s);
  visit("user_s", attempt.user_s);
  visit("sys_s", attempt.sys_s);
  visit("maxrss_kb", attempt.maxrss_kb);
  visit("counted", attempt.counted);
  visit("final", attempt.is_final);
  visit("error", maybe(attempt.error));
  visit("command", attempt.command);
  visit("stdout", maybe(attempt.out_file));
  visit("stderr", maybe(attempt.err_file));
}

std::string csv(std::string_view text) { return quote::csv(text); }
std::string csv(bool value) { return value ? "true" : "false"; }
template <typename Number>
std::string csv(Number value) requires std::is_arithmetic_v<Number> {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}
template <typename Value>
std::string csv(const std::optional<Value>& value) {
  return value ? csv(*value) : "";
}

}  // namespace

std::string attempt_json(const AttemptRow& attempt) {
  Json object;
  for_each_column(attempt, [&]<typename Value>(const char* name, const Value& value) {
    if constexpr (requires { value.has_value(); }) {
      object[name] = value ? Json(*value) : Json(nullptr);
    } else {
      object[name] = value;
    }
  });
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string attempt_csv_header() {
  std::string header;
  for_each_column(
      {}, [&](const char* name, const auto&) { header += (header.empty() ? "" : ",") + std::string(name); });
  return header;
}

std::string attempt_csv(const AttemptRow& attempt) {
  std::string record;
  for_each_column(attempt, [&](const char*, const auto& value) {
    record += (record.empty() ? "" : ",") + csv(value);  // the first is a number, never empty
  });
  return record;
}

}  // namespace allot
