#include "allot/check/detail/plan_bound.hpp"

#include <algorithm>
#include <numeric>

#include "allot/check/detail/exact.hpp"
#include "allot/check/detail/logarithm.hpp"

namespace allot::check::detail {
namespace {

/// The most tasks of a type that can be in service at a resource.
mpq_class most_in_service(const PlanMachine& plan, std::size_t i, std::size_t j, const mpq_class& threads,
                          bool has_any_number) {
  std::optional<mpq_class> most;
  if (!has_any_number) most = threads;
  for (const Need& need : plan.needs[i][j]) {
    const mpq_class fit = amount_of(plan, need.capacity) / exact(need.amount);
    if (!most || fit < *most) most = fit;
  }
  return *most;
}

/// For any prices, the bound is the limits of the rows at their prices, plus each column's gain beyond what
/// it pays, times the largest value of the column.
class PlanBound {
 public:
  explicit PlanBound(const PlanCertificate& certificate)
      : certificate_(certificate),
        plan_(certificate.machine),
        machine_(plan_.machine),
        prices_(certificate.prices),
        gains_(!certificate.claim.infeasible) {}

  /// No plan has a better objective; with an infeasible claim, it is negative only if there is no plan.
  mpq_class bound() {
    pay_rows();
    add_counted();
    add_groups();
    add_arrivals();
    add_level();
    return bound_;
  }

 private:
  bool aims_at(PlanObjective objective) const { return gains_ && certificate_.objective == objective; }

  void pay_rows() {
    for (std::size_t r = 0; r < plan_.capacity_count(); ++r)
      bound_ += exact(prices_.units[r]) * amount_of(plan_, r);
    for (std::size_t i = 0; i < machine_.tasks.size(); ++i) {
      const mpq_class count = exact(machine_.tasks[i].count);
      bound_ += exact(prices_.threads[i]) * count;
      if (prices_.floors[i] != 0) bound_ -= exact(prices_.floors[i]) * exact(machine_.tasks[i].floor);
      if (prices_.responses[i] != 0)
        bound_ -= exact(prices_.responses[i]) * count / exact(*plan_.max_response[i]);
    }
    for (std::size_t k = 0; k < plan_.groups.size(); ++k) {
      const mpq_class count = exact(plan_.groups[k].count);
      bound_ += exact(prices_.group_threads[k]) * count;
      if (prices_.group_responses[k] != 0)
        bound_ -= exact(prices_.group_responses[k]) * count / exact(*plan_.groups[k].max_response);
    }
    if (prices_.power != 0) bound_ += exact(prices_.power) * (exact(*plan_.power_cap) - idle_power(plan_));
    bound_ -= exact(prices_.arrivals);
    bound_ -= exact(prices_.value) * exact(certificate_.claim.value);
  }

  void add_column(const mpq_class& gained, const mpq_class& most) {
    if (gained > 0) bound_ += gained * most;
  }

  /// The columns of a type at all resources: each completion gains, each task in service takes a thread.
  void serve(std::size_t i, const mpq_class& per_completion, const mpq_class& per_thread,
             std::int64_t threads) {
    const mpq_class per_watt = exact(prices_.power) + (aims_at(PlanObjective::kPower) ? 1 : 0);
    for (std::size_t j = 0; j < machine_.resources.size(); ++j) {
      if (machine_.rates[i][j] == 0) continue;
      mpq_class gained = exact(machine_.rates[i][j]) * per_completion - per_thread;
      for (const Need& need : plan_.needs[i][j])
        gained -= exact(prices_.units[need.capacity]) * exact(need.amount);
      if (per_watt != 0)
        gained -=
            per_watt * servers_taken(plan_, i, j) * (exact(plan_.power[i][j]) - exact(plan_.idle_power[j]));
      add_column(gained, most_in_service(plan_, i, j, exact(threads), threads < 0));
    }
  }

  /// What every completion of a type gains, for all kinds of work.
  mpq_class common(std::size_t i) const { return exact(prices_.floors[i]) - exact(prices_.shares[i]); }

