#include "allot/dispatch/rate_estimator.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "allot/base/statistics.hpp"

namespace allot {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLeastSeconds = 1e-9;
constexpr double kMostSeconds = 1e18;

/// Among few samples, one that is this many times their median does not belong to any expected distribution
/// of task times: only 1e-9 of exponential samples are that long.
constexpr double kEarlyOutlier = 30;

/// At least this many similar samples, if they are more than half of all, may judge a longer one.
constexpr std::size_t kFewestAlike = 2;
/// Five equal samples flag one that is 5.5 times as long. A sample that passes makes the mean of five at most
/// twice as long. For exponential samples, the mean of five becomes 3% smaller, of eight 1%.
constexpr double kImaginedEarly = 0.5;
/// A smaller factor between the first two samples is not significant.
constexpr double kTwiceAsLong = 2;

/// How far the interval reaches, for a relative half-width r by Student's t: down to exp(-kReachDown r), up
/// to 1 + kReachUp r (1 + kBend r). Chosen on samples of 10 to 300 values, to hold the mean of exponential
/// and of lognormal times (relative deviation up to 1) in 94% to 97% of the cases, of nearly constant ones in
/// 96%, and to be at most 1.3 times as wide as Student's.
constexpr double kReachDown = 0.95;
constexpr double kReachUp = 1.6;
constexpr double kBend = 0.2;

/// Two samples, one of them faded a little.
constexpr double kLeastForInterval = 1.9;

/// The smallest reach of the interval, for times that do not vary at all: rounding and clock resolution.
constexpr double kLeastReach = 1e-9;

/// How many standard errors a significant change of the mean needs: more for few samples, whose mean is
/// skewed, and for a fall, since the logarithm of a mean is skewed downwards.
struct ChangeTest {
  std::size_t samples;
  double rise;
  double fall;
};
constexpr ChangeTest kChangeTests[] = {{4, 4.0, 8.0}, {8, 4.0, 6.0}, {16, 3.7, 5.0}, {32, 3.5, 4.7}};
/// Up to this many samples must all disagree; of more, half.
constexpr std::size_t kUnanimous = 4;
/// Effective samples before the change, so that there is something to compare with.
constexpr double kLeastPast = 5;

/// kAsBefore consecutive samples that are as before a reset undo it, if they differ by a factor of at most
/// kAlike and the relative deviation of times was at most kSteady.
constexpr std::size_t kAsBefore = 2;
constexpr double kAlike = 1.2;
constexpr double kSteady = 0.7;

bool differs(double a, double b, double factor) noexcept { return a > factor * b || b > factor * a; }

double cleaned(double seconds) noexcept {
  return seconds >= kLeastSeconds ? std::min(seconds, kMostSeconds) : kLeastSeconds;  // NaN: the least
}

}  // namespace

void RateEstimator::Moments::add(double seconds, double keep) noexcept {
  const double before = keep * weight;
  weight = before + 1;
  squared_weight = keep * keep * squared_weight + 1;
  const double difference = seconds - mean;
  mean += difference / weight;
  spread = keep * spread + before / weight * difference * difference;
}

double RateEstimator::Moments::cautious_deviation(double imagined) const noexcept {
  const double n = effective();
  if (n == 0) return 1;
  const double variance = spread / weight / (mean * mean);
  return std::sqrt((n * variance + imagined) / (n + imagined));
}

RateEstimator::RateEstimator(const RatePrior& prior, const RateEstimatorOptions& options)
    : options_(options), hold_seconds_(options.breaker_hold_seconds) {
  if (!prior.rate || !(*prior.rate > 0)) return;
  guess_ = cleaned(1 / *prior.rate);
  if (!(prior.worth > 0)) return;
  const double deviation = prior.relative_deviation * guess_;
  moments_ = {prior.worth, prior.worth, guess_, prior.worth * deviation * deviation};
  published_ = guess_;
  early_ = false;
}

