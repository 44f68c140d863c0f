#include "allot/solve/detail/service_proof.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "allot/base/quote.hpp"

namespace allot::detail {
namespace {

using Kind = PlanLimit::Kind;

/// A little less than a checker allows, since the sums here are rounded.
constexpr double kTolerance = 0.9e-9;

/// A plan as a checker sees it: completions are recomputed, and a group has as many rounds as its scarcest
/// stage.
class Shown {
 public:
  Shown(const ServiceProgram& service, const std::vector<double>& columns)
      : service_(service),
        problem_(service.problem()),
        system_(problem_.system),
        own_(system_.type_count(), 0.0),
        all_(system_.type_count(), 0.0),
        by_stream_(problem_.arrivals.size(), 0.0) {
    const std::size_t pairs = system_.type_count() * system_.resource_count();
    plan_.tasks.assign(pairs, 0.0);
    plan_.groups.assign(problem_.threads.size(), std::vector<double>(pairs, 0.0));
    plan_.arrivals.assign(problem_.arrivals.size(), std::vector<double>(system_.resource_count(), 0.0));
    std::vector<std::vector<double>> by_stage(problem_.threads.size(),
                                              std::vector<double>(system_.type_count(), 0.0));
    std::vector<double> used(system_.capacity_count(), 0.0);
    std::vector<double> threads(system_.type_count(), 0.0);
    std::vector<double> group_threads(problem_.threads.size(), 0.0);
    for (const ServiceProgram::Served& one : service.served()) {
      const double x = columns[one.column];
      if (x == 0) continue;
      ++terms_;
      const double completed = system_.rate(one.type, one.resource) * x;
      const std::size_t pair = index(one.type) * system_.resource_count() + index(one.resource);
      all_[index(one.type)] += completed;
      for (const Draw& draw : system_.needs(one.type, one.resource))
        used[index(draw.capacity)] += draw.amount * x;
      const double watts = service.extra_power(one);
      watts_ += watts * x;
      taken_ += std::max(0.0, watts * x);
      watts_size_ += std::abs(watts * x);
      if (one.is_counted()) {
        plan_.tasks[pair] = x;
        own_[index(one.type)] += completed;
        threads[index(one.type)] += x;
      } else if (one.work == ServiceProgram::Work::kGroup) {
        plan_.groups[one.at][pair] = x;
        by_stage[one.at][index(one.type)] += completed;
        group_threads[one.at] += x;
      } else {
        plan_.arrivals[one.at][index(one.resource)] = x;
        by_stream_[one.at] += completed;
      }
    }
    for (const CapacityId r : system_.capacity_ids())
      require(used[index(r)] <= system_.amount(r) * (1 + kTolerance),
              (system_.is_servers(r) ? "the servers of " : "the capacity ") +
                  quote::name(system_.capacity_name(r)));
    for (const TaskType i : system_.types())
      require(threads[index(i)] <= static_cast<double>(system_.count(i)) * (1 + kTolerance),
              "the threads of " + quote::name(system_.task(i).name));
    count_rounds(by_stage, group_threads);
    keep_limits();
  }

  /// The first limit that the plan misses; empty: it meets all.
  const std::string& missed() const noexcept { return missed_; }
  const PlanService& plan() const noexcept { return plan_; }

  /// The value of the objective, rounded to the safe side.
  double reached(const std::vector<ServiceProgram::Party>& parties, double least_value) {
    double sum = 0;
    double size = 0;
    const auto add = [&](double term) {
      sum += term;
      size += std::abs(term);
    };
    switch (problem_.objective) {
      case Objective::kPriority:
        for (const double x : all_) add(x);
        keep_shares(sum);
        break;
      case Objective::kMaxMin:
        sum = size = least_level(parties);
        break;
      case Objective::kProportional:
        for (const ServiceProgram::Party& party : parties) {
          add(party.weight * std::log(completed(party)));
          size += party.weight;  // the argument of the logarithm is rounded
        }
        break;
      case Objective::kEnergy:
        for (const double term : value_terms()) add(term);
        require(sum >= least_value * (1 - kTolerance), "the value to keep");
        sum = service_.idle_power() + watts_;
        return sum + rounding() * (service_.idle_power() + watts_size_);
      default:
        if (!service_.has_closed_work() && service_.has_arrivals()) {
          sum = size = carried();
          break;
        }
        for (const double term : value_terms()) add(term);
        for (const Arrivals& stream : problem_.arrivals) add(system_.worth(stream.task) * stream.rate);
    }
    return sum - rounding() * size;
  }

 private:
  void require(bool holds, const std::string& what) {
    if (!holds && missed_.empty()) missed_ = what;
  }

  /// The possible error of sums with this number of terms, as a part of the sum of their magnitudes.
  double rounding() const noexcept {
    const double others = static_cast<double>(system_.type_count() + system_.resource_count() +
                                              problem_.threads.size() + problem_.arrivals.size());
    return 2 * (static_cast<double>(terms_) + others + 16) * std::numeric_limits<double>::epsilon();
  }

