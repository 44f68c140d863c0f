#include "allot/solve/detail/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "allot/model/throughput.hpp"
#include "allot/solve/detail/search_state.hpp"
#include "allot/solve/detail/start.hpp"

namespace allot::detail {
namespace {

/// Fractions this close to a whole number are rounding errors of the relaxation.
constexpr double kWhole = 1e-6;

/// A relaxed assignment rounded down and, type by type, what is left to place.
struct Box {
  struct Choice {
    ResourceId resource{};
    double fraction = 0;
  };
  struct Row {
    TaskType type{};
    Count left = 0;               // this many of the choices go up
    std::vector<Choice> choices;  // entries that are not whole
  };

  Box(const System& system, std::span<const double> relaxed)
      : floors(system.type_count(), system.resource_count()) {
    for (const TaskType i : system.types()) {
      if (system.count(i) == 0) continue;
      Row row{i, system.count(i), {}};
      for (const ResourceId j : system.resources_for(i)) {
        const double n = std::max(0.0, relaxed[index(i) * system.resource_count() + index(j)]);
        // Never more tasks than there are, whatever the relaxed assignment says.
        const Count down = std::min(static_cast<Count>(std::floor(n + kWhole)), row.left);
        floors(i, j) = down;
        row.left -= down;
        const double fraction = n - static_cast<double>(down);
        if (fraction > kWhole) row.choices.push_back({j, fraction});
      }
      settle(system, row);
      rows.push_back(std::move(row));
    }
  }

  double roundings() const noexcept {
    double product = 1;
    for (const Row& row : rows) {
      for (Count step = 1; step <= row.left; ++step) {
        product *= static_cast<double>(static_cast<Count>(row.choices.size()) - row.left + step) /
                   static_cast<double>(step);
      }
    }
    return std::round(product);
  }

  Assignment floors;
  std::vector<Row> rows;

 private:
  /// Sends surplus tasks home. Only a relaxed row that does not sum to its count can have more tasks left
  /// than choices.
  void settle(const System& system, Row& row) {
    const Count surplus = row.left - static_cast<Count>(row.choices.size());
    if (surplus <= 0) return;
    floors(row.type, *system.home(row.type)) += surplus;
    row.left -= surplus;
  }
};

/// The columns of an assignment that is being filled.
class Columns {
 public:
  Columns(const System& system, const Assignment& assignment) : system_(system) {
    for (const ResourceId j : system.resource_ids()) {
      sums_.push_back(column_sums(system, assignment, j));
      value_.push_back(value(j, sums_.back()));
    }
  }

  double gain(TaskType i, ResourceId j) const noexcept {
    return value(j, sums_[index(j)].plus(system_, i, j, 1)) - value_[index(j)];
  }

  void add(TaskType i, ResourceId j) noexcept {
    ColumnSums& sums = sums_[index(j)];
    sums = sums.plus(system_, i, j, 1);
    value_[index(j)] = value(j, sums);
  }

  double total() const noexcept {
    double total = 0;
    for (const double x : value_) total += x;
    return total;
  }

 private:
  double value(ResourceId j, const ColumnSums& sums) const noexcept {
    return column_value(system_.resource(j).discipline, system_.resource(j).servers, sums);
  }

  const System& system_;
  std::vector<ColumnSums> sums_;
  std::vector<double> value_;
};

class Rounder {
 public:
  Rounder(const System& system, std::span<const double> relaxed, StopPoll& poll)
      : system_(system), poll_(poll), box_(system, relaxed) {}

  std::optional<Assignment> run() {
    repair(largest_remainders());
    if (!poll_.stopped()) repair(greatest_gains());
    if (box_.roundings() <= kMaxRoundings) {
      Assignment trial = box_.floors;
      visit_all(0, 0, box_.rows.empty() ? 0 : box_.rows[0].left, Columns(system_, trial), trial);
    }
    if (best_ && missing_ > 0) meet_floors();
    return std::move(best_);
  }

 private:
  struct Place {
    const Box::Row* row = nullptr;
    ResourceId resource{};
  };

  Assignment largest_remainders() const {
    Assignment result = box_.floors;
    for (const Box::Row& row : box_.rows) {
      std::vector<Box::Choice> order = row.choices;
      std::stable_sort(order.begin(), order.end(),
                       [](const Box::Choice& a, const Box::Choice& b) { return a.fraction > b.fraction; });
      for (Count n = 0; n < row.left; ++n) ++result(row.type, order[static_cast<std::size_t>(n)].resource);
    }
    return result;
  }

