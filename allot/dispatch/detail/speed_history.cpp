#include "allot/dispatch/detail/speed_history.hpp"

#include <algorithm>

namespace allot::detail {
namespace {

/// No model is reliable enough to count less than this part of a task's time.
constexpr double kSlowest = 1e-3;

double believable(double speed) noexcept { return std::clamp(speed, kSlowest, 1.0); }

}  // namespace

void SpeedHistory::record(double now, std::span<const double> speeds) {
  if (speeds.size() != pairs_ || (looks() > 0 && now < times_.back())) {
    times_.clear();
    speeds_.clear();
    done_.clear();
    pairs_ = speeds.size();
  }
  if (looks() > 0 && now == times_.back()) {
    std::transform(speeds.begin(), speeds.end(), speeds_.end() - static_cast<std::ptrdiff_t>(pairs_),
                   believable);
    return;
  }
  if (looks() == kMost) thin_out();
  const bool is_first = times_.empty();
  const double since = is_first ? 0 : now - times_.back();
  const std::size_t before = is_first ? 0 : (looks() - 1) * pairs_;
  for (std::size_t pair = 0; pair < pairs_; ++pair) {
    const double speed = believable(speeds[pair]);
    const double mean = is_first ? speed : 0.5 * (speeds_[before + pair] + speed);
    done_.push_back(is_first ? 0 : done_[before + pair] + since * mean);
    speeds_.push_back(speed);
  }
  times_.push_back(now);
}

/// Removes every second record of the older half.
void SpeedHistory::thin_out() {
  std::size_t kept = 0;
  for (std::size_t look = 0; look < looks(); ++look) {
    if (look < looks() / 2 && look % 2 == 1) continue;
    times_[kept] = times_[look];
    std::copy_n(&speeds_[look * pairs_], pairs_, &speeds_[kept * pairs_]);
    std::copy_n(&done_[look * pairs_], pairs_, &done_[kept * pairs_]);
    ++kept;
  }
  times_.resize(kept);
  speeds_.resize(kept * pairs_);
  done_.resize(kept * pairs_);
}

/// The integral up to a time; before the first record and after the last, the speed is constant.
double SpeedHistory::done(std::size_t pair, double time) const noexcept {
  const auto after = std::upper_bound(times_.begin(), times_.end(), time);
  if (after == times_.begin()) return done_[pair] - (times_.front() - time) * speeds_[pair];
  const auto look = static_cast<std::size_t>(after - times_.begin()) - 1;
  const std::size_t at = look * pairs_ + pair;
  if (after == times_.end()) return done_[at] + (time - times_[look]) * speeds_[at];
  const double part = (time - times_[look]) / (times_[look + 1] - times_[look]);
  return done_[at] + part * (done_[at + pairs_] - done_[at]);
}

double SpeedHistory::at_full_speed(std::size_t pair, double end, double busy) const noexcept {
  if (times_.empty() || pair >= pairs_) return busy;
  return std::clamp(done(pair, end) - done(pair, end - busy), kSlowest * busy, busy);
}

}  // namespace allot::detail