  void count_rounds(const std::vector<std::vector<double>>& by_stage,
                    const std::vector<double>& group_threads) {
    for (std::size_t k = 0; k < problem_.threads.size(); ++k) {
      const double threads = static_cast<double>(problem_.threads[k].count);
      double rounds = kInfinity;
      for (const auto& stage : service_.rows().stages[k])
        rounds = std::min(rounds, by_stage[k][index(stage.type)] / stage.times);
      for (const auto& stage : service_.rows().stages[k]) {
        require(by_stage[k][index(stage.type)] - stage.times * rounds <=
                    kTolerance * service_.most_alone(stage.type, threads),
                "the rounds of group " + std::to_string(k + 1) + " of threads");
      }
      require(group_threads[k] <= threads * (1 + kTolerance),
              "the threads of group " + std::to_string(k + 1) + " of threads");
      rounds_.push_back(rounds);
    }
  }

  /// The same fraction of every stream is carried; if there are threads, at most what arrives.
  void keep_streams() {
    const double part = service_.has_closed_work() ? 1 : carried();
    for (std::size_t s = 0; s < by_stream_.size(); ++s) {
      const double due = part * problem_.arrivals[s].rate;
      require(by_stream_[s] <= due * (1 + kTolerance), "the arrivals");
    }
  }

  double carried() const {
    double least = kInfinity;
    for (std::size_t s = 0; s < by_stream_.size(); ++s) {
      if (problem_.arrivals[s].rate > 0) least = std::min(least, by_stream_[s] / problem_.arrivals[s].rate);
    }
    return least;
  }

  void keep_limits() {
    for (const ServiceProgram::Limit& limit : service_.limits())
      require(keeps(limit), service_.name_of(limit));
    if (service_.has_arrivals()) keep_streams();
  }

  bool keeps(const ServiceProgram::Limit& limit) const {
    switch (limit.kind) {
      case Kind::kFloor:
        return all_[limit.at] >= limit.amount * (1 - kTolerance);
      case Kind::kResponse:
        return own_[limit.at] >=
               static_cast<double>(system_.tasks()[limit.at].count) / limit.amount * (1 - kTolerance);
      case Kind::kRoundResponse:
        return rounds_[limit.at] >=
               static_cast<double>(problem_.threads[limit.at].count) / limit.amount * (1 - kTolerance);
      case Kind::kPower:
        return keeps_power(service_.power_left(limit.amount));
      case Kind::kArrivals:
        break;
    }
    return carried() >= 1 - kTolerance;
  }

  /// Within a tolerance that is a part of what work takes or must save.
  bool keeps_power(double left) const {
    return watts_ <= left + kTolerance * std::max(std::abs(left), taken_);
  }

  void keep_shares(double total) {
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const double due = system_.shares()[i] * total;
      require(std::abs(all_[i] - due) <= kTolerance * due,
              "the share of " + quote::name(system_.tasks()[i].name));
    }
  }

  double completed(const ServiceProgram::Party& party) const {
    if (party.type) return own_[index(*party.type)];
    return rounds_[party.group];
  }

  double least_level(const std::vector<ServiceProgram::Party>& parties) const {
    double least = kInfinity;
    for (const ServiceProgram::Party& party : parties)
      least = std::min(least, completed(party) / party.weight);
    return least;
  }

  std::vector<double> value_terms() const {
    std::vector<double> terms;
    for (const TaskType i : system_.types()) terms.push_back(system_.worth(i) * own_[index(i)]);
    for (std::size_t k = 0; k < rounds_.size(); ++k) terms.push_back(problem_.threads[k].worth * rounds_[k]);
    return terms;
  }

  const ServiceProgram& service_;
  const Problem& problem_;
  const System& system_;
  PlanService plan_;
  std::vector<double> own_;        // completions per type, of threads of its own
  std::vector<double> all_;        // completions per type, of all work
  std::vector<double> by_stream_;  // completions
  std::vector<double> rounds_;     // per group
  double watts_ = 0;               // above those of the idle machine
  double watts_size_ = 0;
  double taken_ = 0;  // watts by work that takes more than an idle server
  std::size_t terms_ = 0;
  std::string missed_;
};

}  // namespace