void RateEstimator::completed(double busy_seconds, bool after_rest, std::optional<double> end) {
  const double seconds = cleaned(busy_seconds);
  latest_reset_.reset();
  running_excess_ = 0;
  failures_in_a_row_ = 0;
  breaker_ = Breaker::kClosed;
  hold_seconds_ = options_.breaker_hold_seconds;
  if (++completions_ == 1) {  // discarded, but used as the best guess
    first_ = seconds + failed_seconds_;
    if (guess_ == 0) guess_ = first_;
    return;
  }
  if (after_rest) doubt_present(seconds);
  outlier_age_ += 1;
  if (early_) {
    remember(seconds + failed_seconds_, 0);
    failed_seconds_ = 0;
    judge_early();
    early_ = in_window_ < kEarly;
  } else {
    const double now = end.value_or(0);
    look_for_witness(seconds, end ? now - seconds : now, now);
    judge(seconds);
    ++since_reset_;
    if (!return_to_past()) detect_change();
  }
  publish();
}

/// A task that began after the end of a long one shows whether tasks still take long, compared with the mean
/// before the long one.
void RateEstimator::look_for_witness(double seconds, double begin, double end) noexcept {
  const bool is_long = seconds > std::sqrt(1 + options_.reset_error) * (rise_ ? rise_->mean : moments_.mean);
  if (!rise_) {
    if (is_long) rise_ = Rise{end, moments_.mean};
  } else if (begin >= rise_->end) {
    rise_->witnesses += is_long ? 1 : -1;
    if (rise_->witnesses < 0) rise_.reset();
  }
}

/// The longest of the first samples that is like the others. The discarded one does not count in the mean,
/// but can show which of two others is odd.
double RateEstimator::longest_early() const {
  std::array<double, kEarly + 1> sorted{first_};
  for (std::size_t age = 0; age < in_window_; ++age) sorted[age + 1] = recent(age).seconds;
  const std::size_t all = in_window_ + 1;
  std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(all));
  Moments alike;
  for (std::size_t k = 0; k < all; ++k) {
    if (k >= kFewestAlike && 2 * k > all && sorted[k] > outlier_limit(alike, kImaginedEarly))
      return sorted[k - 1];
    alike.add(sorted[k], 1);
  }
  return kInfinity;
}

/// Starts anew from all samples, without those that are unlike the others.
void RateEstimator::judge_early() {
  std::array<double, kEarly> sorted{};
  for (std::size_t age = 0; age < in_window_; ++age) sorted[age] = recent(age).seconds;
  std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(in_window_));
  const double limit = std::min(kEarlyOutlier * sorted[(in_window_ - 1) / 2], longest_early());
  moments_ = {};
  std::uint64_t flagged = 0;
  for (std::size_t age = in_window_; age-- > 0;) {
    Recent& sample = recent(age);
    sample.counted = sample.seconds <= limit ? sample.seconds : 0;
    if (sample.counted > 0) {
      moments_.add(sample.seconds, keep());
    } else {
      ++flagged;
      outlier_age_ = static_cast<double>(age);
    }
  }
  outliers_ = flagged;
}

/// Adds a sample, or the part of it that should count.
void RateEstimator::judge(double seconds) {
  const double limit = outlier_limit(moments_);
  double counted = seconds;
  if (seconds > limit) {
    ++outliers_;
    const bool alone = outlier_age_ > options_.memory;
    outlier_age_ = 0;
    counted = alone ? 0 : limit;
  }
  if (counted > 0) {
    counted += failed_seconds_;
    moments_.add(counted, keep());
  }
  remember(seconds + failed_seconds_, counted);
  if (counted > 0) failed_seconds_ = 0;
}

void RateEstimator::remember(double seconds, double counted) noexcept {
  window_[window_next_] = {seconds, counted};
  window_next_ = (window_next_ + 1) % kWindow;
  in_window_ = std::min(in_window_ + 1, kWindow);
}

/// Compares the latest samples with all before them.
void RateEstimator::detect_change() {
  const double least_change = std::log1p(options_.reset_error);
  // What the moments would be without the latest samples, as sums; and the sum of those samples.
  double weight = moments_.weight;
  double squared_weight = moments_.squared_weight;
  double sum = moments_.weight * moments_.mean;
  double squares = moments_.spread + moments_.weight * moments_.mean * moments_.mean;
  double latest = 0;
  double left = 1;
  std::size_t age = 0;
  for (const ChangeTest& test : kChangeTests) {
    if (in_window_ < test.samples) return;
    for (; age < test.samples; ++age) {
      const Recent& sample = recent(age);
      latest += sample.seconds;
      if (sample.counted == 0) continue;
      weight -= left;
      squared_weight -= left * left;
      sum -= left * sample.counted;
      squares -= left * sample.counted * sample.counted;
      left *= keep();
    }
    if (!(weight > 0) || !(squared_weight > 0) || !(sum > 0)) return;
    if (weight * weight / squared_weight < kLeastPast) return;
    const double n = static_cast<double>(test.samples);
    const Moments before{weight, squared_weight, sum / weight, std::max(0.0, squares - sum * sum / weight)};
    if (std::abs(std::log(latest / n / before.mean)) <= least_change) continue;  // mostly
    if (is_change(before, test.samples, test.rise, test.fall)) {
      doubt(before);
      restart_from(test.samples);
      return;
    }
  }
}

