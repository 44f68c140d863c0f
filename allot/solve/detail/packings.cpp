#include "allot/solve/detail/packings.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "allot/solve/detail/service_program.hpp"

namespace allot::detail {
namespace {

/// Needs that exceed a capacity by at most this part still fit.
constexpr double kFits = 1e-9;
/// Limit on the comparisons of all searches for packings together.
constexpr double kMostSteps = 1e7;
constexpr int kMostPrograms = 300;
constexpr std::uint64_t kNodesPerPoll = 256;
/// With more pairs of task types and resources, the search is not tried.
constexpr std::size_t kMostPlaces = 100;
/// A bound this close to what is reached, relative, counts as reached.
constexpr double kSamePacking = 1e-8;

/// A bound on the objective: the value of work with threads or, with only arrivals, the largest multiple of
/// them.
struct Bound {
  double most = kInfinity;
  bool is_infeasible = false;
};

void aim(ServiceProgram& service) {
  if (service.has_closed_work() || !service.has_arrivals()) {
    service.aim_at_value();
  } else {
    service.aim_at_headroom();
  }
}

/// If there are threads, arrivals are always carried.
std::optional<double> value_of(const ServiceProgram& service, const Bound& bound, double plain) {
  if (bound.is_infeasible) return {};
  const double arrivals = service.has_arrivals() ? service.value_of_arrivals() : 0;
  const bool is_open = service.has_arrivals() && !service.has_closed_work();
  return std::min(plain, is_open ? bound.most * arrivals : bound.most + arrivals);
}

double rounded_by(int k, double part) {
  const double times = (k + 1) * part;
  if (std::abs(times - std::round(times)) <= 1e-12 * times) return part;
  return std::floor(times) / k;
}

/// A task type at a resource: what one more task there takes of held capacities, and the largest fraction of
/// full speed that it can have, since it may need more of a shared capacity than there is.
struct Place {
  TaskType type{};
  ResourceId resource{};
  std::vector<Draw> held;
  double speed = 1;
};

std::vector<Place> places_of(const ServiceProgram& service) {
  const System& system = service.problem().system;
  std::vector<Place> places;
  for (const ServiceProgram::Served& one : service.served()) {
    const auto is_there = [&](const Place& place) {
      return place.type == one.type && place.resource == one.resource;
    };
    if (std::any_of(places.begin(), places.end(), is_there)) continue;
    places.push_back({one.type, one.resource, {}});
    for (const Draw& draw : system.needs(one.type, one.resource)) {
      if (!system.is_shared(draw.capacity)) {
        places.back().held.push_back(draw);
      } else {
        places.back().speed = std::min(places.back().speed, system.amount(draw.capacity) / draw.amount);
      }
    }
  }
  return places;
}

/// Threads that can have tasks of a type.
std::vector<double> threads_of(const Problem& problem) {
  std::vector<double> threads;
  for (const TaskType i : problem.system.types())
    threads.push_back(static_cast<double>(problem.system.count(i)));
  for (const ThreadGroup& group : problem.threads) {
    std::vector<TaskType> visited = group.sequence;
    std::sort(visited.begin(), visited.end());
    visited.erase(std::unique(visited.begin(), visited.end()), visited.end());
    for (const TaskType i : visited) threads[index(i)] += static_cast<double>(group.count);
  }
  for (const Arrivals& stream : problem.arrivals) threads[index(stream.task)] = kInfinity;
  return threads;
}

using Packing = std::vector<double>;  // tasks per place

/// The packing that is worth most at given prices of tasks, by depth-first search. A branch is left if not
/// even fractions of tasks, with each capacity taken alone, could make it better than the best.
class PackingSearch {
 public:
  PackingSearch(const Problem& problem, const std::vector<Place>& places, StopPoll& poll)
      : places_(places), poll_(poll), threads_(threads_of(problem)), counts_(places.size(), 0.0) {
    for (const CapacityId r : problem.system.capacity_ids()) left_.push_back(problem.system.amount(r));
    slack_ = left_;
    for (double& amount : slack_) amount *= kFits;
  }

  /// False: too many steps, or the poll said stop.
  bool run(const std::vector<double>& prices) {
    prices_ = prices;
    order_.clear();
    for (std::size_t p = 0; p < places_.size(); ++p) {
      if (prices_[p] > 0) order_.push_back(p);
    }
    const auto density = [&](std::size_t p) {
      double largest = 0;
      for (const Draw& draw : places_[p].held)
        largest = std::max(largest, draw.amount / left_[index(draw.capacity)]);
      return prices_[p] / largest;
    };
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return density(a) > density(b); });
    position_.assign(places_.size(), 0);
    for (std::size_t at = 0; at < order_.size(); ++at) position_[order_[at]] = at;
    by_capacity_.assign(left_.size(), {});
    for (const std::size_t p : order_) {
      for (const Draw& draw : places_[p].held)
        by_capacity_[index(draw.capacity)].push_back({p, prices_[p] / draw.amount, draw.amount});
    }
    for (auto& users : by_capacity_)
      std::stable_sort(users.begin(), users.end(),
                       [](const User& a, const User& b) { return a.density > b.density; });
    best_value_ = 0;
    found_.clear();
    visit(0, 0);
    return !has_ended();
  }