PlanPrices prices_of(const ServiceProgram& service, const std::vector<double>& prices) {
  const Problem& problem = service.problem();
  const ServiceProgram::Rows& rows = service.rows();
  const std::size_t types = problem.system.type_count();
  const std::size_t groups = problem.threads.size();
  // A row with an upper limit has a price >= 0, one with a lower limit <= 0.
  const auto of = [&](std::optional<std::size_t> row) { return row ? std::abs(prices[*row]) : 0.0; };
  PlanPrices out;
  for (const std::size_t row : rows.units) out.units.push_back(of(row));
  for (const auto& row : rows.threads) out.threads.push_back(of(row));
  for (const std::size_t row : rows.group_threads) out.group_threads.push_back(of(row));
  out.stages.assign(groups, std::vector<double>(types, 0.0));
  for (std::size_t k = 0; k < groups; ++k) {
    for (const auto& stage : rows.stages[k]) out.stages[k][index(stage.type)] = prices[stage.row];
  }
  for (const auto& row : rows.streams) out.streams.push_back(row ? -prices[*row] : 0.0);
  out.floors.assign(types, 0.0);
  out.responses.assign(types, 0.0);
  out.group_responses.assign(groups, 0.0);
  for (const ServiceProgram::Limit& limit : service.limits()) {
    if (limit.kind == Kind::kArrivals) continue;
    double& price = limit.kind == Kind::kFloor           ? out.floors[limit.at]
                    : limit.kind == Kind::kResponse      ? out.responses[limit.at]
                    : limit.kind == Kind::kRoundResponse ? out.group_responses[limit.at]
                                                         : out.power;
    price = of(limit.row);
  }
  if (rows.arrivals) out.arrivals = -prices[*rows.arrivals];
  out.shares.assign(types, 0.0);
  for (std::size_t i = 0; i < rows.shares.size(); ++i) out.shares[i] = prices[rows.shares[i]];
  out.levels.assign(types, 0.0);
  out.group_levels.assign(groups, 0.0);
  out.value = of(rows.value);
  out.tangents.assign(types, 0.0);
  out.group_tangents.assign(groups, 0.0);
  return out;
}

namespace {

/// A plan may miss rows by a little and so be better than any plan that misses none. Returns whether it is
/// better by more than a checker tolerates.
bool is_beyond(double reached, const PlanProof& proof, Objective objective,
               const std::vector<ServiceProgram::Party>& parties) {
  if (objective == Objective::kEnergy) return *proof.bound - reached > kTolerance * std::abs(reached);
  double margin = kTolerance * std::abs(*proof.bound);
  if (objective == Objective::kProportional) {
    margin = 0;
    for (const ServiceProgram::Party& party : parties) margin += 100 * kTolerance * party.weight;
  }
  return reached - *proof.bound > margin;
}

}  // namespace

void add_plan(const ServiceProgram& service, const std::vector<double>& columns,
              const std::vector<ServiceProgram::Party>& parties, PlanProof& proof) {
  Shown shown(service, columns);
  const double reached = shown.reached(parties, proof.value);
  if (!shown.missed().empty() || !std::isfinite(reached)) return;
  if (is_beyond(reached, proof, service.problem().objective, parties)) return;
  proof.service = shown.plan();
  proof.reached = reached;
}

std::string missed_by(const ServiceProgram& service, const std::vector<double>& columns,
                      const std::vector<ServiceProgram::Party>& parties, double least_value) {
  Shown shown(service, columns);
  shown.reached(parties, least_value);
  return shown.missed();
}

std::optional<PlanProof> prove_logarithms(ServiceProgram& service,
                                          const std::vector<ServiceProgram::Party>& parties,
                                          const std::vector<Tangent>& tangents, std::vector<double> prices) {
  std::vector<double> slopes(parties.size(), 0.0);  // times the weight
  for (const Tangent& tangent : tangents) {
    if (tangent.row >= prices.size()) continue;  // added since
    slopes[tangent.party] += prices[tangent.row] * tangent.slope;
    prices[tangent.row] = 0;
  }
  prices.resize(service.program().row_count(), 0.0);
  PlanProof proof;
  proof.prices = prices_of(service, prices);
  service.program().clear_gains();
  double bound = 0;
  double size = 0;
  for (std::size_t p = 0; p < parties.size(); ++p) {
    const ServiceProgram::Party& party = parties[p];
    const double at = party.weight / slopes[p];
    if (!(at > 0 && std::isfinite(at))) return {};
    (party.type ? proof.prices.tangents[index(*party.type)] : proof.prices.group_tangents[party.group]) = at;
    for (const auto& [column, rate] : party.terms)
      service.program().set_gain(column, party.weight / at * rate);
    bound += party.weight * (std::log(at) - 1);
    size += party.weight * (std::abs(std::log(at)) + 1);
  }
  const double gained = service.program().bound_at(prices);
  bound += gained;
  size += std::abs(gained);
  const double terms = static_cast<double>(parties.size() + 16);
  proof.bound = bound + 4 * terms * std::numeric_limits<double>::epsilon() * size;
  return proof;
}

std::optional<PlanProof> prove_conflict(ServiceProgram& service,
                                        const std::vector<ServiceProgram::Limit>& limits, StopPoll& poll) {
  BoundedProgram& program = service.program();
  program.clear_gains();
  for (const ServiceProgram::Limit& limit : limits) {
    const bool is_upper = limit.kind == Kind::kPower;
    const double amount = std::abs(is_upper ? program.upper(limit.row) : program.lower(limit.row));
    if (!(amount > 0)) continue;
    program.add_entry(limit.row, program.add_column(2 * amount, -1 / amount), is_upper ? -1 : 1);
  }
  BoundedProgram::Answer answer = program.maximise(poll);
  if (!answer.is_optimal() || !(answer.bound < 0)) return {};
  PlanProof proof;
  proof.prices = prices_of(service, answer.prices);
  for (const ServiceProgram::Limit& limit : limits) proof.conflict.push_back(limit);
  return proof;
}

}  // namespace allot::detail