/// Whether the latest samples differ from what was before by more than `reset_error` and more than chance
/// explains.
bool RateEstimator::is_change(const Moments& before, std::size_t samples, double rise, double fall) const {
  const double least_change = std::log1p(options_.reset_error);
  const double deviation = before.cautious_deviation();
  // A single sample, however long, is not a change: samples are cut to the limit where flagging starts.
  const double limit = outlier_limit(before);
  const double n = static_cast<double>(samples);
  double latest = 0;
  std::size_t longer = 0;
  std::size_t shorter = 0;
  for (std::size_t age = 0; age < samples; ++age) {
    const double seconds = recent(age).seconds;
    latest += std::min(seconds, limit);
    longer += seconds > before.mean * (1 + options_.reset_error) ? 1 : 0;
    shorter += seconds * (1 + options_.reset_error) < before.mean ? 1 : 0;
  }
  const double change = std::log(latest / n / before.mean);
  if (change > 0 && !(rise_ && rise_->witnesses > 0)) return false;
  const double error = deviation * std::sqrt(1 / n + 1 / before.effective());
  if (std::abs(change) <= std::max(least_change, (change > 0 ? rise : fall) * error)) return false;
  return (change > 0 ? longer : shorter) >= (samples <= kUnanimous ? samples : samples / 2);
}

void RateEstimator::restart_from(std::size_t samples) {
  std::array<double, kWindow> sorted{};
  for (std::size_t age = 0; age < samples; ++age) sorted[age] = recent(age).seconds;
  std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(samples));
  const double limit = kEarlyOutlier * sorted[samples / 2];
  const double mean_before = moments_.mean;
  moments_ = {};
  for (std::size_t age = samples; age-- > 0;) {
    Recent& sample = recent(age);
    sample.counted = sample.seconds <= limit ? sample.seconds : 0;
    if (sample.counted > 0) moments_.add(sample.seconds, keep());
  }
  in_window_ = samples;
  rise_.reset();
  ++resets_;
  latest_reset_ = moments_.mean / mean_before;
}

/// Keeps the past for a while: a machine that was busy for a moment returns to its previous speed.
void RateEstimator::doubt(const Moments& before) {
  if (!doubtful()) past_ = before;
  since_reset_ = 0;
}

/// Whether the latest samples are like those before the reset, so that the past is restored. If times vary
/// much, two samples cannot tell.
bool RateEstimator::return_to_past() {
  if (!doubtful()) return false;
  if (static_cast<double>(since_reset_) > options_.memory) past_ = {};
  if (since_reset_ < kAsBefore ||
      !(past_.spread < kSteady * kSteady * past_.weight * past_.mean * past_.mean))
    return false;
  const double change = 1 + options_.reset_error;
  if (!differs(moments_.mean, past_.mean, change)) return false;
  for (std::size_t age = 0; age < kAsBefore; ++age) {
    const double seconds = recent(age).seconds;
    if (differs(seconds, past_.mean, change) || differs(seconds, recent(0).seconds, kAlike)) return false;
  }
  const double mean_before = moments_.mean;
  moments_ = std::exchange(past_, {});
  for (std::size_t age = kAsBefore; age-- > 0;) {
    Recent& sample = recent(age);
    sample.counted = sample.seconds;
    moments_.add(sample.seconds, keep());
  }
  in_window_ = kAsBefore;
  rise_.reset();
  ++resets_;
  latest_reset_ = moments_.mean / mean_before;
  return true;
}

