// How fast a resource completes tasks of one type, learned from the tasks themselves.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace allot {

/// What is known about a pair before it has run: a type and a resource.
struct RatePrior {
  bool can_run = true;              ///< false: the pair does not exist
  std::optional<double> rate;       ///< tasks per second of one server; absent: unknown
  double relative_deviation = 0.3;  ///< standard deviation of a task's time / its mean
  double worth = 10;                ///< the number of completions that it counts as; they fade as others come

  static RatePrior cannot_run() { return {false, std::nullopt}; }
  static RatePrior unknown() { return {}; }
  static RatePrior measured(double tasks_per_second, double relative_deviation = 0.3, double worth = 10) {
    return {true, tasks_per_second, relative_deviation, worth};
  }
};

/// A pair that only fails is avoided: open. After a while one task is let through: half open.
enum class Breaker : std::uint8_t { kClosed, kOpen, kHalfOpen };

struct RateEstimate {
  /// Busy seconds per completed task and its 95% interval, and the rates that follow: 1 / seconds. Without a
  /// completion, `seconds` is the best guess and the interval is 0 to infinity.
  double seconds = 0;
  double seconds_low = 0;
  double seconds_high = 0;
  double rate = 0;
  double rate_low = 0;
  double rate_high = 0;
  double weight = 0;              ///< effective number of completions behind it, including a prior's worth
  std::uint64_t completions = 0;  ///< in all, including the discarded first
  std::uint64_t failures = 0;
  std::uint64_t outliers = 0;  ///< completions that were flagged and left out
  std::uint64_t resets = 0;    ///< how often older samples were dropped
  Breaker breaker = Breaker::kClosed;

  /// Whether it is based on more than a guess.
  bool known() const noexcept { return weight > 0; }
};

struct RateEstimatorOptions {
  double memory = 50;                  ///< completions after which a sample counts 1/e
  double outlier_deviations = 15;      ///< longer than mean + this many standard deviations is flagged
  double reset_error = 0.5;            ///< a sustained relative error of the mean beyond this drops the past
  double largest_jump = 4;             ///< a single completion changes the estimate by at most this factor
  std::uint32_t breaker_failures = 5;  ///< in a row
  double breaker_hold_seconds = 5;  ///< until the first retry; doubles with each that fails, up to 64 times
};

/// Rate of a pair = completed tasks / busy time, where the time of failed attempts counts, too, and that of
/// running attempts as far as it exceeds the mean: neither a fast failure nor a hung task looks fast.
///
/// The first completion is discarded (loading, compiling), but counts as the time of the pair while only one
/// other is known and that is longer. A sample far above the others is flagged and left out: among the first
/// samples, as soon as two others are alike and more than half of all; if it is not the only one within the
/// memory, it counts, cut to the limit where flagging starts. If the latest samples disagree with earlier
/// ones by more than `reset_error`, and by more than chance explains, the past is dropped. It is restored if
/// the next samples are as before, since a busy moment has passed. Tasks that ran at the same time are a
/// single witness: one moment may have made all of them long. Two consecutive samples after a rest that are
/// alike, and shorter by as much, also drop the past: a pair that seems too slow gets few other samples.
///
/// The interval is Student's with the effective number of samples, but reaches further up than down, since
/// times are skewed: with few samples, the longest times have not been seen yet.
///
/// Not thread-safe. Every call costs O(1) and allocates nothing.
class RateEstimator {
 public:
  explicit RateEstimator(const RatePrior& prior = {}, const RateEstimatorOptions& options = {});

  /// A task ended after this many busy seconds. Times below a nanosecond count as one.
  /// `after_rest`: the pair was out of use, so earlier samples may be out of date. `end`: when it ended, by
  /// any clock in seconds; absent: no task ran at the same time.
  void completed(double busy_seconds, bool after_rest = false, std::optional<double> end = {});
  /// An attempt failed. `now` is any clock in seconds, for the circuit breaker.
  void failed(double busy_seconds, double now);

  /// How long each running attempt has been busy. Replaces the previous report.
  void set_running(std::span<const double> busy_seconds) noexcept;

  RateEstimate estimate() const;
  /// Parts of the estimate that cost less than the interval.
  double seconds() const noexcept;
  double weight() const noexcept { return moments_.effective(); }
  std::uint64_t completions() const noexcept { return completions_; }
  Breaker breaker() const noexcept { return breaker_; }

