#include "allot/solve/pareto.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "allot/base/error.hpp"
#include "allot/model/filling.hpp"
#include "allot/solve/best.hpp"
#include "allot/solve/detail/local_search.hpp"
#include "allot/solve/detail/outcome.hpp"
#include "allot/solve/detail/states.hpp"
#include "allot/solve/solver.hpp"

namespace allot {
namespace {

/// Systems with at most this many states are enumerated.
constexpr double kEnumerated = 500'000;
/// At most this many points are kept during a search; far more than anybody asks for.
constexpr std::size_t kMostKept = 100'000;
/// The number of weights of throughput against error that the search tries per factor of ten.
constexpr int kWeightsPerDecade = 4;

/// Throughputs and errors this close, relative to the largest and to 1, are the same: the rest is rounding.
constexpr double kSame = 1e-12;

/// Leaves out, one after the other, the point whose neighbours are closest together, measured along both axes
/// over the whole frontier, until few enough are left. The ends stay, and so does the point `stays` if there
/// is room for it. O(n log n).
void thin(std::vector<ParetoPoint>& points, std::size_t stays, std::size_t most) {
  if (points.size() <= most) return;
  const double width = points.front().value - points.back().value;
  const double height = points.front().priority_error - points.back().priority_error;
  std::vector<std::size_t> before(points.size());  // of those that are left
  std::vector<std::size_t> after(points.size());
  const auto around = [&](std::size_t at) {
    const ParetoPoint& a = points[before[at]];
    const ParetoPoint& b = points[after[at]];
    return std::hypot((a.value - b.value) / width, (a.priority_error - b.priority_error) / height);
  };
  std::set<std::pair<double, std::size_t>> closest;
  for (std::size_t at = 1; at + 1 < points.size(); ++at) {
    before[at] = at - 1;
    after[at] = at + 1;
    if (at != stays || most < 3) closest.emplace(around(at), at);
  }
  std::vector<bool> is_out(points.size(), false);
  for (std::size_t left = points.size(); left > most && !closest.empty(); --left) {
    const std::size_t at = closest.begin()->second;
    closest.erase(closest.begin());
    is_out[at] = true;
    const std::size_t a = before[at];
    const std::size_t b = after[at];
    for (const std::size_t neighbour : {a, b}) {
      if (neighbour == 0 || neighbour + 1 == points.size()) continue;
      const bool may_go = closest.erase({around(neighbour), neighbour}) > 0;
      (neighbour == a ? after[neighbour] : before[neighbour]) = neighbour == a ? b : a;
      if (may_go) closest.emplace(around(neighbour), neighbour);
    }
  }
  std::size_t kept = 0;
  for (std::size_t at = 0; at < points.size(); ++at) {
    if (is_out[at]) continue;
    if (kept != at) points[kept] = std::move(points[at]);
    ++kept;
  }
  points.resize(kept);
}

/// The states that no other beats in both value and error, by decreasing value and decreasing error.
class Archive {
 public:
  /// Keeps at most `most` points.
  explicit Archive(std::size_t most) : most_(most) {}

  /// Whether a state with these values belongs here; `insert` it then.
  bool welcomes(double value, double error) const {
    // The first point with at most this value, to within rounding, is the one after all that have more.
    const auto at = points_.lower_bound(value * (1 - kSame));  // keys fall: first key <= value
    return at == points_.begin() || std::prev(at)->second.priority_error > error + kSame;
  }

  void insert(ParetoPoint point) {
    auto at = points_.lower_bound(point.value * (1 + kSame));
    while (at != points_.end() && at->second.priority_error >= point.priority_error - kSame)
      at = points_.erase(at);
    points_.emplace_hint(at, point.value, std::move(point));
    if (points_.size() > most_) keep_fewer();
  }

  std::vector<ParetoPoint> points() const {
    std::vector<ParetoPoint> result;
    for (const auto& [value, point] : points_) result.push_back(point);
    return result;
  }

 private:
  /// With large counts, the points would not fit in memory: keeps half of them, evenly spread.
  void keep_fewer() {
    std::vector<ParetoPoint> kept = points();
    thin(kept, advised_point(kept), most_ / 2);
    points_.clear();
    for (ParetoPoint& point : kept) points_.emplace_hint(points_.end(), point.value, std::move(point));
  }

