// MAP's climb for resources that all share their time evenly: the same moves as the general climb, on a
// memory layout made for it.
//
// Under ps, one task more or fewer changes X_j by base_j + slope_j * mu, where mu is the task's rate there.
// So j_max and j_min are the largest elements of rows that a processor computes several at a time, and a move
// changes the lines of two resources only.
#pragma once

#include <vector>

#include "allot/base/stop.hpp"
#include "allot/model/system.hpp"
#include "allot/solve/options.hpp"

namespace allot::detail {

/// For systems of ps resources without floors and minimum depths. Reusable: allocates nothing after the first
/// time for systems of one size.
class SharedClimb {
 public:
  /// Starts at the assignment, a placement of the system, and climbs until a full pass changes nothing or the
  /// poll says stop. The system must outlive the climb.
  void run(const System& system, const Assignment& start, MapMoves moves, StopPoll& poll);

  /// The same from another start, for the system of the last `run`.
  void run_from(const Assignment& start, MapMoves moves, StopPoll& poll);

  /// Goes to the assignment without climbing, for the system of the last `run`.
  void place(const Assignment& start);

  /// Continues from the current state. If nothing else helps, moves two types at once: one to a resource
  /// whose servers are all busy, the other away from there. This leaves states that single types cannot
  /// leave: a pool where a move gains nothing as long as the other type is there.
  void exchange(StopPoll& poll);

  double value() const noexcept;
  void write(Assignment& assignment) const;

 private:
  /// A resource, and by how much one task more, or one fewer, changes its throughput.
  struct End {
    std::size_t resource = 0;
    double value = 0;
  };

  /// `in` tasks of one type come; `out` tasks of type `other` go to resource `to`.
  struct Exchanged {
    double in = 0;
    double out = 0;
    std::size_t other = 0;
    std::size_t to = 0;
  };

  void load(const System& system);
  void climb(MapMoves moves, StopPoll& poll);
  void sum_columns();
  void settle(std::size_t j) noexcept;
  void look_at(std::size_t i) noexcept;
  End best(const std::vector<double>& values) const noexcept;
  End best(std::vector<double>& values, std::size_t left_out) noexcept;
  void move(std::size_t i, std::size_t a, std::size_t b, double n) noexcept;
  bool optimise_accelerator(std::size_t i, std::size_t home) noexcept;
  bool optimise_processors(std::size_t i) noexcept;
  bool move_all(std::size_t i) noexcept;
  bool exchange_types(std::size_t i) noexcept;
  bool exchange_through(std::size_t i, std::size_t a, std::size_t b) noexcept;
  double throughput_with(std::size_t j, double tasks, double rates) const noexcept;
  double amount(std::size_t i, const End& from, const End& to) noexcept;
  bool try_move(std::size_t i, const End& from, const End& to) noexcept;

  const System* system_ = nullptr;
  std::size_t width_ = 0;  // of a row: the number of resources, rounded up to a multiple of the lanes
  double tolerance_ = 0;
  unsigned moves_since_sums_ = 0;
  bool several_ = false;  // may a move take more than one task?
  std::size_t exchanges_left_ = 0;
  // The last moves, while they are of one type between the same two resources.
  std::size_t streak_ = 0;
  double last_amount_ = 1;
  std::size_t last_from_ = 0;
  std::size_t last_to_ = 0;
  // Rows of width_, one per type.
  std::vector<double> rates_;   // minus infinity where a type cannot run
  std::vector<double> counts_;  // whole numbers, as doubles for comparison with the others
  // One per resource.
  std::vector<double> tasks_;
  std::vector<double> rate_sums_;
  std::vector<double> servers_;
  std::vector<double> throughputs_;
  std::vector<double> addition_base_;
  std::vector<double> addition_slope_;
  std::vector<double> removal_base_;
  std::vector<double> removal_slope_;
  std::vector<double> additions_;  // the worth of one more task of the current type
  std::vector<double> removals_;   // the worth of one task fewer
  // One per type.
  std::vector<double> fastest_;            // its largest rate
  std::vector<std::size_t> accelerators_;  // the home of each type if it is an accelerator, otherwise kNone
};

}  // namespace allot::detail
