#include "allot/solve/detail/share_programme.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "allot/model/throughput.hpp"

namespace allot::detail {
namespace {

/// Completions below this, in the units of the program, are rounding.
constexpr double kTinyTime = 1e-11;
/// A pair that could complete no more than this part of a unit is left out of the program.
constexpr double kNegligible = 1e-13;

std::string in_quotes(const std::string& name) { return "'" + name + "'"; }

std::string all_running(Count count, const std::string& what, const std::string& of) {
  if (count == 1) return "the only " + what + " of " + of + " is running";
  return "all " + std::to_string(count) + " " + what + "s of " + of + " are running";
}

}  // namespace

ShareProgramme::ShareProgramme(const System& system, ShareReading reading, const std::vector<Pair>& pairs)
    : system_(system), pairs_(pairs), two_stage_(reading == ShareReading::kFloor) {
  first_pair_.assign(system.type_count() + 1, pairs.size());
  for (std::size_t at = pairs.size(); at-- > 0;) first_pair_[index(pairs[at].i)] = at;
  for (std::size_t i = system.type_count(); i-- > 0;)  // those without a pair
    first_pair_[i] = std::min(first_pair_[i], first_pair_[i + 1]);
  level_unit_ = kInfinity;
  for (const TaskType i : system.types()) {
    const double share = system.shares()[index(i)];
    const double most = most_alone(i);
    unit_.push_back(most > 0 ? most : 1);
    if (share > 0 && most > 0) level_unit_ = std::min(level_unit_, most / share);
    throughput_unit_ = std::max(throughput_unit_, most);
  }
  if (!std::isfinite(level_unit_)) level_unit_ = 1;
  build();
}

/// The most that the threads of a type complete when they have the machine to themselves.
double ShareProgramme::most_alone(TaskType i) const {
  std::vector<ResourceId> fastest;
  for (const Pair& pair : pairs_of(i)) fastest.push_back(pair.j);
  std::stable_sort(fastest.begin(), fastest.end(),
                   [&](ResourceId a, ResourceId b) { return system_.rate(i, a) > system_.rate(i, b); });
  double most = 0;
  double left = static_cast<double>(system_.count(i));
  for (const ResourceId j : fastest) {
    const double units = std::min(left, static_cast<double>(system_.resource(j).servers));
    most += units * system_.rate(i, j);
    left -= units;
  }
  return most;
}

void ShareProgramme::build() {
  const System& system = system_;
  const std::vector<Pair>& pairs = pairs_;
  lp_ = LinearProgram();
  seconds_.clear();
  slacks_.clear();
  const int types = static_cast<int>(system.type_count());
  const int resources = static_cast<int>(system.resource_count());
  share_rows_ = lp_.add_rows(system.type_count(), 0, two_stage_ ? kInfinity : 0);
  capacity_rows_ = share_rows_ + types;
  for (const ResourceId j : system.resource_ids()) {
    lp_.add_row(-kInfinity, static_cast<double>(system.resource(j).servers));
  }
  thread_rows_ = capacity_rows_ + resources;
  floor_rows_ = thread_rows_ + types;
  for (const TaskType i : system.types()) {
    const double share = system.shares()[index(i)];
    if (share > 0) unit_[index(i)] = share * level_unit_;
    const double n = static_cast<double>(system.count(i));
    lp_.add_row(n, n);
  }
  for (const TaskType i : system.types()) {
    lp_.add_row(two_stage_ ? system.floor(i) * (1 - kFloorTolerance) / unit_[index(i)] : -kInfinity,
                kInfinity);
  }
  depth_rows_ = floor_rows_ + types;
  lp_.add_rows(system.resource_count(), -kInfinity, kInfinity);
  room_rows_ = depth_rows_ + resources;
  lp_.add_rows(pairs.size(), -kInfinity, 0);

  // Columns: completions per pair, counts per pair, what is missed, the level.
  LinearProgram::Batch columns;
  for (std::size_t at = 0; at < pairs.size(); ++at) {
    const auto [i, j] = pairs[at];
    const double seconds = unit_[index(i)] * system.seconds_per_task(i, j);
    const bool counts = seconds * kNegligible < static_cast<double>(system.resource(j).servers) &&
                        (two_stage_ || system.shares()[index(i)] > 0);
    seconds_.push_back(counts ? seconds : 0);
    columns.begin_column(0);
    if (!counts) continue;
    columns.entry(share_rows_ + static_cast<int>(index(i)), 1);
    columns.entry(floor_rows_ + static_cast<int>(index(i)), 1);
    if (seconds < kNegligible) continue;  // its time is negligible
    columns.entry(capacity_rows_ + static_cast<int>(index(j)), seconds);
    columns.entry(room_rows_ + static_cast<int>(at), std::min(seconds, 1.0));
  }
  for (std::size_t at = 0; at < pairs.size(); ++at) {
    columns.begin_column(0);
    columns.entry(thread_rows_ + static_cast<int>(index(pairs[at].i)), 1);
    columns.entry(depth_rows_ + static_cast<int>(index(pairs[at].j)), 1);
    columns.entry(room_rows_ + static_cast<int>(at), -1 / std::max(seconds_[at], 1.0));
  }
  int column = static_cast<int>(2 * pairs.size());
  for (int row = floor_rows_; row < room_rows_; ++row) {
    columns.begin_column(penalty_);
    columns.entry(row, 1);
    slacks_.push_back(column++);
  }
  columns.begin_column(-1);
  for (const TaskType i : system.types()) {
    if (system.shares()[index(i)] > 0) columns.entry(share_rows_ + static_cast<int>(index(i)), -1);
  }
  level_ = column;
  lp_.add_columns(std::move(columns));
}

void ShareProgramme::set_costs(double level, double throughput) {
  lp_.set_cost(level_, level);
  for (std::size_t at = 0; at < pairs_.size(); ++at) {
    const double unit = seconds_[at] > 0 ? unit_[index(pairs_[at].i)] : 0.0;
    lp_.set_cost(static_cast<int>(at), throughput * unit / throughput_unit_);
  }
}

double ShareProgramme::missed() const {
  double sum = 0;
  for (const int slack : slacks_) sum += lp_.columns()[static_cast<std::size_t>(slack)];
  return sum;
}

bool ShareProgramme::run(StopPoll& poll) {
  // If a floor or depth is missed, the penalty may have been too small.
  while (true) {
    for (const int slack : slacks_) lp_.set_cost(slack, penalty_);
    const LinearProgram::Status status = lp_.solve(&poll);
    steps_ += lp_.steps();
    if (status != LinearProgram::Status::kOptimal) return false;
    if (missed() <= 1e-9 || penalty_ > 1e6) return true;
    penalty_ *= 100;
  }
}

void ShareProgramme::bound_columns(const SharePart& part) {
  for (std::size_t at = 0; at < pairs_.size(); ++at) {
    const bool closed = part.use[index(pairs_[at].j)] == Use::kClosed;
    lp_.set_column(static_cast<int>(pairs_.size() + at), closed ? 0 : part.least[at],
                   closed ? 0 : part.most[at]);
    // Without a task there are no completions, however little time they would take.
    lp_.set_column(static_cast<int>(at), 0, closed || part.most[at] == 0 ? 0 : kInfinity);
  }
  for (const ResourceId j : system_.resource_ids()) {
    const bool open = part.use[index(j)] == Use::kOpen;
    lp_.set_row(depth_rows_ + static_cast<int>(index(j)),
                open ? static_cast<double>(system_.resource(j).min_depth) : -kInfinity, kInfinity);
  }
}

bool ShareProgramme::solve(const SharePart& part, Shares& shares, StopPoll& poll) {
  steps_ = 0;
  penalty_ = 4;
  bound_columns(part);
  if (two_stage_) {  // the level first
    lp_.set_column(level_, 0, kInfinity);
    set_costs(-1, 0);
  }
  // If the best level is far from the units of the variables, solves again in other units.
  for (int again = 0; again < 16; ++again) {
    if (!run(poll)) return false;
    const double level = lp_.columns()[static_cast<std::size_t>(level_)];
    if (two_stage_ || (level > 1e-3 && level < 1e3)) break;
    level_unit_ *= std::clamp(level, 1e-6, 1e6);
    build();
    bound_columns(part);
  }
  shares.level = lp_.columns()[static_cast<std::size_t>(level_)] * level_unit_;
  if (two_stage_) {  // then the throughput, the level kept
    first_duals_.assign(lp_.duals().begin(), lp_.duals().end());
    lp_.set_column(level_, shares.level / level_unit_ * (1 - 1e-12), kInfinity);
    set_costs(0, -1);
    if (!run(poll)) return false;
  }
  const auto solution = lp_.columns();
  shares.complete = missed() <= 1e-9;
  shares.time.assign(pairs_.size(), 0.0);
  shares.counts.assign(solution.begin() + static_cast<std::ptrdiff_t>(pairs_.size()),
                       solution.begin() + static_cast<std::ptrdiff_t>(2 * pairs_.size()));
  shares.throughput = 0;
  for (std::size_t at = 0; at < pairs_.size(); ++at) {
    if (solution[at] <= kTinyTime) continue;
    shares.time[at] = solution[at] * seconds_[at];
    shares.throughput += solution[at] * unit_[index(pairs_[at].i)];
  }
  return true;
}

std::vector<std::string> ShareProgramme::binding(const Assignment& counts,
                                                 std::span<const double> time_shares) const {
  const auto last = lp_.duals();
  const std::vector<double> duals = two_stage_ ? first_duals_ : std::vector<double>(last.begin(), last.end());
  const auto priced = [&](int row) { return std::abs(duals[static_cast<std::size_t>(row)]) > 1e-9; };
  const auto is_all = [](double time, Count of) { return time >= static_cast<double>(of) * (1 - 1e-6); };
  const auto time = [&](TaskType i, ResourceId j) {
    return time_shares[index(i) * system_.resource_count() + index(j)];
  };
  std::vector<std::string> sentences;
  for (const ResourceId j : system_.resource_ids()) {
    double busy = 0;
    for (const TaskType i : system_.types()) busy += time(i, j);
    if (priced(capacity_rows_ + static_cast<int>(index(j))) && is_all(busy, system_.resource(j).servers)) {
      sentences.push_back("resource " + in_quotes(system_.resource(j).name) + " is busy all the time");
    }
  }
  for (const TaskType i : system_.types()) {
    if (system_.count(i) == 0) continue;
    const std::string name = in_quotes(system_.task(i).name);
    bool is_priced = priced(thread_rows_ + static_cast<int>(index(i)));
    double running = 0;
    std::vector<std::string> places;
    for (std::size_t at = first_pair_[index(i)]; at < first_pair_[index(i) + 1]; ++at) {
      const ResourceId j = pairs_[at].j;
      running += time(i, j);
      if (!priced(room_rows_ + static_cast<int>(at))) continue;
      is_priced = true;
      if (counts(i, j) == 0 || !is_all(time(i, j), counts(i, j))) continue;
      places.push_back(
          all_running(counts(i, j), "task", name + " on " + in_quotes(system_.resource(j).name)));
    }
    if (is_priced && is_all(running, system_.count(i))) {
      sentences.push_back(all_running(system_.count(i), "thread", name));
    } else {
      sentences.insert(sentences.end(), places.begin(), places.end());
    }
    if (priced(floor_rows_ + static_cast<int>(index(i)))) {
      sentences.push_back("the floor of " + name + " holds it back");
    }
  }
  return sentences;
}

ProofPrices ShareProgramme::plain_prices() const {
  ProofPrices prices;
  prices.task.assign(system_.type_count(), 1.0);
  prices.completion.assign(system_.type_count(), 0.0);
  prices.unit.assign(system_.resource_count(), 0.0);
  prices.depth.assign(system_.resource_count(), 0.0);
  return prices;
}

ProofPrices ShareProgramme::prices() const {
  ProofPrices prices = plain_prices();
  const auto duals = lp_.duals();
  const auto dual = [&](int rows, std::size_t at) { return duals[static_cast<std::size_t>(rows) + at]; };
  for (std::size_t j = 0; j < system_.resource_count(); ++j) {
    prices.unit[j] = std::max(0.0, -dual(capacity_rows_, j)) * level_unit_;
    prices.depth[j] = std::max(0.0, dual(depth_rows_, j)) * level_unit_;
  }
  for (const TaskType i : system_.types()) {
    const double share = system_.shares()[index(i)];
    double& price = prices.task[index(i)];
    price = share > 0 ? dual(share_rows_, index(i)) / share : 0.0;
    // A price that equals that of a resource's time up to rounding is made equal: if rates are far apart, the
    // rounding would outweigh all the rest.
    double cheapest = kInfinity;
    for (const Pair& pair : pairs_of(i))
      cheapest = std::min(cheapest, prices.unit[index(pair.j)] / system_.rate(i, pair.j));
    if (share > 0 && std::abs(price - cheapest) * share <= 1e-9) price = cheapest;
  }
  double sum = 0;
  for (std::size_t i = 0; i < prices.task.size(); ++i) sum += prices.task[i] * system_.shares()[i];
  if (!(sum > 0.5)) return plain_prices();
  scale(prices, 1 / sum);
  return prices;
}

/// Multiplies all prices by slightly more than the factor, so that, weighted by share, they sum to at least 1
/// despite rounding.
void ShareProgramme::scale(ProofPrices& prices, double factor) const {
  double size = 0;
  for (std::size_t i = 0; i < prices.task.size(); ++i) {
    size += std::abs(prices.task[i]) * system_.shares()[i];
  }
  factor *= 1 + 8 * static_cast<double>(unit_.size() + 4) * std::numeric_limits<double>::epsilon() *
                    (1 + size * factor);
  for (auto* list : {&prices.task, &prices.completion, &prices.unit, &prices.depth}) {
    for (double& price : *list) price *= factor;
  }
}

ProofPrices ShareProgramme::against_floor(ProofPrices prices, TaskType k, double excess) const {
  const double share = system_.shares()[index(k)];
  if (share == 0) {  // it completes nothing at any price
    prices.completion[index(k)] = excess;
    prices.task[index(k)] = -excess;
    return prices;
  }
  scale(prices, 1 + excess);
  prices.completion[index(k)] = excess / share;
  prices.task[index(k)] -= excess / share;
  scale(prices, 1);
  return prices;
}

double ShareProgramme::bound(const SharePart& part, const ProofPrices& prices) const {
  double sum = 0;
  double size = 0;
  const auto add = [&](double term, double term_size) {
    sum += term;
    size += term_size;
  };
  for (const ResourceId j : system_.resource_ids()) {
    const double paid = prices.unit[index(j)] * static_cast<double>(system_.resource(j).servers);
    add(paid, paid);
    if (part.use[index(j)] != Use::kOpen) continue;
    const double depth = prices.depth[index(j)] * static_cast<double>(system_.resource(j).min_depth);
    add(-depth, depth);
  }
  struct Offer {
    double worth;
    double room;
  };
  std::vector<Offer> offers;
  for (const TaskType i : system_.types()) {
    const double premium = prices.completion[index(i)] * (system_.floor(i) * (1 - kFloorTolerance));
    add(-premium, premium);
    offers.clear();
    double largest = 0;  // what goes into the worth of a thread
    double left = static_cast<double>(system_.count(i));
    for (std::size_t at = first_pair_[index(i)]; at < first_pair_[index(i) + 1]; ++at) {
      if (part.use[index(pairs_[at].j)] == Use::kClosed) continue;
      const double price = prices.unit[index(pairs_[at].j)];
      const double rate = system_.rate(i, pairs_[at].j);
      const double gain = (prices.task[index(i)] + prices.completion[index(i)]) * rate;
      const double depth =
          part.use[index(pairs_[at].j)] == Use::kOpen ? prices.depth[index(pairs_[at].j)] : 0.0;
      const double worth = std::max(0.0, gain - price) + depth;
      add(worth * part.least[at], 0);
      left -= part.least[at];
      offers.push_back({worth, part.most[at] - part.least[at]});
      const double gain_size = (std::abs(prices.task[index(i)]) + prices.completion[index(i)]) * rate;
      const bool may_pay = part.most[at] > 0 && gain > price * (1 - 1e-9);
      largest = std::max(largest, may_pay ? gain_size + price + depth : depth);
    }
    add(0, largest * static_cast<double>(system_.count(i)));
    if (left < 0) return -kInfinity;
    std::sort(offers.begin(), offers.end(), [](const Offer& a, const Offer& b) { return a.worth > b.worth; });
    for (const Offer& offer : offers) {
      const double n = std::min(left, offer.room);
      add(offer.worth * n, 0);
      left -= n;
    }
    if (left > 0) return -kInfinity;
  }
  const double terms = static_cast<double>(2 * pairs_.size() + system_.resource_count() + unit_.size() + 16);
  return sum + 4 * terms * std::numeric_limits<double>::epsilon() * size;
}

}  // namespace allot::detail
