// One timed run of a task for a profile.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "allot/base/ids.hpp"
#include "allot/base/stop.hpp"
#include "allot/worker/task.hpp"

namespace allot::detail {

struct Sample {
  double seconds = 0;
  bool ok = false;
  bool not_found = false;
  std::string problem;
  Clock::time_point began{};
  Clock::time_point ended{};
  TaskType type{};
  ResourceId resource{};
};

/// The last start among the samples: runs that ended before it had busy neighbours all the time.
inline Clock::time_point last_start(std::span<const Sample> samples) {
  Clock::time_point last{};
  for (const Sample& sample : samples) last = std::max(last, sample.began);
  return last;
}

/// Why a run failed, in one line.
inline std::string problem_of(const TaskRecord& record) {
  if (!record.error.empty()) return record.error;
  std::string text;
  if (record.status == TaskStatus::kTimeout) {
    text = "it exceeded its timeout";
  } else if (record.signal) {
    text = "signal " + std::to_string(*record.signal);
  } else {
    text = "exit " + std::to_string(record.exit.value_or(-1));
  }
  std::string_view said = record.err;
  while (said.ends_with('\n')) said.remove_suffix(1);
  if (const std::size_t line = said.rfind('\n'); line != std::string_view::npos) said.remove_prefix(line + 1);
  return said.empty() ? text : text + ": " + std::string(said);
}

}  // namespace allot::detail
