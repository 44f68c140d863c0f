// How fast tasks ran over time, by the model: tells what they would have taken at full speed.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace allot::detail {

/// The speeds of all pairs over time, as parts of full speed: recorded now and then, and interpolated
/// linearly in between. Older records are kept less densely. Not thread-safe. Allocates only while it grows
/// to its limit.
class SpeedHistory {
 public:
  static constexpr std::size_t kMost = 256;  ///< at most this many records are kept

  /// The speeds now, one for each pair. Starts anew if the number of pairs has changed. Time never goes back.
  void record(double now, std::span<const double> speeds);

  /// Seconds that a task of the pair would have needed at full speed for its work in the `busy` seconds up to
  /// `end`. Without records, `busy`.
  double at_full_speed(std::size_t pair, double end, double busy) const noexcept;

 private:
  std::size_t looks() const noexcept { return times_.size(); }
  double done(std::size_t pair, double time) const noexcept;
  void thin_out();

  std::size_t pairs_ = 0;
  std::vector<double> times_;
  std::vector<double> speeds_;  // by look and pair
  std::vector<double> done_;    // integrals of the speeds, by look and pair
};

}  // namespace allot::detail
