// Both questions are one linear system. Write y_s for how often state s is left (its probability or expected
// time, times its total rate) and p(u, s) for the jump probabilities; then
//     y_s = b_s + sum over u of y_u p(u, s).
// In a transient component b is the inflow and y the expected number of visits; in a closed class b = 0 and y
// is determined up to a factor: with one state held at 1, the others are visits between two visits to it.
#include "allot/analyze/detail/markov.hpp"

#include <Eigen/SparseCore>
#include <Eigen/SparseLU>
#include <algorithm>
#include <cmath>
#include <limits>

#include "allot/base/error.hpp"

namespace allot::detail {
namespace {

constexpr double kResidual = 1e-12;  ///< the promised accuracy
constexpr double kWanted = 1e-14;    ///< iteration goes on to this: a small residual can hide a larger error
constexpr int kSweepsBetweenChecks = 8;
constexpr int kPatience = 4000;  ///< sweeps without a smaller residual before elimination is tried
constexpr int kPatienceNearTheEnd = 400;

/// Jump probabilities between the states of one component, by the state they lead to.
struct Jumps {
  std::vector<std::size_t> begin;  ///< by target, and one more
  std::vector<std::uint32_t> from;
  std::vector<double> probability;
  std::vector<double> leaving;  ///< total rate out of each state, also to other components

