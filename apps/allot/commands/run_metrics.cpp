#include "apps/allot/commands/run_metrics.hpp"

#include <algorithm>
#include <utility>

#include "allot/base/own_file.hpp"
#include "allot/run/progress.hpp"
#include "apps/allot/exit.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app {
namespace {

constexpr Clock::duration kMetricsEvery = std::chrono::seconds(1);
constexpr int kMostOfTheTime = 50;  // writing takes at most 1/50 of the time, even with many pairs

}  // namespace

MetricsFile::MetricsFile(const std::string& path, const Job& job, RunInfo info) : path_(path) {
  if (path.empty()) return;
  metrics_.emplace(job, std::move(info));
  write(Progress(job, Clock::now()).view(), false);
  if (error_)
    throw Failure(Exit::kInputOutput,
                  "cannot write " + in_quotes(path) + " (--metrics): " + error_.message());
}

void MetricsFile::write(const RunView& view, bool is_over) {
  const Clock::time_point begin = Clock::now();
  error_ = replace_file(path_, metrics_->text(view, is_over), Readers::kEveryone);
  const Clock::time_point end = Clock::now();
  next_ = end + std::max(kMetricsEvery, (end - begin) * kMostOfTheTime);
}

}  // namespace allot::app