/// A sample after a rest that is nearer to the past than to the present counts as much as all of the present.
/// Two in a row that are alike and much shorter than the present define the new rate.
void RateEstimator::doubt_present(double seconds) {
  const double before = std::exchange(rested_, seconds);
  const double least = (1 + options_.reset_error) * std::max(seconds, before);
  if (before > 0 && least < moments_.mean && !differs(seconds, before, kAlike)) {
    moments_ = {1, 1, before, 0};
    in_window_ = 0;
    rise_.reset();
    remember(before, before);
  } else if (doubtful() && moments_.effective() > 1) {
    const double middle = std::sqrt(past_.mean * moments_.mean);
    if ((seconds < middle) == (past_.mean < middle))
      moments_ = {1, 1, moments_.mean, moments_.spread / moments_.weight};
  }
}

void RateEstimator::publish() noexcept {
  if (moments_.weight == 0) return;
  const bool first = published_ == 0;
  // A single sample is not a mean. If it is far too long, the pair may not be used for a long time; if it is
  // too short, the pair will be used and corrected.
  const double believed = moments_.mean > kTwiceAsLong * first_ ? first_ : moments_.mean;
  published_ = first ? believed
                     : std::clamp(moments_.mean, published_ / options_.largest_jump,
                                  published_ * options_.largest_jump);
}

void RateEstimator::failed(double busy_seconds, double now) {
  latest_reset_.reset();
  ++failures_;
  ++failures_in_a_row_;
  failed_seconds_ += cleaned(busy_seconds);
  running_excess_ = 0;
  if (breaker_ == Breaker::kClosed && failures_in_a_row_ < options_.breaker_failures) return;
  if (breaker_ == Breaker::kHalfOpen) {
    hold_seconds_ = std::min(2 * hold_seconds_, 64 * options_.breaker_hold_seconds);
  }
  if (breaker_ != Breaker::kOpen) open_until_ = now + hold_seconds_;
  breaker_ = Breaker::kOpen;
}

void RateEstimator::set_running(std::span<const double> busy_seconds) noexcept {
  running_excess_ = 0;
  const double mean = published_ > 0 ? published_ : guess_;
  for (const double seconds : busy_seconds) running_excess_ += std::max(0.0, seconds - mean);
}

Breaker RateEstimator::retry_breaker(double now) noexcept {
  if (breaker_ == Breaker::kOpen && now >= open_until_) breaker_ = Breaker::kHalfOpen;
  return breaker_;
}

void RateEstimator::question(double factor) {
  if (moments_.weight == 0) return;
  doubt(moments_);
  moments_ = {0.5, 0.5, std::clamp(moments_.mean * factor, kLeastSeconds, kMostSeconds), 0};
  published_ = moments_.mean;
  in_window_ = 0;
  rise_.reset();
}

double RateEstimator::seconds() const noexcept {
  // Time without a completion: it will be part of the next one's.
  const double open_time = failed_seconds_ + running_excess_;
  if (moments_.weight == 0) return guess_ + open_time;
  return published_ + open_time / std::max(1.0, moments_.weight);
}

RateEstimate RateEstimator::estimate() const {
  RateEstimate result;
  result.completions = completions_;
  result.failures = failures_;
  result.outliers = outliers_;
  result.resets = resets_;
  result.breaker = breaker_;
  result.weight = moments_.effective();

  result.seconds = seconds();
  if (result.weight == 0) {
    result.seconds_high = kInfinity;
    result.rate = result.seconds > 0 ? 1 / result.seconds : 0;
    result.rate_high = kInfinity;
    return result;
  }
  if (result.weight < kLeastForInterval) {
    result.seconds_high = kInfinity;
  } else {
    const double added = result.seconds - published_;
    const double n = result.weight;
    const double variance = moments_.spread / moments_.weight * n / (n - 1);
    const double error = std::sqrt(variance / n) / moments_.mean;
    const double reach = std::max(kLeastReach, student_quantile(0.975, std::max(1.0, n - 1)) * error);
    const double low = moments_.mean * std::exp(-kReachDown * reach) + added;
    const double high = moments_.mean * (1 + kReachUp * reach * (1 + kBend * reach)) + added;
    result.seconds_low = std::min(low, result.seconds);
    result.seconds_high = std::max(high, result.seconds);
  }
  result.rate = 1 / result.seconds;
  result.rate_low = 1 / result.seconds_high;
  result.rate_high = result.seconds_low > 0 ? 1 / result.seconds_low : kInfinity;
  return result;
}

}  // namespace allot
