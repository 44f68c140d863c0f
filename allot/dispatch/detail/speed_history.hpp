// How fast tasks ran, by the model, while they ran: for telling what they would have taken at full speed.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace allot::detail {

/// The speeds of all pairs over time, as parts of full speed: looked at now and then, and taken to change
/// evenly in between. What is long ago is remembered less finely. Not thread-safe. Allocates only while it
/// grows to its limit.
class SpeedHistory {
 public:
  static constexpr std::size_t kMost = 256;  ///< looks that are remembered

  /// The speeds now, one for each pair. With another number of pairs than before it starts anew. Time never
  /// goes back.
  void record(double now, std::span<const double> speeds);

  /// Seconds at full speed that do what a task of the pair did in the `busy` seconds up to `end`. All of them
  /// where nothing is known.
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
