// Options of solvers. The defaults suit most users; an option for a single solver is a setting.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "allot/base/stop.hpp"
#include "allot/model/assignment.hpp"
#include "allot/solve/setting.hpp"

namespace allot {

/// How MAP and MIS rate a move (paper Eq. 8).
enum class Sensitivity {
  kExact,       ///< the exact difference of adding or removing one task (default)
  kDerivative,  ///< (mu_tj - X_j) / n_j as printed
};

/// Which moves MAP tries.
enum class MapMoves {
  kBulk,    ///< many tasks at once, two types at once where there are pools, and a start by rate (default)
  kSingle,  ///< one task at a time from home, as printed
};

/// Which moves MIS tries.
enum class MisMoves {
  kBoth,     ///< j_min -> j_max and back: can correct a type above its share as well (default)
  kForward,  ///< j_min -> j_max only, as printed
};

/// How `weighted` reads the priorities.
enum class ShareReading {
  kExact,  ///< every type completes exactly its share; resources may idle for that
  kFloor,  ///< every type gets at least its share of the largest common level, then X is maximal
};
inline constexpr std::array<std::string_view, 2> kShareWords = {"exact", "floor"};

/// How far a long search has come.
struct SolveProgress {
  std::optional<double> best;   ///< throughput of the best assignment so far
  std::optional<double> bound;  ///< proven upper bound so far
};

/// Where the simplex method ended: a start for the plan of a similar problem. For one solve at a time.
struct PlanBasis {
  std::vector<unsigned char> states;  ///< of columns and rows, in the solver's order
};

struct SolveOptions {
  StopLimits stop;         ///< deadline, stop flag and steps; checked at least every millisecond
  std::uint64_t seed = 1;  ///< of `local` and of the search for a first answer in `exact`

  /// An assignment to start from, besides the solver's own starts. Ignored unless it fits the system.
  std::optional<Assignment> start;

  /// Called from the solver's thread when `exact` has found a better assignment or bound, or when `local` or
  /// `exhaustive` has found a better assignment.
  std::function<void(const SolveProgress&)> progress;
  /// Called by `pareto` and `what_if`, from their thread, with the share of the work done (0 to 1).
  std::function<void(double)> share_done;

  /// Options of single solvers, by name; `SolverInfo::settings` declares them.
  Settings settings;

  /// `exact`: stop when the proven relative gap is at most this.
  double gap_tolerance = 1e-10;
  /// `planned`: also compute the gain from relaxing each limit.
  bool price_limits = false;
  /// `planned`: also compute what whole tasks can reach, if tasks need several things. Off if only the plan
  /// matters.
  bool bound_packings = true;
  /// `planned`: the basis to start from, replaced by the basis of the answer. Ignored if the previous problem
  /// had other kinds of work or limits; counts, rates, servers, worths and the amounts of limits may differ.
  std::shared_ptr<PlanBasis> plan_basis;
  /// `exact`, `weighted`, `planned`: keep the proof of the answer, for a certificate.
  bool keep_proof = false;
};

}  // namespace allot
