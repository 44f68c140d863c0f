// Starting points for machines with pools of servers: the fast servers get what they run fastest, and one
// resource takes all the rest.
//
// If there are more tasks than servers, some resource must hold the tasks without a free server, and they
// slow it down. The choice of that resource decides the rest, and no single move changes it: the surplus
// tasks would have to leave together. So there is one start for every resource that may take them.
#pragma once

#include <cstdint>
#include <vector>

#include "allot/model/system.hpp"
#include "allot/model/throughput.hpp"

namespace allot::detail {

/// Reusable: allocates nothing after the first time for systems of one size.
class OverflowStarts {
 public:
  /// Makes the starts of the system, which must outlive them: one for each resource that can run two types or
  /// more, ranked by throughput, without duplicates. O(P log P + R P) for P pairs of a type and a resource.
  /// Minimum depths are ignored.
  void make(const System& system) { make(system, {}); }
  /// The same with some resources empty; `closed` has one entry per resource, or none. No start if a type can
  /// then run nowhere.
  void make(const System& system, const std::vector<bool>& closed);

  std::size_t size() const noexcept { return ranked_.size(); }
  /// The start of a rank, 0 being the one with the largest throughput.
  void write(std::size_t rank, Assignment& assignment);

 private:
  struct Pair {
    double rate = 0;
    std::uint32_t type = 0;
    std::uint32_t resource = 0;
  };
  struct Ranked {
    double throughput = 0;
    std::size_t overflow = 0;
  };

  struct Placed {
    std::uint32_t type = 0;
    std::uint32_t resource = 0;
    Count n = 0;
  };

  void fill(std::size_t overflow);
  void spill(std::size_t overflow);
  void spill_elsewhere(std::uint32_t type, std::uint32_t overflow);
  void put(std::uint32_t type, std::uint32_t resource, Count n);
  double push_out(std::uint32_t resource, std::uint32_t overflow, Count n, ColumnSums content) const noexcept;
  void push_out(std::uint32_t resource, std::uint32_t overflow, Count n);
  ColumnSums plus(const ColumnSums& sums, std::uint32_t type, std::uint32_t resource,
                  Count n) const noexcept {
    return sums.plus(*system_, task_type(type), resource_id(resource), n);
  }
  double throughput(std::uint32_t j, const ColumnSums& sums) const noexcept {
    const Resource& resource = system_->resource(resource_id(j));
    return column_value(resource.discipline, resource.servers, sums);
  }
  bool is_closed(std::size_t j) const noexcept { return !closed_.empty() && closed_[j]; }

  const System* system_ = nullptr;
  std::vector<bool> closed_;
  std::vector<Pair> pairs_;  // by decreasing rate
  std::vector<Ranked> ranked_;
  std::vector<std::uint32_t> types_;  // per resource: how many types can run there
  std::vector<Count> left_;           // per type: tasks not yet placed
  std::vector<ColumnSums> contents_;  // per resource
  std::vector<Placed> placed_;        // fastest first at each resource
};

}  // namespace allot::detail
