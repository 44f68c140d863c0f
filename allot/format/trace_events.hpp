// What happened when, as trace events: the JSON that Perfetto (ui.perfetto.dev) and chrome://tracing open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace allot {

/// Seconds to nanoseconds. Clamped to the times that a clock can show; not a number becomes 0.
std::int64_t trace_time(double seconds) noexcept;

/// Something that took time.
struct TraceSlice {
  std::size_t process = 0;  ///< as TraceEvents counts them
  std::int64_t slot = 0;    ///< of the process
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::string name = {};
  std::string_view category = {};  ///< not copied: must outlive the slice
  std::string_view colour = {};    ///< a colour name of chrome://tracing; not copied, either
  std::string arguments = "{}";    ///< a JSON object
  std::size_t origin = 0;          ///< for the caller, to identify the slice
};

/// Sorts by slot and time, and cuts each slice that ends after the next one on its slot begins.
void keep_apart(std::vector<TraceSlice>& slices);

/// Collects a trace. A process is a row of slots, with counters of its own. Not thread-safe.
class TraceEvents {
 public:
  /// Names need not be unique.
  std::size_t add_process(std::string name);
  std::size_t add_counter(std::size_t process, std::string name);

  /// Adds an event of the process that takes no time.
  void moment(std::size_t process, std::int64_t at_ns, std::string name, std::string arguments);
  /// Adds `change` to the counter from that moment on.
  void count(std::size_t counter, std::int64_t at_ns, std::int64_t change);

  /// The whole document; times count from `origin_ns`. Slots are called PROCESS:SLOT. The same trace gives
  /// the same bytes.
  std::string json(std::vector<TraceSlice> slices, std::int64_t origin_ns) const;

 private:
  struct Moment {
    std::size_t process;
    std::int64_t at_ns;
    std::string name;
    std::string arguments;
  };
  struct Counter {
    std::size_t process;
    std::string name;
    std::map<std::int64_t, std::int64_t> changes;  // by time
  };
  std::vector<std::string> processes_;
  std::vector<Moment> moments_;
  std::vector<Counter> counters_;
};

/// Names in the order in which they came.
class NameOrder {
 public:
  /// Its place, and whether it is new.
  std::pair<std::size_t, bool> place(const std::string& name) {
    const auto [found, is_new] = places_.emplace(name, places_.size());
    return {found->second, is_new};
  }

 private:
  std::map<std::string, std::size_t> places_;
};

}  // namespace allot
