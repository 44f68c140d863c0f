#include "allot/jobs/journal_text.hpp"

#include <optional>
#include <type_traits>

#include "allot/base/numbers.hpp"
#include "allot/base/quote.hpp"
#include "allot/format/json.hpp"

namespace allot {
namespace {

/// Absent if empty: null in JSON.
std::optional<std::string> maybe(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

template <typename Value, typename... More>
void visit_all(const auto& visit, const char* name, const Value& value, const More&... more) {
  visit(name, value);
  if constexpr (sizeof...(more) > 0) visit_all(visit, more...);
}

/// Calls `visit` with the name and value of every column, in order.
void for_each_column(const AttemptRow& a, const auto& visit) {
  visit_all(visit, "sequence", a.sequence, "run", a.run, "task", a.task, "type", a.type, "resource",
            a.resource, "slot", a.slot, "attempt", a.attempt, "status", to_string(a.status), "exit", a.exit,
            "signal", a.signal, "start_unix", a.start_unix, "queue_s", a.queue_s, "wall_s", a.wall_s,
            "user_s", a.user_s, "sys_s", a.sys_s, "maxrss_kb", a.maxrss_kb, "counted", a.counted, "final",
            a.is_final, "error", maybe(a.error), "command", a.command, "stdout", maybe(a.out_file), "stderr",
            maybe(a.err_file));
}

std::string csv(std::string_view text) { return quote::csv(text); }
std::string csv(bool value) { return value ? "true" : "false"; }
template <typename Number>
std::string csv(Number value) requires std::is_arithmetic_v<Number> {
  return exact_text(value);
}
template <typename Value>
std::string csv(const std::optional<Value>& value) {
  return value ? csv(*value) : "";
}

}  // namespace

std::string attempt_json(const AttemptRow& attempt) {
  Json object;
  for_each_column(attempt, [&](const char* name, const auto& value) { object.add(name, value); });
  return object.line();
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
    record += (record.empty() ? "" : ",") + csv(value);  // the first column is a number, so the record is
                                                         // never empty after it
  });
  return record;
}

}  // namespace allot
