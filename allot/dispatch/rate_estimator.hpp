// How fast a resource completes tasks of one type, learnt from the tasks themselves.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace allot {

/// What is known about a pair before it has run: a type and a resource.
struct RatePrior {
  bool can_run = true;              ///< false: the pair does not exist
  std::optional<double> rate;       ///< tasks per second of one unit; absent: unknown
  double relative_deviation = 0.3;  ///< standard deviation of a task's time / its mean
  double worth = 10;                ///< how many completions it counts like; they fade as others come

  static RatePrior cannot_run() { return {.can_run = false}; }
  static RatePrior unknown() { return {}; }
  static RatePrior measured(double tasks_per_second, double relative_deviation = 0.3, double worth = 10) {
    return {true, tasks_per_second, relative_deviation, worth};
  }
};

/// A pair that only fails is left alone: open. After a while one task is let through: half open.
enum class Breaker : std::uint8_t { kClosed, kOpen, kHalfOpen };

struct RateEstimate {
  /// Busy seconds per completed task and its 95% interval, and the rates that follow: 1 / seconds. Without a
  /// completion `seconds` is the best guess, and the interval is all there is: 0 to infinity.
  double seconds = 0;
  double seconds_low = 0;
  double seconds_high = 0;
  double rate = 0;
  double rate_low = 0;
  double rate_high = 0;
  double weight = 0;              ///< effective number of completions behind it, a prior's worth included
  std::uint64_t completions = 0;  ///< ever, the discarded first included
  std::uint64_t failures = 0;
  std::uint64_t outliers = 0;  ///< completions that were flagged and set aside
  std::uint64_t resets = 0;    ///< times that the past was found to be no guide any more
  Breaker breaker = Breaker::kClosed;

  /// Whether anything but a guess is behind it.
  bool known() const noexcept { return weight > 0; }
};

struct RateEstimatorOptions {
  double memory = 50;              ///< completions after which a sample counts 1/e
  double outlier_deviations = 10;  ///< longer than mean + this many standard deviations is flagged
  double reset_error = 0.5;        ///< a sustained error of the mean that starts it afresh
  double largest_jump = 4;         ///< a single completion changes the estimate by this factor at the most
  std::uint32_t breaker_failures = 5;  ///< in a row
  double breaker_hold_seconds = 5;  ///< until the first retry; doubles with each that fails, up to 64 times
};

/// Rate of a pair = completed tasks / busy time, where the time of failed attempts counts as well, and that
/// of running ones as far as it is longer than the mean: neither a fast failure nor a hung task looks fast.
///
/// The first completion is discarded (loading, compiling). A sample far above the others is flagged and set
/// aside; it counts if another comes while it is remembered, since then the times are heavy-tailed. When
/// recent samples keep disagreeing with the mean by more than `reset_error`, and by more than chance allows,
/// the past is dropped.
///
/// Not thread-safe. Every call is O(1) and allocates nothing, `estimate` included.
class RateEstimator {
 public:
  explicit RateEstimator(const RatePrior& prior = {}, const RateEstimatorOptions& options = {});

  /// A task ended after so many busy seconds; `now` (any clock, in seconds) is for the circuit breaker.
  void completed(double busy_seconds);
  void failed(double busy_seconds, double now);

  /// The attempts that run now: how long each has been busy beyond the mean, summed up by the caller with
  /// `excess`. Replaces what was said before; the next completion of any clears it.
  void set_running_excess(double seconds) noexcept { running_excess_ = seconds; }
  double excess(double elapsed_seconds) const noexcept;

  RateEstimate estimate() const;

  /// Open becomes half open when its time has come; the caller lets one task through then.
  Breaker breaker(double now) noexcept;

  /// Whether the latest completion made it drop the past.
  bool just_reset() const noexcept { return just_reset_; }

 private:
  static constexpr std::size_t kWindow = 16;

  /// Sums over samples, each with the weight left of it.
  struct Moments {
    double weight = 0;
    double squared_weight = 0;
    double sum = 0;
    double squares = 0;
    double cubes = 0;
    void add(double seconds, double keep) noexcept;
    double mean() const noexcept { return sum / weight; }
    double effective() const noexcept { return weight * weight / squared_weight; }
  };

  void add_sample(double seconds);
  void restart_from_window(std::size_t samples);
  /// How many of the latest samples contradict the mean; 0 when none do.
  std::size_t contradicting() const noexcept;
  double deviation() const noexcept;

  RateEstimatorOptions options_;
  double prior_seconds_ = 0;  ///< 0: none
  Moments moments_;
  double published_ = 0;       ///< the mean, moved by at most `largest_jump` a completion
  double first_ = 0;           ///< the discarded first sample: a guess until there is better
  double failed_seconds_ = 0;  ///< since the last completion
  double running_excess_ = 0;
  std::array<double, kWindow> window_{};  ///< the latest samples, outliers cut
  std::size_t in_window_ = 0;
  std::size_t window_at_ = 0;
  double held_outlier_ = 0;  ///< set aside; 0: none
  double held_for_ = 0;      ///< completions since
  std::uint64_t completions_ = 0;
  std::uint64_t failures_ = 0;
  std::uint64_t outliers_ = 0;
  std::uint64_t resets_ = 0;
  std::uint32_t failures_in_a_row_ = 0;
  double hold_seconds_ = 0;
  double open_until_ = 0;
  Breaker breaker_ = Breaker::kClosed;
  bool just_reset_ = false;
};

}  // namespace allot
