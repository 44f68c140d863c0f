#include "allot/check/detail/plan_answer.hpp"

#include <gmpxx.h>

#include <algorithm>

#include "allot/check/detail/exact.hpp"
#include "allot/check/detail/logarithm.hpp"
#include "allot/check/detail/plan_bound.hpp"

namespace allot::check::detail {
namespace {

/// Checks a plan and reports the first problem.
class PlanAnswer {
 public:
  explicit PlanAnswer(const PlanCertificate& certificate)
      : certificate_(certificate),
        plan_(certificate.machine),
        machine_(plan_.machine),
        service_(*certificate.claim.service),
        used_(plan_.capacity_count(), 0),
        counted_(machine_.tasks.size(), 0),
        all_(machine_.tasks.size(), 0),
        watts_(idle_power(plan_)) {}

  std::string problem() {
    add_counted();
    add_groups();
    add_arrivals();
    if (problem_.empty()) keep_limits();
    if (problem_.empty()) keep_claim();
    return problem_;
  }

 private:
  static const mpq_class& tolerance() {
    static const mpq_class part(1, kRowTolerance);
    return part;
  }
  void fail(const std::string& what) {
    if (problem_.empty()) problem_ = what;
  }
  void require_at_most(const mpq_class& value, const mpq_class& most, const std::string& what) {
    if (value > most * (1 + tolerance()))
      fail("the plan takes " + shown(value) + " of " + what + ", of which there are " + shown(most));
  }
  void require_at_least(const mpq_class& value, const mpq_class& least, const std::string& what) {
    if (value < least * (1 - tolerance()))
      fail("the plan has " + shown(value) + " of " + what + ", below the limit of " + shown(least));
  }

  /// Adds what a row of the plan takes, and returns its completions.
  mpq_class serve(std::size_t i, const std::vector<double>& row, mpq_class& threads) {
    mpq_class completed = 0;
    for (std::size_t j = 0; j < row.size(); ++j) {
      if (row[j] == 0) continue;
      if (machine_.rates[i][j] == 0) {
        fail("the plan runs " + quoted(machine_.tasks[i].name) + " at " + quoted(machine_.resources[j].name) +
             ", which cannot run it");
      }
      const mpq_class x = exact(row[j]);
      for (const Need& need : plan_.needs[i][j]) used_[need.capacity] += exact(need.amount) * x;
      threads += x;
      completed += x * exact(machine_.rates[i][j]);
      const mpq_class watts =
          x * servers_taken(plan_, i, j) * (exact(plan_.power[i][j]) - exact(plan_.idle_power[j]));
      watts_ += watts;
      if (watts > 0) taken_ += watts;
    }
    all_[i] += completed;
    return completed;
  }

  void add_counted() {
    for (std::size_t i = 0; i < machine_.tasks.size(); ++i) {
      mpq_class threads = 0;
      counted_[i] = serve(i, service_.tasks[i], threads);
      require_at_most(threads, exact(machine_.tasks[i].count),
                      "threads of " + quoted(machine_.tasks[i].name));
    }
  }

  /// The rounds of a group are those of its scarcest stage. The other stages may complete slightly more
  /// because of rounding, as a part of what the machine could complete.
  void add_groups() {
    for (std::size_t k = 0; k < plan_.groups.size(); ++k) {
      const Group& group = plan_.groups[k];
      const std::string name = "group " + std::to_string(k + 1) + " of threads";
      mpq_class threads = 0;
      std::optional<mpq_class> rounds;
      std::vector<mpq_class> completed;
      for (std::size_t i = 0; i < machine_.tasks.size(); ++i) {
        completed.push_back(serve(i, service_.groups[k][i], threads));
        const std::int64_t times = visits(group, i);
        if (times == 0 && completed.back() != 0)
          fail("the plan runs " + quoted(machine_.tasks[i].name) + " for " + name +
               ", which does not visit it");
        if (times != 0 && (!rounds || completed.back() / exact(times) < *rounds))
          rounds = completed.back() / exact(times);
      }
      for (const std::size_t i : group.sequence) {
        const mpq_class excess = completed[i] - exact(visits(group, i)) * *rounds;
        if (excess > tolerance() * most_alone(plan_, i, group.count))
          fail("the stages of " + name + " do not complete equally many rounds");
      }
      require_at_most(threads, exact(group.count), "the threads of " + name);
      rounds_.push_back(*rounds);
    }
  }

  /// The same fraction of every stream is carried, or all of it if there are threads: only what arrives can
  /// be done.
  void add_arrivals() {
    std::vector<mpq_class> by_stream;
    for (std::size_t s = 0; s < plan_.arrivals.size(); ++s) {
      const Stream& stream = plan_.arrivals[s];
      mpq_class ignored = 0;
      const mpq_class completed = serve(stream.task, service_.arrivals[s], ignored);
      by_stream.push_back(completed);
      if (stream.rate == 0) continue;
      const mpq_class part = completed / exact(stream.rate);
      if (!carried_ || part < *carried_) carried_ = part;
    }
    if (plan_.has_threads() && carried_) require_at_least(*carried_, 1, "the arrivals");
    for (std::size_t s = 0; s < by_stream.size(); ++s) {
      const mpq_class part = plan_.has_threads() ? mpq_class(1) : carried_.value_or(0);
      if (by_stream[s] > part * exact(plan_.arrivals[s].rate) * (1 + tolerance()))
        fail("the plan completes " + shown(by_stream[s]) + " per second of the arrivals of " +
             quoted(machine_.tasks[plan_.arrivals[s].task].name) + ", more than there are");
    }
  }