  std::size_t most_;
  std::map<double, ParetoPoint, std::greater<>> points_;
};

void enumerate(const System& system, Archive& archive, const SolveOptions& options, StopPoll& poll) {
  constexpr std::uint64_t kBetweenReports = 4096;
  detail::StateVisitor visitor(system);
  const double states = detail::count_states(system);
  std::uint64_t visited = 0;
  std::vector<double> by_task;
  visitor.visit_all([&] {
    if (++visited % kBetweenReports == 0 && options.share_done)
      options.share_done(std::min(1.0, static_cast<double>(visited) / states));
    if (system.has_depths() && !visitor.keeps_depths()) return !poll.should_stop();
    const double value = visitor.value_and_throughputs(by_task);
    const double x = system.has_worths() ? std::accumulate(by_task.begin(), by_task.end(), 0.0) : value;
    if (x > 0 && floor_shortfall(system, by_task) == 0) {
      const double error = priority_error(by_task, x, system.shares());
      if (archive.welcomes(value, error)) {
        ParetoPoint point{.assignment = {}, .value = value, .priority_error = error, .throughput = x};
        visitor.write(point.assignment);
        archive.insert(std::move(point));
      }
    }
    return !poll.should_stop();
  });
}

void offer(const System& system, Archive& archive, const Assignment& assignment) {
  if (!is_placement(system, assignment)) return;
  const Performance performance = evaluate(system, assignment);
  if (!performance.priority_error || floor_shortfall(system, performance.throughput_by_task) > 0) return;
  if (!archive.welcomes(performance.value, *performance.priority_error)) return;
  archive.insert({.assignment = assignment,
                  .value = performance.value,
                  .priority_error = *performance.priority_error,
                  .throughput = performance.throughput});
}

/// Searches for the least error at decreasing weights of the throughput, from each answer to the next and
/// back again, and keeps every state on the way that no other beats.
void search(const System& system, Archive& archive, const SolveOptions& options, StopPoll& poll) {
  const Solution fastest = best_known(system, options);
  const Solution fairest = solve(*find_solver("local"), Problem{system, Objective::kPriority}, options);
  offer(system, archive, fastest.assignment);
  offer(system, archive, fairest.assignment);
  if (!is_placement(system, fastest.assignment) || !is_placement(system, fairest.assignment)) return;
  detail::LocalSearch walk(
      poll, [&](const detail::SearchState& state) { offer(system, archive, state.assignment()); });
  detail::SearchState state;
  RandomStream random(options.seed, 1);
  const int decades = 6;  // weights from 10 down to 1e-5
  const int steps = 2 * (decades * kWeightsPerDecade + 1);
  int done = 0;
  for (const bool from_fastest : {true, false}) {
    Assignment at = from_fastest ? fastest.assignment : fairest.assignment;
    for (int step = 0; step <= decades * kWeightsPerDecade && !poll.stopped(); ++step) {
      const int rank = from_fastest ? step : decades * kWeightsPerDecade - step;
      state.set_throughput_weight(std::pow(10.0, 1.0 - static_cast<double>(rank) / kWeightsPerDecade));
      state.reset(system, Objective::kPriority, at);
      walk.descend(state);
      walk.perturb(state, random, 20 * system.type_count() * system.resource_count());
      state.write(at);
      offer(system, archive, at);
      if (options.share_done) options.share_done(static_cast<double>(++done) / steps);
    }
  }
}

}  // namespace

ParetoBargain bargain(const ParetoPoint& fastest, const ParetoPoint& point) {
  return {1 - point.value / fastest.value,
          fastest.priority_error > 0 ? 1 - point.priority_error / fastest.priority_error : 0.0};
}

/// The point where the product of the value kept and the error cut is largest, provided that it cuts a larger
/// part than it gives up; otherwise the fastest.
std::size_t advised_point(const std::vector<ParetoPoint>& points) {
  std::size_t best = 0;
  double best_worth = 0;
  for (std::size_t at = 1; at < points.size(); ++at) {
    const ParetoBargain offer = bargain(points.front(), points[at]);
    const double worth = (1 - offer.given_up) * offer.cut;
    if (offer.cut > offer.given_up && worth > best_worth) {
      best = at;
      best_worth = worth;
    }
  }
  return best;
}

ParetoFrontier pareto(const System& system, std::size_t max_points, const SolveOptions& options) {
  if (system.shares().empty()) {
    throw InvalidModel("tasks", "the trade-off needs a priority for every task type");
  }
  require_even_sharing(system);
  if (max_points < 2) throw InvalidModel("points", "must be at least 2");
  StopPoll poll(options.stop, detail::poll_stride(system, Objective::kPriority));
  const bool small = detail::count_states(system) <= kEnumerated;
  Archive archive(small ? std::numeric_limits<std::size_t>::max() : std::max(kMostKept, 2 * max_points));
  ParetoFrontier frontier;
  if (small) {
    enumerate(system, archive, options, poll);
  } else {
    search(system, archive, options, poll);
  }
  if (options.share_done && !poll.stopped()) options.share_done(1.0);
  frontier.exhaustive = small && !poll.stopped();
  frontier.points = archive.points();
  if (!frontier.points.empty()) {
    const std::size_t at = advised_point(frontier.points);
    frontier.advised = frontier.points[at];
    thin(frontier.points, at, max_points);
    frontier.approximate =
        std::any_of(frontier.points.begin(), frontier.points.end(),
                    [&](const ParetoPoint& point) { return evaluate(system, point.assignment).approximate; });
  }
  // A point that has an exact formula may be beaten by one that has none.
  const bool proven = frontier.exhaustive && !system.approximate();
  frontier.outcome = frontier.points.empty() && !poll.stopped()
                         ? Outcome::kInfeasible
                         : detail::outcome_of(poll, proven ? Outcome::kOptimal : Outcome::kConverged);
  return frontier;
}

}  // namespace allot