  void add_counted() {
    for (std::size_t i = 0; i < machine_.tasks.size(); ++i) {
      const Task& task = machine_.tasks[i];
      if (task.count == 0) continue;
      mpq_class gain = common(i) + exact(prices_.responses[i]) + exact(prices_.levels[i]) +
                       exact(prices_.value) * exact(task.worth);
      if (aims_at(PlanObjective::kValue)) gain += exact(task.worth);
      if (aims_at(PlanObjective::kLogarithms) && weight_of(task) > 0)
        gain += weight_of(task) / exact(prices_.tangents[i]);
      serve(i, gain, exact(prices_.threads[i]), task.count);
    }
  }

  void add_groups() {
    for (std::size_t k = 0; k < plan_.groups.size(); ++k) {
      const Group& group = plan_.groups[k];
      mpq_class round = exact(prices_.group_responses[k]) + exact(prices_.group_levels[k]) +
                        exact(prices_.value) * exact(group.worth);
      if (aims_at(PlanObjective::kValue)) round += exact(group.worth);
      if (aims_at(PlanObjective::kLogarithms)) round += 1 / exact(prices_.group_tangents[k]);
      std::optional<mpq_class> most;
      for (std::size_t i = 0; i < machine_.tasks.size(); ++i) {
        const std::int64_t times = visits(group, i);
        if (times == 0) continue;
        const mpq_class stage = exact(prices_.stages[k][i]);
        round += exact(times) * stage;
        serve(i, common(i) - stage, exact(prices_.group_threads[k]), group.count);
        const mpq_class alone = most_alone(plan_, i, group.count) / exact(times);
        if (!most || alone < *most) most = alone;
      }
      add_column(round, *most);
    }
  }

  void add_arrivals() {
    std::optional<mpq_class> most;
    mpq_class carried = exact(prices_.arrivals) + (aims_at(PlanObjective::kHeadroom) ? 1 : 0);
    for (std::size_t s = 0; s < plan_.arrivals.size(); ++s) {
      const Stream& stream = plan_.arrivals[s];
      if (stream.rate == 0) continue;
      carried -= exact(prices_.streams[s]) * exact(stream.rate);
      serve(stream.task, common(stream.task) + exact(prices_.streams[s]), 0, -1);
      const mpq_class alone = most_alone(plan_, stream.task, -1) / exact(stream.rate);
      if (!most || alone < *most) most = alone;
    }
    if (!most) return;
    add_column(carried, plan_.has_threads() || !gains_ ? std::min(*most, mpq_class(1)) : *most);
  }

  /// The level of shares, or the least level.
  void add_level() {
    if (certificate_.objective == PlanObjective::kShares) {
      mpq_class gained = gains_ ? 1 : 0;
      const std::vector<mpq_class> shares = shares_of(machine_);
      for (std::size_t i = 0; i < shares.size(); ++i) gained += exact(prices_.shares[i]) * shares[i];
      add_column(gained, plan_.has_threads() ? most_completions() : mpq_class(0));
    }
    if (certificate_.objective != PlanObjective::kLeast) return;
    mpq_class gained = gains_ ? 1 : 0;
    std::optional<mpq_class> most;
    const auto part = [&](const mpq_class& weight, double price, const mpq_class& alone) {
      gained -= exact(price) * weight;
      if (!most || alone / weight < *most) most = alone / weight;
    };
    for (std::size_t i = 0; i < machine_.tasks.size(); ++i) {
      const Task& task = machine_.tasks[i];
      if (task.count > 0 && weight_of(task) > 0)
        part(weight_of(task), prices_.levels[i], most_alone(plan_, i, task.count));
    }
    for (std::size_t k = 0; k < plan_.groups.size(); ++k) {
      const Group& group = plan_.groups[k];
      std::optional<mpq_class> rounds;
      for (const std::size_t i : group.sequence) {
        const mpq_class alone = most_alone(plan_, i, group.count) / exact(visits(group, i));
        if (!rounds || alone < *rounds) rounds = alone;
      }
      part(1, prices_.group_levels[k], *rounds);
    }
    if (most) add_column(gained, *most);
  }

  mpq_class most_completions() const {
    mpq_class most = 0;
    for (std::size_t j = 0; j < machine_.resources.size(); ++j) {
      mpq_class fastest = 0;  // per server
      for (std::size_t i = 0; i < machine_.tasks.size(); ++i) {
        if (machine_.rates[i][j] > 0)
          fastest = std::max<mpq_class>(fastest, exact(machine_.rates[i][j]) / servers_taken(plan_, i, j));
      }
      most += fastest * exact(machine_.resources[j].servers);
    }
    return most;
  }