  double best() const noexcept { return best_value_; }
  /// Each better than the one before.
  const std::vector<Packing>& found() const noexcept { return found_; }

 private:
  struct User {
    std::size_t place = 0;
    double density = 0;  // price per unit of the capacity
    double amount = 0;
  };

  bool has_ended() const noexcept { return steps_ > kMostSteps || poll_.stopped(); }

  double fit(std::size_t p) const {
    double most = threads_[index(places_[p].type)];
    for (const Draw& draw : places_[p].held) {
      const std::size_t r = index(draw.capacity);
      most = std::min(most, std::floor((left_[r] + slack_[r]) / draw.amount));
    }
    return std::max(0.0, most);
  }

  void take(std::size_t p, double tasks) {
    threads_[index(places_[p].type)] -= tasks;
    for (const Draw& draw : places_[p].held) left_[index(draw.capacity)] -= draw.amount * tasks;
    counts_[p] += tasks;
  }

  /// The most that the places from here on can add.
  double hope(std::size_t from) {
    fits_.resize(places_.size());
    double sum = 0;
    for (std::size_t at = from; at < order_.size(); ++at) {
      fits_[order_[at]] = fit(order_[at]);
      sum += prices_[order_[at]] * fits_[order_[at]];
    }
    steps_ += static_cast<double>(order_.size() - from + 1);
    double least = sum;
    for (std::size_t r = 0; r < by_capacity_.size(); ++r) {
      double alone = sum;
      double left = left_[r] + slack_[r];
      for (const User& user : by_capacity_[r]) {
        if (position_[user.place] < from) continue;
        const double tasks = std::min(fits_[user.place], std::max(0.0, left) / user.amount);
        alone -= prices_[user.place] * (fits_[user.place] - tasks);
        left -= tasks * user.amount;
      }
      steps_ += static_cast<double>(by_capacity_[r].size());
      least = std::min(least, alone);
    }
    return least;
  }

  void visit(std::size_t at, double value) {
    if (value > best_value_ * (1 + 1e-12)) {
      best_value_ = value;
      found_.push_back(counts_);
    }
    if (at == order_.size() || has_ended()) return;
    if (++nodes_ % kNodesPerPoll == 0) poll_.should_stop();
    if (value + hope(at) <= best_value_ * (1 + 1e-12)) return;
    const std::size_t p = order_[at];
    for (double tasks = fit(p); tasks >= 0; --tasks) {
      take(p, tasks);
      visit(at + 1, value + prices_[p] * tasks);
      take(p, -tasks);
      if (has_ended() || at + 1 == order_.size()) return;  // at the last place, the largest number is best
    }
  }

  const std::vector<Place>& places_;
  StopPoll& poll_;
  std::vector<double> threads_;  // per type, not yet used
  std::vector<double> left_;     // per capacity
  std::vector<double> slack_;
  std::vector<double> prices_;  // per place
  std::vector<std::size_t> order_;
  std::vector<std::size_t> position_;
  std::vector<std::vector<User>> by_capacity_;
  std::vector<double> fits_;
  Packing counts_;
  double best_value_ = 0;
  std::vector<Packing> found_;
  double steps_ = 0;
  std::uint64_t nodes_ = 0;
};

/// Mixes of the packings that are known.
class PackingProgram {
 public:
  PackingProgram(const Problem& problem, StopPoll& poll)
      : service_(problem), places_(places_of(service_)), poll_(poll), search_(problem, places_, poll) {
    aim(service_);
  }
  const ServiceProgram& service() const noexcept { return service_; }

  /// Empty if it takes too long.
  std::optional<Bound> run() {
    if (places_.size() > kMostPlaces) return {};
    BoundedProgram& program = service_.program();
    const BoundedProgram::Answer fluid = program.maximise(poll_);
    if (!fluid.is_optimal()) return {};
    add_rows();
    // Fractions of tasks, at a price that is worth paying only to meet limits.
    const double penalty = 10 * std::max(std::abs(fluid.bound), 1e-300);
    const std::size_t parts = add_packing(served_by(fluid.columns), -penalty);
    for (std::size_t p = 0; p < places_.size(); ++p) {
      std::vector<double> alone(places_.size(), 0.0);
      alone[p] = 1;
      if (!search_.run(alone)) return {};
      if (!search_.found().empty()) add_packing(served_by_packing(search_.found().back()), 0);
    }
    Bound bound{fluid.bound, false};
    for (int programs = 0; programs < kMostPrograms; ++programs) {
      const BoundedProgram::Answer answer = program.maximise(poll_);
      if (!answer.is_optimal()) return {};
      std::vector<double> prices;
      for (std::size_t p = 0; p < places_.size(); ++p)
        prices.push_back(std::max(0.0, answer.prices[rows_[p]]) * places_[p].speed);
      const double mix = std::max(0.0, answer.prices[mix_]);
      if (!search_.run(prices)) return {};
      const double more = std::max(0.0, search_.best() - mix);
      bound.most = std::min(bound.most, answer.bound + more);
      if (more <= kSamePacking * std::abs(answer.value) || search_.found().empty()) {
        bound.is_infeasible = answer.columns[parts] > 1e-7;
        if (!bound.is_infeasible) mixed_ = served_by(answer.columns);
        return bound;
      }
      for (const Packing& packing : search_.found()) {
        double worth = 0;
        for (std::size_t p = 0; p < places_.size(); ++p) worth += prices[p] * packing[p];
        if (worth > mix) add_packing(served_by_packing(packing), 0);
      }
    }
    return {};
  }