  /// From the rounded-down assignment, adds one task after the other where it gains most (or costs least).
  Assignment greatest_gains() {
    Assignment result = box_.floors;
    Columns columns(system_, result);
    std::vector<Count> left(system_.type_count());
    std::vector<Place> open;
    for (const Box::Row& row : box_.rows) {
      left[index(row.type)] = row.left;
      for (const Box::Choice& choice : row.choices) open.push_back({&row, choice.resource});
    }
    for (;;) {
      std::erase_if(open, [&](const Place& place) { return left[index(place.row->type)] == 0; });
      if (open.empty()) return result;
      std::size_t best = 0;
      double best_gain = -std::numeric_limits<double>::infinity();
      for (std::size_t p = 0; p < open.size(); ++p) {
        const double gain = columns.gain(open[p].row->type, open[p].resource);
        if (gain > best_gain) {
          best_gain = gain;
          best = p;
        }
      }
      const TaskType i = open[best].row->type;
      columns.add(i, open[best].resource);
      ++result(i, open[best].resource);
      --left[index(i)];
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(best));
    }
  }

  /// Makes the rounding keep the depths, improves it by single moves within the box, and offers it.
  void repair(Assignment assignment) {
    if (!keep_depths(system_, assignment)) return;
    SearchState state;
    state.reset(system_, Objective::kThroughput, assignment);
    for (bool moved = true; moved && !poll_.stopped();) {
      moved = false;
      for (const Box::Row& row : box_.rows) moved = improve(state, row) || moved;
    }
    offer(state.assignment());
  }

  bool improve(SearchState& state, const Box::Row& row) {
    bool moved = false;
    const TaskType i = row.type;
    for (const Box::Choice& from : row.choices) {
      for (const Box::Choice& to : row.choices) {
        const ResourceId a = from.resource;
        const ResourceId b = to.resource;
        if (a == b || state.at(i, a) <= box_.floors(i, a) || state.at(i, b) > box_.floors(i, b)) continue;
        if (poll_.should_stop()) return false;
        const Exchange move{i, a, b, 1, {}, 0};
        if (!state.keeps_depths(move) || !(state.cost_change(move) < -state.tolerance())) continue;
        state.apply(move);
        moved = true;
      }
    }
    return moved;
  }

  /// Every rounding: `up` more choices of the row go up, from the `choice`-th on. Columns are copied, not
  /// changed back, so that errors do not add up.
  bool visit_all(std::size_t at_row, std::size_t choice, Count up, const Columns& columns,
                 Assignment& trial) {
    if (at_row == box_.rows.size()) {
      // Most roundings are worse; those need no closer look.
      if (system_.has_floors() || !best_ || columns.total() > value_) {
        if (!system_.has_depths() || is_placement(system_, trial)) offer(trial);
      }
      return !poll_.should_stop();
    }
    const Box::Row& row = box_.rows[at_row];
    if (up == 0) {
      const std::size_t next = at_row + 1;
      return visit_all(next, 0, next < box_.rows.size() ? box_.rows[next].left : 0, columns, trial);
    }
    const ResourceId j = row.choices[choice].resource;
    Columns filled = columns;
    filled.add(row.type, j);
    ++trial(row.type, j);
    const bool going = visit_all(at_row, choice + 1, up - 1, filled, trial);
    --trial(row.type, j);
    if (!going) return false;
    const bool can_skip = static_cast<Count>(row.choices.size() - choice) > up;
    return !can_skip || visit_all(at_row, choice + 1, up, columns, trial);
  }

  /// Makes single moves, inside the box or not, always the one that helps most, until all floors are met.
  void meet_floors() {
    SearchState state;
    state.reset(system_, Objective::kThroughput, *best_);
    while (missing_ > 0 && !poll_.stopped()) {
      Exchange best;
      double best_change = -state.tolerance();
      for (const Box::Row& row : box_.rows) {
        const auto allowed = system_.resources_for(row.type);
        for (const ResourceId a : allowed) {
          for (const ResourceId b : allowed) {
            if (a == b || poll_.should_stop()) continue;
            const Count n = state.smallest_move(row.type, a, b);
            if (n == 0) continue;
            const Exchange move{row.type, a, b, n, {}, 0};
            if (const double change = state.cost_change(move); change < best_change) {
              best_change = change;
              best = move;
            }
          }
        }
      }
      if (best.n == 0) return;
      state.apply(best);
      offer(state.assignment());
    }
  }

  /// Keeps a placement if it is better: floors first, then value.
  void offer(const Assignment& assignment) {
    const Performance performance = evaluate(system_, assignment);
    const double missing = floor_shortfall(system_, performance.throughput_by_task);
    if (best_ && (missing > missing_ || (missing == missing_ && performance.value <= value_))) return;
    best_ = assignment;
    missing_ = missing;
    value_ = performance.value;
  }

  const System& system_;
  StopPoll& poll_;
  Box box_;
  std::optional<Assignment> best_;
  double missing_ = 0;
  double value_ = 0;
};

}  // namespace

std::optional<Assignment> best_rounding(const System& system, std::span<const double> relaxed,
                                        StopPoll& poll) {
  return Rounder(system, relaxed, poll).run();
}

}  // namespace allot::detail