  const PlanCertificate& certificate_;
  const PlanMachine& plan_;
  const Machine& machine_;
  const PlanPrices& prices_;
  bool gains_;  // the claim is a bound, not that there is no plan
  mpq_class bound_ = 0;
};

bool has_limit(const PlanMachine& plan, const PlanLimit& limit) {
  switch (limit.kind) {
    case PlanLimit::Kind::kFloor:
      return plan.machine.tasks[limit.at].floor > 0;
    case PlanLimit::Kind::kResponse:
      return plan.max_response[limit.at] && plan.machine.tasks[limit.at].count > 0;
    case PlanLimit::Kind::kRoundResponse:
      return plan.groups[limit.at].max_response.has_value();
    case PlanLimit::Kind::kPower:
      return plan.power_cap.has_value();
    case PlanLimit::Kind::kArrivals:
      break;
  }
  return plan.has_threads() && std::any_of(plan.arrivals.begin(), plan.arrivals.end(),
                                           [](const Stream& stream) { return stream.rate > 0; });
}

/// A conflict is between limits that exist, each named once.
std::string problem_of_conflict(const PlanCertificate& certificate) {
  const std::vector<PlanLimit>& conflict = certificate.claim.conflict;
  for (auto limit = conflict.begin(); limit != conflict.end(); ++limit) {
    if (!has_limit(certificate.machine, *limit))
      return "the conflict names a limit that the system does not have";
    if (std::find(conflict.begin(), limit, *limit) != limit) return "the conflict names a limit twice";
  }
  return {};
}

/// Prices must be for limits that exist and for the objective's own rows only. With an infeasible claim, they
/// must be for named limits.
std::string problem_of_prices(const PlanCertificate& certificate) {
  const PlanMachine& plan = certificate.machine;
  const PlanPrices& prices = certificate.prices;
  const PlanClaim& claim = certificate.claim;
  using Kind = PlanLimit::Kind;
  const auto is_named = [&](Kind kind, std::size_t at) {
    return !claim.infeasible || std::find(claim.conflict.begin(), claim.conflict.end(),
                                          PlanLimit{kind, at}) != claim.conflict.end();
  };
  const char* const unknown = "there is a price for a limit that the system does not have";
  const char* const unnamed = "there is a price for a limit that is not named in the conflict";
  for (std::size_t i = 0; i < plan.machine.tasks.size(); ++i) {
    if (prices.responses[i] != 0 && (!plan.max_response[i] || plan.machine.tasks[i].count == 0))
      return unknown;
    if (prices.floors[i] != 0 && !is_named(Kind::kFloor, i)) return unnamed;
    if (prices.responses[i] != 0 && !is_named(Kind::kResponse, i)) return unnamed;
    if (certificate.objective != PlanObjective::kShares && prices.shares[i] != 0) return unknown;
    if (prices.levels[i] != 0 &&
        (certificate.objective != PlanObjective::kLeast || !(weight_of(plan.machine.tasks[i]) > 0)))
      return unknown;
  }
  for (std::size_t k = 0; k < plan.groups.size(); ++k) {
    if (prices.group_responses[k] != 0 && !plan.groups[k].max_response) return unknown;
    if (prices.group_responses[k] != 0 && !is_named(Kind::kRoundResponse, k)) return unnamed;
    if (prices.group_levels[k] != 0 && certificate.objective != PlanObjective::kLeast) return unknown;
  }
  if (prices.power != 0 && !plan.power_cap) return unknown;
  if (prices.power != 0 && !is_named(Kind::kPower, 0)) return unnamed;
  // With only arrivals, a multiple of them may be carried, unless the claim is that limits exclude each
  // other.
  if (prices.arrivals != 0 && !plan.has_threads() && !claim.infeasible) return unknown;
  if (prices.arrivals > 0 && !is_named(Kind::kArrivals, 0)) return unnamed;
  if (prices.value != 0 && certificate.objective != PlanObjective::kPower) return unknown;
  return {};
}

/// Sum of p log X <= sum of p (log z - 1) + sum of p X / z: the first of these sums.
std::optional<mpq_class> constant_of_tangents(const PlanCertificate& certificate) {
  mpq_class sum = 0;
  const auto touch = [&](const mpq_class& weight, double at) {
    if (!(at > 0)) return false;
    sum += weight * (logarithm(exact(at)).high - 1);
    return true;
  };
  for (std::size_t i = 0; i < certificate.machine.machine.tasks.size(); ++i) {
    const Task& task = certificate.machine.machine.tasks[i];
    if (task.count == 0 || weight_of(task) == 0) continue;
    if (!touch(weight_of(task), certificate.prices.tangents[i])) return {};
  }
  for (const double at : certificate.prices.group_tangents) {
    if (!touch(1, at)) return {};
  }
  return sum;
}

}  // namespace

mpq_class amount_of(const PlanMachine& machine, std::size_t capacity) {
  const std::size_t width = machine.machine.resources.size();
  if (capacity < width) return exact(machine.machine.resources[capacity].servers);
  return exact(machine.capacities[capacity - width].amount);
}

mpq_class servers_taken(const PlanMachine& machine, std::size_t type, std::size_t resource) {
  mpq_class taken = 0;
  for (const Need& need : machine.needs[type][resource]) {
    if (need.capacity == resource) taken += exact(need.amount);
  }
  return taken;
}

mpq_class most_alone(const PlanMachine& plan, std::size_t type, std::int64_t threads) {
  const Machine& machine = plan.machine;
  std::vector<std::size_t> fastest(machine.resources.size());
  std::iota(fastest.begin(), fastest.end(), std::size_t{0});
  std::stable_sort(fastest.begin(), fastest.end(), [&](std::size_t a, std::size_t b) {
    return machine.rates[type][a] > machine.rates[type][b];
  });
  mpq_class most = 0;
  mpq_class left = exact(threads);
  for (const std::size_t j : fastest) {
    if (machine.rates[type][j] == 0) break;
    const mpq_class units = most_in_service(plan, type, j, left, threads < 0);
    most += units * exact(machine.rates[type][j]);
    left -= units;
  }
  return most;
}

std::int64_t visits(const Group& group, std::size_t type) {
  return std::count(group.sequence.begin(), group.sequence.end(), type);
}

std::vector<mpq_class> shares_of(const Machine& machine) {
  mpq_class sum = 0;
  for (const Task& task : machine.tasks) sum += exact(task.priority.value_or(0));
  std::vector<mpq_class> shares;
  for (const Task& task : machine.tasks) shares.push_back(exact(task.priority.value_or(0)) / sum);
  return shares;
}

mpq_class weight_of(const Task& task) { return exact(task.priority.value_or(1)); }

mpq_class value_of_arrivals(const PlanMachine& machine) {
  mpq_class value = 0;
  for (const Stream& stream : machine.arrivals)
    value += exact(machine.machine.tasks[stream.task].worth) * exact(stream.rate);
  return value;
}

mpq_class idle_power(const PlanMachine& machine) {
  mpq_class watts = 0;
  for (std::size_t j = 0; j < machine.machine.resources.size(); ++j)
    watts += exact(machine.idle_power[j]) * exact(machine.machine.resources[j].servers);
  return watts;
}

std::string problem_of_bound(const PlanCertificate& certificate) {
  if (std::string problem = problem_of_prices(certificate); !problem.empty()) return problem;
  if (std::string problem = problem_of_conflict(certificate); !problem.empty()) return problem;
  const PlanClaim& claim = certificate.claim;
  mpq_class constant = 0;
  if (!claim.infeasible && certificate.objective == PlanObjective::kLogarithms) {
    const std::optional<mpq_class> tangents = constant_of_tangents(certificate);
    if (!tangents) return "a tangent is missing: each type or group that takes part needs one, above 0";
    constant = *tangents;
  }
  if (certificate.objective == PlanObjective::kValue) constant = value_of_arrivals(certificate.machine);
  const mpq_class bound = PlanBound(certificate).bound();
  if (claim.infeasible) return bound < 0 ? "" : "the prices do not show that the limits exclude each other";
  if (certificate.objective == PlanObjective::kPower) {
    const mpq_class least = idle_power(certificate.machine) - bound;
    if (least >= exact(claim.at_least)) return {};
    return "the prices prove that " + shown(least) + " W are needed, not " + shown(exact(claim.at_least));
  }
  if (bound + constant <= exact(claim.at_most)) return {};
  return "the prices prove a bound of " + shown(bound + constant) + ", not of " + shown(exact(claim.at_most));
}

}  // namespace allot::check::detail
