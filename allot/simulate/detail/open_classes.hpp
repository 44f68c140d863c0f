// Tasks that arrive from outside at random and leave when done.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "allot/base/elementary.hpp"
#include "allot/base/random.hpp"
#include "allot/model/scenario.hpp"
#include "allot/simulate/detail/stations.hpp"
#include "allot/simulate/detail/threads.hpp"
#include "allot/size/distribution.hpp"

namespace allot::detail {

/// The open classes of a scenario: when the next task of each arrives, and the sizes of its tasks.
class OpenClasses {
 public:
  /// `arrivals` must outlive this object.
  OpenClasses(const std::vector<Arrivals>& arrivals, std::uint64_t seed, std::uint32_t replication)
      : arrivals_(arrivals), seed_(seed) {
    for (std::size_t open = 0; open < arrivals.size(); ++open) {
      const auto number = static_cast<std::uint32_t>(open);
      streams_.emplace_back(seed, stream_id(Purpose::kArrivals, replication, number));
      buffers_.emplace_back();
      buffers_.back().stream = stream_id(Purpose::kOpenSizes, replication, number);
      next_.push_back(0);
      draw(open, 0);
    }
  }

  std::size_t size() const noexcept { return next_.size(); }
  TaskType task(std::size_t open) const noexcept { return arrivals_[open].task; }

  /// When the next task arrives: of one class, and of all of them; kNever without any.
  double next(std::size_t open) const noexcept { return next_[open]; }
  double next() const noexcept {
    double first = kNever;
    for (const double at : next_) first = std::min(first, at);
    return first;
  }

  /// Draws the arrival after this moment.
  void draw(std::size_t open, double now) {
    const double rate = arrivals_[open].rate;
    next_[open] = rate > 0 ? now - portable_log(streams_[open].uniform()) / rate : kNever;
  }

  double next_size(std::size_t open, const Distribution& sizes) noexcept {
    return buffers_[open].next(sizes, seed_);
  }

 private:
  const std::vector<Arrivals>& arrivals_;
  std::uint64_t seed_;
  std::vector<RandomStream> streams_;
  std::vector<SizeBuffer> buffers_;
  std::vector<double> next_;
};

}  // namespace allot::detail