  void keep_limits() {
    for (std::size_t r = 0; r < used_.size(); ++r)
      require_at_most(used_[r], amount_of(plan_, r), plan_.name_of_capacity(r));
    for (std::size_t i = 0; i < machine_.tasks.size(); ++i) {
      const Task& task = machine_.tasks[i];
      require_at_least(all_[i], exact(task.floor), "completions of " + quoted(task.name));
      if (plan_.max_response[i] && task.count > 0)
        require_at_least(counted_[i], exact(task.count) / exact(*plan_.max_response[i]),
                         "completions of " + quoted(task.name) + ", which its max_response asks for");
    }
    for (std::size_t k = 0; k < plan_.groups.size(); ++k) {
      const Group& group = plan_.groups[k];
      if (group.max_response)
        require_at_least(
            rounds_[k], exact(group.count) / exact(*group.max_response),
            "rounds of group " + std::to_string(k + 1) + " of threads, which its max_response asks for");
    }
    if (plan_.power_cap) keep_power(exact(*plan_.power_cap));
  }

  /// Within a tolerance that is a part of what work takes or must save: if the idle machine takes much, a
  /// part of the cap could be all that is left for work.
  void keep_power(const mpq_class& cap) {
    const mpq_class left = abs(cap - idle_power(plan_));
    if (watts_ > cap + tolerance() * std::max(left, taken_))
      fail("the plan takes " + shown(watts_) + " W, more than the power_cap of " + shown(cap) + " W");
  }

  mpq_class value() const {
    mpq_class value = 0;
    for (std::size_t i = 0; i < counted_.size(); ++i) value += exact(machine_.tasks[i].worth) * counted_[i];
    for (std::size_t k = 0; k < rounds_.size(); ++k) value += exact(plan_.groups[k].worth) * rounds_[k];
    return value;
  }

  /// Completions and weight of every party of fairness.
  template <typename Use>
  void for_each_party(Use&& use) const {
    for (std::size_t i = 0; i < counted_.size(); ++i) {
      const Task& task = machine_.tasks[i];
      if (task.count > 0 && weight_of(task) > 0) use(weight_of(task), counted_[i]);
    }
    for (const mpq_class& rounds : rounds_) use(mpq_class(1), rounds);
  }

  mpq_class in_shares() {
    mpq_class total = 0;
    for (const mpq_class& x : all_) total += x;
    const std::vector<mpq_class> shares = shares_of(machine_);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      if (abs(all_[i] - shares[i] * total) > tolerance() * shares[i] * total)
        fail(quoted(machine_.tasks[i].name) + " does not have the share that its priority asks for");
    }
    return total;
  }

  mpq_class least_level() const {
    std::optional<mpq_class> least;
    for_each_party([&](const mpq_class& weight, const mpq_class& completed) {
      if (!least || completed / weight < *least) least = completed / weight;
    });
    return least.value_or(0);
  }

  mpq_class logarithms() {
    mpq_class sum = 0;
    for_each_party([&](const mpq_class& weight, const mpq_class& completed) {
      if (completed > 0) {
        sum += weight * logarithm(completed).low;
      } else {
        fail("a type or group that takes part completes nothing");
      }
    });
    return sum;
  }

  /// What the plan reaches, or a lower bound of it.
  mpq_class reached() {
    switch (certificate_.objective) {
      case PlanObjective::kHeadroom:
        return carried_.value_or(0);
      case PlanObjective::kShares:
        return in_shares();
      case PlanObjective::kLeast:
        return least_level();
      case PlanObjective::kLogarithms:
        return logarithms();
      default:
        return value() + value_of_arrivals(plan_);
    }
  }

  void keep_claim() {
    const PlanClaim& claim = certificate_.claim;
    if (certificate_.objective == PlanObjective::kPower) {
      require_at_least(value(), exact(claim.value), "value");
      if (watts_ > exact(claim.at_most))
        fail("the plan takes " + shown(watts_) + " W, more than " + shown(exact(claim.at_most)));
      return;
    }
    const mpq_class found = reached();
    if (found < exact(claim.at_least))
      fail("the plan reaches " + shown(found) + ", less than " + shown(exact(claim.at_least)));
  }

  const PlanCertificate& certificate_;
  const PlanMachine& plan_;
  const Machine& machine_;
  const PlanService& service_;
  std::vector<mpq_class> used_;     // per capacity
  std::vector<mpq_class> counted_;  // completions per type, of threads of its own
  std::vector<mpq_class> all_;      // completions per type, of all work
  std::vector<mpq_class> rounds_;   // per group
  std::optional<mpq_class> carried_;
  mpq_class watts_;
  mpq_class taken_ = 0;  // watts by work that takes more than an idle server
  std::string problem_;
};

}  // namespace

std::string problem_of_plan(const PlanCertificate& certificate) { return PlanAnswer(certificate).problem(); }

}  // namespace allot::check::detail