  /// The means of the best mix, by pair; empty if there is none.
  std::vector<double> shares() const {
    if (mixed_.empty()) return {};
    const System& system = service_.problem().system;
    std::vector<double> shares(system.type_count() * system.resource_count(), 0.0);
    for (std::size_t p = 0; p < places_.size(); ++p)
      shares[index(places_[p].type) * system.resource_count() + index(places_[p].resource)] = mixed_[p];
    return shares;
  }

 private:
  std::size_t place_of(const ServiceProgram::Served& one) const {
    return static_cast<std::size_t>(std::find_if(places_.begin(), places_.end(),
                                                 [&](const Place& place) {
                                                   return place.type == one.type &&
                                                          place.resource == one.resource;
                                                 }) -
                                    places_.begin());
  }

  void add_rows() {
    BoundedProgram& program = service_.program();
    for (std::size_t p = 0; p < places_.size(); ++p) rows_.push_back(program.add_row(-kInfinity, 0));
    for (const ServiceProgram::Served& one : service_.served())
      program.add_entry(rows_[place_of(one)], one.column, 1);
    mix_ = program.add_row(-kInfinity, 1);
  }

  Packing served_by_packing(Packing packing) const {
    for (std::size_t p = 0; p < places_.size(); ++p) packing[p] *= places_[p].speed;
    return packing;
  }

  std::size_t add_packing(const Packing& packing, double gain) {
    BoundedProgram& program = service_.program();
    const std::size_t column = program.add_column(2, gain);
    program.add_entry(mix_, column, 1);
    for (std::size_t p = 0; p < places_.size(); ++p) {
      if (packing[p] > 0) program.add_entry(rows_[p], column, -packing[p]);
    }
    return column;
  }

  Packing served_by(const std::vector<double>& columns) const {
    Packing served(places_.size(), 0.0);
    for (const ServiceProgram::Served& one : service_.served()) served[place_of(one)] += columns[one.column];
    return served;
  }

  ServiceProgram service_;
  std::vector<Place> places_;
  StopPoll& poll_;
  PackingSearch search_;
  std::vector<std::size_t> rows_;  // per place: no more in service than in the packings
  std::size_t mix_ = 0;            // row: the weights of all packings
  Packing mixed_;                  // means in service of the best mix
};

}  // namespace

std::optional<double> packing_bound_of_rows(const Problem& problem, double plain, StopPoll& poll) {
  constexpr int kMostTimes = 6;
  const System& system = problem.system;
  ServiceProgram service(problem);
  aim(service);
  BoundedProgram& program = service.program();
  for (const CapacityId r : system.capacity_ids()) {
    if (system.is_shared(r)) continue;
    for (int k = 1; k <= kMostTimes; ++k) {
      std::vector<std::pair<std::size_t, double>> terms;
      bool says_more = false;  // than the capacity itself
      for (const ServiceProgram::Served& one : service.served()) {
        for (const Draw& draw : system.needs(one.type, one.resource)) {
          if (draw.capacity != r) continue;
          const double part = draw.amount / system.amount(r);
          const double rounded = rounded_by(k, part);
          says_more = says_more || rounded > part;
          if (rounded > 0) terms.emplace_back(one.column, rounded);
        }
      }
      if (!says_more) continue;
      const std::size_t row = program.add_row(-kInfinity, 1);
      for (const auto& [column, value] : terms) program.add_entry(row, column, value);
    }
  }
  const BoundedProgram::Answer answer = program.maximise(poll);
  return value_of(service, {answer.bound, answer.status == LinearProgram::Status::kInfeasible}, plain);
}

std::optional<double> packing_bound(const Problem& problem, double plain, StopPoll& poll,
                                    std::vector<double>* shares) {
  if (!problem.system.has_needs()) return plain;
  PackingProgram packings(problem, poll);
  if (const auto bound = packings.run()) {
    if (shares != nullptr) *shares = packings.shares();
    return value_of(packings.service(), *bound, plain);
  }
  return packing_bound_of_rows(problem, plain, poll);
}

}  // namespace allot::detail
