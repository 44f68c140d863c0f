#include "allot/sweep/workers.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace allot {
namespace {

constexpr std::chrono::milliseconds kGlance{50};  // how often the caller's stop flag is checked

void check_width(const std::vector<std::vector<double>>& rows, std::size_t width, const char* what) {
  for (const std::vector<double>& row : rows) {
    if (row.size() != width)
      throw std::logic_error("gave " + std::to_string(row.size()) + " numbers for " + std::to_string(width) +
                             " " + what);
  }
}

}  // namespace

std::optional<UnitOutcome> do_unit(const SweepJob& job, const Unit& unit, const StopLimits& stop) {
  const Experiment& experiment = job.experiments[unit.experiment];
  UnitOutcome outcome;
  outcome.unit = unit;
  const Clock::time_point start = Clock::now();
  try {
    outcome.result = experiment.run(job.effort, unit.unit, stop);
    check_width(outcome.result.rows, experiment.columns.size(), "columns");
    check_width(outcome.result.timing, experiment.timing_columns.size(), "timing columns");
  } catch (const std::exception& error) {
    outcome.error = error.what();
    if (outcome.error.empty()) outcome.error = "failed without a message";
  } catch (...) {
    outcome.error = "threw something that is not an exception";
  }
  outcome.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  // Checked last: the result of a unit that was stopped midway may look complete.
  if (StopPoll(stop).stopped()) return std::nullopt;
  return outcome;
}

ThreadWorkers::ThreadWorkers(unsigned threads)
    : threads_(threads > 0 ? threads : std::max(1u, std::thread::hardware_concurrency())) {}

void ThreadWorkers::run(const SweepJob& job, std::span<const Unit> units, const StopLimits& stop,
                        const Done& done) {
  StopFlag halt{false};  // set for the caller's flag, and when `done` throws
  const StopLimits inner{stop.deadline, &halt};
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::condition_variable news;
  std::deque<UnitOutcome> outcomes;
  std::size_t working = std::min<std::size_t>(threads_, units.size());

  const auto work = [&] {
    while (!StopPoll(inner).stopped()) {
      const std::size_t at = next.fetch_add(1);
      if (at >= units.size()) break;
      std::optional<UnitOutcome> outcome = do_unit(job, units[at], inner);
      if (!outcome) break;
      const std::lock_guard lock(mutex);
      outcomes.push_back(*std::move(outcome));
      news.notify_one();
    }
    const std::lock_guard lock(mutex);
    --working;
    news.notify_one();
  };
  std::vector<std::jthread> threads;
  for (std::size_t at = working; at > 0; --at) threads.emplace_back(work);

  std::exception_ptr failure;
  std::unique_lock lock(mutex);
  while (working > 0 || !outcomes.empty()) {
    news.wait_for(lock, kGlance, [&] { return working == 0 || !outcomes.empty(); });
    if (stop.flag != nullptr && stop.flag->load(std::memory_order_relaxed)) halt = true;
    std::deque<UnitOutcome> arrived = std::exchange(outcomes, {});
    lock.unlock();
    try {
      for (UnitOutcome& outcome : arrived) {
        if (!failure) done(std::move(outcome));
      }
    } catch (...) {
      failure = std::current_exception();
      halt = true;
    }
    lock.lock();
  }
  lock.unlock();
  threads.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace allot
