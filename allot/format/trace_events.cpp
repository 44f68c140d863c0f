#include "allot/format/trace_events.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "allot/format/json.hpp"

namespace allot {
namespace {

constexpr double kLastSecond = 9e9;  // in the year 2255; in nanoseconds it fits

/// Microseconds, with the nanoseconds as decimals.
std::string microseconds(std::int64_t ns) {
  const std::string part = std::to_string(1000 + ns % 1000);
  return std::to_string(ns / 1000) + "." + part.substr(1);
}

/// One event per line, with commas between them.
class EventList {
 public:
  EventList() { text_ = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n"; }
  /// `rest`: fields, as text.
  void add(std::string_view phase, std::size_t process, std::size_t thread, const std::string& name,
           std::string_view rest) {
    if (!is_first_) text_ += ",\n";
    is_first_ = false;
    text_.append("{\"ph\": \"").append(phase).append("\", \"pid\": ").append(std::to_string(process));
    text_.append(", \"tid\": ")
        .append(std::to_string(thread))
        .append(", \"name\": ")
        .append(Json(name).line());
    text_.append(rest).append("}");
  }
  std::string end() && { return std::move(text_) + "\n]}\n"; }

 private:
  std::string text_;
  bool is_first_ = true;
};

std::string named(const std::string& name) { return ", \"args\": {\"name\": " + Json(name).line() + "}"; }
std::string sorted_at(std::size_t place) {
  return ", \"args\": {\"sort_index\": " + std::to_string(place) + "}";
}

}  // namespace

std::int64_t trace_time(double seconds) noexcept {
  if (!(seconds > 0)) return 0;  // also for NaN
  return static_cast<std::int64_t>(std::min(seconds, kLastSecond) * 1e9);
}

void keep_apart(std::vector<TraceSlice>& slices) {
  std::stable_sort(slices.begin(), slices.end(), [](const TraceSlice& a, const TraceSlice& b) {
    return std::tie(a.process, a.slot, a.start_ns) < std::tie(b.process, b.slot, b.start_ns);
  });
  for (std::size_t k = 0; k < slices.size(); ++k) {
    TraceSlice& slice = slices[k];
    slice.end_ns = std::max(slice.end_ns, slice.start_ns);
    if (k + 1 == slices.size()) continue;
    const TraceSlice& next = slices[k + 1];
    if (next.process == slice.process && next.slot == slice.slot)
      slice.end_ns = std::min(slice.end_ns, next.start_ns);
  }
}

std::size_t TraceEvents::add_process(std::string name) {
  processes_.push_back(std::move(name));
  return processes_.size() - 1;
}

std::size_t TraceEvents::add_counter(std::size_t process, std::string name) {
  counters_.push_back({process, std::move(name), {}});
  return counters_.size() - 1;
}

void TraceEvents::moment(std::size_t process, std::int64_t at_ns, std::string name, std::string arguments) {
  moments_.push_back({process, at_ns, std::move(name), std::move(arguments)});
}

void TraceEvents::count(std::size_t counter, std::int64_t at_ns, std::int64_t change) {
  counters_[counter].changes[at_ns] += change;
}

std::string TraceEvents::json(std::vector<TraceSlice> slices, std::int64_t origin_ns) const {
  keep_apart(slices);
  EventList events;
  // Numbers start at 1: viewers treat process and thread 0 as the system's own.
  for (std::size_t p = 0; p < processes_.size(); ++p) {
    events.add("M", p + 1, 0, "process_name", named(processes_[p]));
    events.add("M", p + 1, 0, "process_sort_index", sorted_at(p));
  }
  const auto time = [&](std::int64_t at_ns) {
    return microseconds(std::max<std::int64_t>(at_ns - origin_ns, 0));
  };
  std::size_t thread = 0;
  for (std::size_t k = 0; k < slices.size(); ++k) {
    const TraceSlice& slice = slices[k];
    if (k == 0 || slices[k - 1].process != slice.process || slices[k - 1].slot != slice.slot) {
      ++thread;
      events.add("M", slice.process + 1, thread, "thread_name",
                 named(processes_[slice.process] + ":" + std::to_string(slice.slot)));
      events.add("M", slice.process + 1, thread, "thread_sort_index", sorted_at(thread));
    }
    std::string rest = ", \"ts\": " + time(slice.start_ns);
    const std::int64_t length = slice.end_ns - std::max(slice.start_ns, origin_ns);
    rest += ", \"dur\": " + microseconds(std::max<std::int64_t>(length, 0));
    rest.append(", \"cat\": \"").append(slice.category).append("\"");
    if (!slice.colour.empty()) rest.append(", \"cname\": \"").append(slice.colour).append("\"");
    events.add("X", slice.process + 1, thread, slice.name, rest + ", \"args\": " + slice.arguments);
  }
  for (const Moment& moment : moments_) {
    events.add("i", moment.process + 1, 0, moment.name,
               ", \"ts\": " + time(moment.at_ns) + ", \"s\": \"p\", \"args\": " + moment.arguments);
  }
  for (const Counter& counter : counters_) {
    std::int64_t value = 0;
    for (const auto& [at_ns, change] : counter.changes) {
      if (change == 0) continue;
      value += change;
      events.add("C", counter.process + 1, 0, counter.name,
                 ", \"ts\": " + time(at_ns) + ", \"args\": {\"tasks\": " + std::to_string(value) + "}");
    }
  }
  return std::move(events).end();
}

}  // namespace allot