  std::size_t size() const noexcept { return leaving.size(); }
  double inflow(const std::vector<double>& y, std::size_t s) const noexcept {
    double sum = 0;
    for (std::size_t k = begin[s]; k < begin[s + 1]; ++k) sum += y[from[k]] * probability[k];
    return sum;
  }
};

Jumps jumps_within(const Generator& chain, const Components& parts, std::uint32_t part,
                   std::vector<std::uint32_t>& local) {
  const std::vector<std::uint32_t>& members = parts.members[part];
  Jumps jumps;
  jumps.leaving.assign(members.size(), 0);
  jumps.begin.assign(members.size() + 1, 0);
  for (std::uint32_t m = 0; m < members.size(); ++m) local[members[m]] = m;
  for (std::uint32_t m = 0; m < members.size(); ++m) {
    for (std::size_t k = chain.begin[members[m]]; k < chain.begin[members[m] + 1]; ++k) {
      jumps.leaving[m] += chain.rate[k];
      if (parts.of[chain.target[k]] == part) ++jumps.begin[local[chain.target[k]] + 1];
    }
  }
  for (std::size_t m = 0; m < members.size(); ++m) jumps.begin[m + 1] += jumps.begin[m];
  jumps.from.resize(jumps.begin.back());
  jumps.probability.resize(jumps.begin.back());
  std::vector<std::size_t> next(jumps.begin.begin(), jumps.begin.end() - 1);
  for (std::uint32_t m = 0; m < members.size(); ++m) {
    for (std::size_t k = chain.begin[members[m]]; k < chain.begin[members[m] + 1]; ++k) {
      if (parts.of[chain.target[k]] != part) continue;
      const std::size_t at = next[local[chain.target[k]]]++;
      jumps.from[at] = m;
      jumps.probability[at] = chain.rate[k] / jumps.leaving[m];
    }
  }
  return jumps;
}

/// The error of the equations, relative to the size of the solution.
double residual(const Jumps& jumps, const std::vector<double>& b, const std::vector<double>& y) {
  double missed = 0;
  double size = 0;
  for (std::size_t s = 0; s < jumps.size(); ++s) {
    missed += std::abs(y[s] - (b.empty() ? 0.0 : b[s]) - jumps.inflow(y, s));
    size += std::abs(y[s]);
  }
  return size > 0 ? missed / size : 0.0;
}

void scale_to_one(std::vector<double>& y) {
  double sum = 0;
  for (const double value : y) sum += value;
  for (double& value : y) value /= sum;
}

/// Gauss-Seidel, forwards and backwards. `b` empty: the stationary flow, scaled to sum 1. Returns whether it
/// converged.
bool sweep(const Jumps& jumps, const std::vector<double>& b, std::vector<double>& y, StopPoll& poll,
           int limit) {
  double best = std::numeric_limits<double>::infinity();
  int since_best = 0;
  for (int sweeps = 0; sweeps < limit; ++sweeps) {
    for (std::size_t k = 0; k < jumps.size(); ++k) {
      const std::size_t s = sweeps % 2 == 0 ? k : jumps.size() - 1 - k;
      y[s] = (b.empty() ? 0.0 : b[s]) + jumps.inflow(y, s);
    }
    if (b.empty()) scale_to_one(y);
    if (poll.should_stop_now()) return false;
    if (sweeps % kSweepsBetweenChecks != 0) continue;
    const double now = residual(jumps, b, y);
    if (now <= kWanted) return true;
    if (now < best * 0.99) {
      best = now;
      since_best = 0;
    } else if (since_best += kSweepsBetweenChecks;
               since_best > (best <= kResidual ? kPatienceNearTheEnd : kPatience)) {
      return best <= kResidual;
    }
  }
  return false;
}

/// Solves by elimination. State `pinned` is held at 1 (none: size), the others follow.
bool eliminate(const Jumps& jumps, const std::vector<double>& b, std::size_t pinned, std::vector<double>& y) {
  const std::size_t n = jumps.size();
  const std::size_t unknowns = pinned < n ? n - 1 : n;
  const auto row_of = [&](std::size_t s) { return static_cast<int>(s > pinned ? s - 1 : s); };
  std::vector<Eigen::Triplet<double>> entries;
  Eigen::VectorXd right(static_cast<Eigen::Index>(unknowns));
  for (std::size_t s = 0; s < n; ++s) {
    if (s == pinned) continue;
    double known = b.empty() ? 0.0 : b[s];
    entries.emplace_back(row_of(s), row_of(s), 1.0);
    for (std::size_t k = jumps.begin[s]; k < jumps.begin[s + 1]; ++k) {
      if (jumps.from[k] == pinned) {
        known += jumps.probability[k];
      } else {
        entries.emplace_back(row_of(s), row_of(jumps.from[k]), -jumps.probability[k]);
      }
    }
    right[row_of(s)] = known;
  }
  Eigen::SparseMatrix<double> matrix(static_cast<Eigen::Index>(unknowns),
                                     static_cast<Eigen::Index>(unknowns));
  matrix.setFromTriplets(entries.begin(), entries.end());
  Eigen::SparseLU<Eigen::SparseMatrix<double>> lu;
  lu.compute(matrix);
  if (lu.info() != Eigen::Success) return false;
  Eigen::VectorXd solution = lu.solve(right);
  solution += lu.solve(right - matrix * solution);  // one step of refinement
  for (std::size_t s = 0; s < n; ++s) y[s] = s == pinned ? 1.0 : std::max(0.0, solution[row_of(s)]);
  return std::all_of(y.begin(), y.end(), [](double value) { return std::isfinite(value); });
}

[[noreturn]] void give_up() {
  throw InvalidModel("rates", "the chain cannot be solved to 1e-12: its rates are too far apart");
}

/// Expected visits to the states of a transient component, given the chance of entering at each.
std::vector<double> visits(const Jumps& jumps, const std::vector<double>& entering, StopPoll& poll,
                           const LongRunOptions& options) {
  std::vector<double> y = entering;
  if (jumps.size() == 1) return y;
  if (jumps.size() > options.largest_direct &&
      sweep(jumps, entering, y, poll, std::numeric_limits<int>::max())) {
    return y;
  }
  if (poll.stopped()) return y;
  if (!eliminate(jumps, entering, jumps.size(), y) || residual(jumps, entering, y) > kResidual) give_up();
  return y;
}

/// The long-run part of the time in each state of a closed class.
std::vector<double> stationary(const Jumps& jumps, StopPoll& poll, const LongRunOptions& options) {
  if (jumps.size() == 1) return {1.0};
  std::vector<double> y(jumps.size(), 1.0 / static_cast<double>(jumps.size()));
  const bool large = jumps.size() > options.largest_direct;
  if (!sweep(jumps, {}, y, poll, large ? std::numeric_limits<int>::max() : 32)) {
    if (poll.stopped()) return y;
    // The state held at 1 should be a frequent one; otherwise the others would be huge.
    const auto pinned = static_cast<std::size_t>(std::max_element(y.begin(), y.end()) - y.begin());
    if (!eliminate(jumps, {}, pinned, y)) give_up();
    scale_to_one(y);
    if (residual(jumps, {}, y) > kResidual) give_up();
  }
  for (std::size_t s = 0; s < y.size(); ++s) y[s] /= jumps.leaving[s];  // from visits to time
  scale_to_one(y);
  return y;
}

}  // namespace

Components components(const Generator& chain) {
  constexpr std::uint32_t kUnseen = 0xffffffff;
  const std::size_t n = chain.size();
  Components parts;
  parts.of.assign(n, kUnseen);
  std::vector<std::uint32_t> order(n, kUnseen);
  std::vector<std::uint32_t> lowest(n, 0);
  std::vector<std::uint32_t> open;                          // seen, component not known yet
  std::vector<std::pair<std::uint32_t, std::size_t>> path;  // state, next edge to follow
  std::uint32_t next_order = 0;
  const auto visit = [&](std::uint32_t s) {
    order[s] = lowest[s] = next_order++;
    open.push_back(s);
    path.emplace_back(s, chain.begin[s]);
  };
  for (std::uint32_t root = 0; root < n; ++root) {
    if (order[root] != kUnseen) continue;
    visit(root);
    while (!path.empty()) {
      const std::uint32_t s = path.back().first;
      if (path.back().second < chain.begin[s + 1]) {
        const std::uint32_t t = chain.target[path.back().second++];
        if (order[t] == kUnseen) {
          visit(t);
        } else if (parts.of[t] == kUnseen) {
          lowest[s] = std::min(lowest[s], order[t]);
        }
        continue;
      }
      path.pop_back();
      if (!path.empty()) lowest[path.back().first] = std::min(lowest[path.back().first], lowest[s]);
      if (lowest[s] != order[s]) continue;
      const auto part = static_cast<std::uint32_t>(parts.members.size());
      std::vector<std::uint32_t>& members = parts.members.emplace_back();
      while (parts.of[s] == kUnseen) {
        parts.of[open.back()] = part;
        members.push_back(open.back());
        open.pop_back();
      }
      std::sort(members.begin(), members.end());
    }
  }
  parts.closed.assign(parts.members.size(), true);
  for (std::uint32_t s = 0; s < n; ++s) {
    for (std::size_t k = chain.begin[s]; k < chain.begin[s + 1]; ++k) {
      if (parts.of[chain.target[k]] != parts.of[s]) parts.closed[parts.of[s]] = false;
    }
  }
  return parts;
}

std::vector<ClosedClass> long_run(const Generator& chain,
                                  std::span<const std::pair<std::uint32_t, double>> start, StopPoll& poll,
                                  const LongRunOptions& options) {
  const Components parts = components(chain);
  std::vector<double> entering(chain.size(), 0.0);
  for (const auto& [state, probability] : start) entering[state] += probability;
  std::vector<std::uint32_t> local(chain.size(), 0);
  std::vector<ClosedClass> classes;
  std::vector<double> chances;
  for (std::size_t next = parts.members.size(); next > 0 && !poll.stopped(); --next) {
    const auto part = static_cast<std::uint32_t>(next - 1);
    const std::vector<std::uint32_t>& members = parts.members[part];
    const Jumps jumps = jumps_within(chain, parts, part, local);
    chances.clear();
    for (const std::uint32_t s : members) chances.push_back(entering[s]);
    if (parts.closed[part]) {
      ClosedClass& found = classes.emplace_back();
      found.states = members;
      for (const double chance : chances) found.chance += chance;
      found.stationary = stationary(jumps, poll, options);
      continue;
    }
    const std::vector<double> y = visits(jumps, chances, poll, options);
    for (std::size_t m = 0; m < members.size(); ++m) {
      for (std::size_t k = chain.begin[members[m]]; k < chain.begin[members[m] + 1]; ++k) {
        if (parts.of[chain.target[k]] == part) continue;
        entering[chain.target[k]] += y[m] * chain.rate[k] / jumps.leaving[m];
      }
    }
  }
  double certain = 0;  // 1, up to rounding
  for (const ClosedClass& part : classes) certain += part.chance;
  for (ClosedClass& part : classes) part.chance /= certain;
  return classes;
}

}  // namespace allot::detail
