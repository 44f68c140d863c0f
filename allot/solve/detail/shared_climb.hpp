// MAP's climb where every resource shares its time evenly: the same moves as the general one, on numbers laid
// out for it.
//
// Under ps one task more or fewer changes X_j by base_j + slope_j * mu, mu being the task's rate there. So
// j_max and j_min are the largest elements of rows that a processor computes several at a time, and a move
// changes the lines of two resources only.
#pragma once

#include <vector>

#include "allot/base/stop.hpp"
#include "allot/model/system.hpp"
#include "allot/solve/options.hpp"

namespace allot::detail {

/// For systems of ps resources without floors and least depths. Reusable: allocates nothing after the first
/// time for systems of one size.
class SharedClimb {
 public:
  /// Starts at the assignment, a placement of the system, and climbs until a full pass changes nothing or the
  /// poll says stop. The system must outlive the climb.
  void run(const System& system, const Assignment& start, MapMoves moves, StopPoll& poll);

  double throughput() const noexcept;
  void write(Assignment& assignment) const;

 private:
  /// A resource, and by how much one task more, or one fewer, changes its throughput.
  struct End {
    std::size_t resource = 0;
    double value = 0;
  };

  void reset(const Assignment& start);
  void sum_columns();
  void settle(std::size_t j) noexcept;
  void look_at(std::size_t i) noexcept;
  End best(const std::vector<double>& values) const noexcept;
  End best(std::vector<double>& values, std::size_t left_out) noexcept;
  void move(std::size_t i, std::size_t a, std::size_t b, double n) noexcept;
  bool optimise_accelerator(std::size_t i, std::size_t home) noexcept;
  bool optimise_processors(std::size_t i) noexcept;
  bool move_all(std::size_t i) noexcept;
  bool try_move(std::size_t i, const End& from, const End& to) noexcept;

  const System* system_ = nullptr;
  std::size_t width_ = 0;  // of a row: the resources, filled up to a multiple of the lanes
  double tolerance_ = 0;
  unsigned moves_since_sums_ = 0;
  // Rows of width_, one per type.
  std::vector<double> rates_;   // minus infinity where a type cannot run
  std::vector<double> counts_;  // whole numbers, as doubles to be compared with the others
  // One per resource.
  std::vector<double> tasks_;
  std::vector<double> rate_sums_;
  std::vector<double> servers_;
  std::vector<double> throughputs_;
  std::vector<double> addition_base_;
  std::vector<double> addition_slope_;
  std::vector<double> removal_base_;
  std::vector<double> removal_slope_;
  std::vector<double> additions_;          // what one task more of the type looked at is worth
  std::vector<double> removals_;           // what one task fewer is worth
  std::vector<std::size_t> accelerators_;  // where each type is at home, kNone if on no accelerator
};

}  // namespace allot::detail
