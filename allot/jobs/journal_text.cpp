#include "allot/jobs/journal_text.hpp"

#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "allot/base/quote.hpp"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;  // fields stay in the order in which they are documented

class CsvRecord {
 public:
  CsvRecord& operator<<(std::string_view text) {
    next();
    out_ += quote::csv(text);
    return *this;
  }
  CsvRecord& operator<<(double value) { return number(value); }
  CsvRecord& operator<<(std::int64_t value) { return number(value); }
  CsvRecord& operator<<(int value) { return number(value); }
  CsvRecord& operator<<(const std::optional<int>& value) {
    if (value) return number(*value);
    next();
    return *this;
  }
  std::string text() && { return std::move(out_); }

 private:
  template <typename Number>
  CsvRecord& number(Number value) {
    next();
    char digits[32];
    out_.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
    return *this;
  }
  void next() {
    if (!is_first_) out_ += ',';
    is_first_ = false;
  }

  std::string out_;
  bool is_first_ = true;
};

}  // namespace

std::string attempt_json(const AttemptRow& attempt) {
  const auto maybe = [](const std::optional<int>& value) { return value ? Json(*value) : Json(nullptr); };
  Json object;
  object["sequence"] = attempt.sequence;
  object["run"] = attempt.run;
  object["task"] = attempt.task;
  object["type"] = attempt.type;
  object["resource"] = attempt.resource;
  object["slot"] = attempt.slot;
  object["attempt"] = attempt.attempt;
  object["status"] = to_string(attempt.status);
  object["exit"] = maybe(attempt.exit);
  object["signal"] = maybe(attempt.signal);
  object["start_unix"] = attempt.start_unix;
  object["queue_s"] = attempt.queue_s;
  object["wall_s"] = attempt.wall_s;
  object["user_s"] = attempt.user_s;
  object["sys_s"] = attempt.sys_s;
  object["maxrss_kb"] = attempt.maxrss_kb;
  object["counted"] = attempt.counted;
  object["final"] = attempt.is_final;
  object["error"] = attempt.error.empty() ? Json(nullptr) : Json(attempt.error);
  object["command"] = attempt.command;
  const auto path = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  object["stdout"] = path(attempt.out_file);
  object["stderr"] = path(attempt.err_file);
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string_view attempt_csv_header() noexcept {
  return "sequence,run,task,type,resource,slot,attempt,status,exit,signal,start_unix,queue_s,wall_s,user_s,"
         "sys_s,"
         "maxrss_kb,counted,final,error,command,stdout,stderr";
}

std::string attempt_csv(const AttemptRow& attempt) {
  CsvRecord record;
  record << attempt.sequence << attempt.run << attempt.task << attempt.type << attempt.resource
         << attempt.slot << attempt.attempt << to_string(attempt.status) << attempt.exit << attempt.signal
         << attempt.start_unix << attempt.queue_s << attempt.wall_s << attempt.user_s << attempt.sys_s
         << attempt.maxrss_kb << (attempt.counted ? "true" : "false") << (attempt.is_final ? "true" : "false")
         << attempt.error << attempt.command << attempt.out_file << attempt.err_file;
  return std::move(record).text();
}

}  // namespace allot