  /// Open becomes half open after the hold time; the caller then lets one task through.
  Breaker retry_breaker(double now) noexcept;

  /// The factor by which the latest completion changed the time by dropping the past, if it did.
  std::optional<double> latest_reset() const noexcept { return latest_reset_; }

  /// Whether the past was dropped recently and would be restored if the next samples were like it.
  bool doubtful() const noexcept { return past_.weight > 0; }

  /// The resource has changed, as seen from another type: guesses that the time is `factor` times what it
  /// was, and lets the next samples decide.
  void question(double factor);

 private:
  static constexpr std::size_t kWindow = 32;
  /// The first samples, at most this many, are judged together by their median, before there is a mean to
  /// judge by.
  static constexpr std::size_t kEarly = 8;
  static constexpr double kImagined = 2;

  /// Mean and spread of samples, each with the weight that is left of it.
  struct Moments {
    double weight = 0;
    double squared_weight = 0;
    double mean = 0;
    double spread = 0;  ///< weighted sum of squared differences from the mean

    void add(double seconds, double keep) noexcept;
    /// Number of equally weighted samples with the same information.
    double effective() const noexcept { return weight > 0 ? weight * weight / squared_weight : 0; }
    /// Relative standard deviation, as if `imagined` more samples had been exponential: the fewer the
    /// samples, the nearer to 1.
    double cautious_deviation(double imagined = kImagined) const noexcept;
  };

  struct Recent {
    double seconds = 0;  ///< including failed attempts before it
    double counted = 0;  ///< the part that went into the moments; 0: it was left out
  };

  /// A task that took long, seen from those that began after it.
  struct Rise {
    double end = 0;              ///< when it ended
    double mean = 0;             ///< of the tasks before it
    std::int64_t witnesses = 0;  ///< how many more of the later ones also took long than did not
  };

  double keep() const noexcept { return 1 - 1 / options_.memory; }
  Recent& recent(std::size_t age) noexcept { return window_[(window_next_ + kWindow - 1 - age) % kWindow]; }
  const Recent& recent(std::size_t age) const noexcept {
    return window_[(window_next_ + kWindow - 1 - age) % kWindow];
  }
  /// A sample longer than this is flagged.
  double outlier_limit(const Moments& others, double imagined = kImagined) const noexcept {
    return others.mean * (1 + options_.outlier_deviations * others.cautious_deviation(imagined));
  }
  void look_for_witness(double seconds, double begin, double end) noexcept;
  void remember(double seconds, double counted) noexcept;
  double longest_early() const;
  void judge_early();
  void judge(double seconds);
  void detect_change();
  bool is_change(const Moments& before, std::size_t samples, double rise, double fall) const;
  void doubt(const Moments& before);
  bool return_to_past();
  void doubt_present(double seconds);
  void restart_from(std::size_t samples);
  void publish() noexcept;

  RateEstimatorOptions options_;
  Moments moments_;
  Moments past_;  ///< before the latest reset, as long as the change may be temporary
  std::uint64_t since_reset_ = 0;
  std::optional<Rise> rise_;   ///< absent: no task took long lately, or too few of those that began later
  double rested_ = 0;          ///< seconds of the latest sample after a rest
  double first_ = 0;           ///< seconds of the discarded sample
  double guess_ = 0;           ///< seconds, until there are samples; 0: none
  double published_ = 0;       ///< the mean, changed by at most `largest_jump` per completion
  double failed_seconds_ = 0;  ///< since the last completion
  double running_excess_ = 0;  ///< of running attempts beyond the mean
  std::array<Recent, kWindow> window_{};
  std::size_t window_next_ = 0;
  std::size_t in_window_ = 0;
  bool early_ = true;           ///< all samples are still in the window, and there is no prior
  double outlier_age_ = 1e300;  ///< completions since the latest outlier
  std::uint64_t completions_ = 0;
  std::uint64_t failures_ = 0;
  std::uint64_t outliers_ = 0;
  std::uint64_t resets_ = 0;
  std::optional<double> latest_reset_;
  std::uint32_t failures_in_a_row_ = 0;
  double hold_seconds_ = 0;
  double open_until_ = 0;
  Breaker breaker_ = Breaker::kClosed;
};

}  // namespace allot
