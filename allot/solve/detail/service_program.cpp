#include "allot/solve/detail/service_program.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "allot/base/quote.hpp"

namespace allot::detail {
namespace {

/// The limit of a column is this many times what the rows allow, so that no column ever reaches it.
constexpr double kNeverReached = 2;

/// The cost of a server's time, as a part of the value that the type completes in that time at home.
constexpr double kTimeOfServers = 0.01;

}  // namespace

ServiceProgram::ServiceProgram(const Problem& problem) : problem_(problem), system_(problem.system) {
  for (const CapacityId r : system_.capacity_ids())
    rows_.units.push_back(program_.add_row(-kInfinity, system_.amount(r)));
  for (const ResourceId j : system_.resource_ids()) {
    const Resource& resource = system_.resource(j);
    idle_power_ += static_cast<long double>(resource.idle_power) * static_cast<long double>(resource.servers);
  }
  add_counted();
  add_groups();
  add_arrivals();
  add_limits();
}

double ServiceProgram::most_alone(TaskType i, double threads) const {
  std::vector<ResourceId> fastest(system_.resources_for(i).begin(), system_.resources_for(i).end());
  std::stable_sort(fastest.begin(), fastest.end(),
                   [&](ResourceId a, ResourceId b) { return system_.rate(i, a) > system_.rate(i, b); });
  double most = 0;
  for (const ResourceId j : fastest) {
    const double units = std::min(threads, system_.most_in_service(i, j));
    most += units * system_.rate(i, j);
    threads -= units;
  }
  return most;
}

void ServiceProgram::serve(TaskType i, double threads, std::optional<std::size_t> threads_row,
                           std::optional<std::size_t> flow, Work work, std::size_t at) {
  for (const ResourceId j : system_.resources_for(i)) {
    const double most = std::min(threads, system_.most_in_service(i, j));
    const std::size_t column = program_.add_column(kNeverReached * most);
    for (const Draw& draw : system_.needs(i, j))
      program_.add_entry(rows_.units[index(draw.capacity)], column, draw.amount);
    if (threads_row) program_.add_entry(*threads_row, column, 1);
    if (flow) program_.add_entry(*flow, column, system_.rate(i, j));
    served_.push_back({i, j, column, work, at});
  }
}

void ServiceProgram::add_counted() {
  rows_.threads.resize(system_.type_count());
  for (const TaskType i : system_.types()) {
    if (system_.count(i) == 0) continue;
    has_closed_work_ = true;
    const double threads = static_cast<double>(system_.count(i));
    rows_.threads[index(i)] = program_.add_row(-kInfinity, threads);
    serve(i, threads, rows_.threads[index(i)], std::nullopt, Work::kOwn);
  }
}

/// The completions of each type that a group visits are proportional to its rounds.
void ServiceProgram::add_groups() {
  for (const ThreadGroup& group : problem_.threads) {
    has_closed_work_ = true;
    const double threads = static_cast<double>(group.count);
    std::map<TaskType, double> visits;
    for (const TaskType i : group.sequence) ++visits[i];
    double most = kInfinity;
    for (const auto& [i, times] : visits) most = std::min(most, most_alone(i, threads) / times);
    const std::size_t round = program_.add_column(kNeverReached * most);
    rounds_.push_back(round);
    most_rounds_.push_back(most);
    const std::size_t threads_row = program_.add_row(-kInfinity, threads);
    rows_.group_threads.push_back(threads_row);
    rows_.stages.emplace_back();
    for (const auto& [i, times] : visits) {
      const std::size_t flow = program_.add_row(0, 0);
      rows_.stages.back().push_back({i, times, flow});
      program_.add_entry(flow, round, -times);
      serve(i, threads, threads_row, flow, Work::kGroup, rows_.stages.size() - 1);
    }
  }
}

void ServiceProgram::add_arrivals() {
  rows_.streams.resize(problem_.arrivals.size());
  double most = kInfinity;
  for (const Arrivals& stream : problem_.arrivals) {
    if (stream.rate > 0) most = std::min(most, most_alone(stream.task, kInfinity) / stream.rate);
  }
  if (!(most < kInfinity)) return;
  most_arrivals_ = most;
  // If there are threads, at most what arrives is done.
  arrivals_ = program_.add_column(kNeverReached * (has_closed_work_ ? std::min(most, 1.0) : most));
  for (std::size_t s = 0; s < problem_.arrivals.size(); ++s) {
    const Arrivals& stream = problem_.arrivals[s];
    if (!(stream.rate > 0)) continue;
    rows_.streams[s] = program_.add_row(0, 0);
    program_.add_entry(*rows_.streams[s], *arrivals_, -stream.rate);
    serve(stream.task, kInfinity, std::nullopt, rows_.streams[s], Work::kStream, s);
  }
}

void ServiceProgram::limit(Limit::Kind kind, std::size_t at, std::size_t row, double amount) {
  limits_.push_back({{kind, at}, row, amount});
  impose(limits_.back(), amount);
}

void ServiceProgram::add_limits() {
  std::vector<std::vector<const Served*>> by_type(system_.type_count());
  for (const Served& one : served_) by_type[index(one.type)].push_back(&one);
  for (const TaskType i : system_.types()) {
    const TaskClass& task = system_.task(i);
    const auto completions = [&](bool counted_only) {
      const std::size_t row = program_.add_row(-kInfinity, kInfinity);
      for (const Served* one : by_type[index(i)]) {
        if (one->is_counted() || !counted_only)
          program_.add_entry(row, one->column, system_.rate(i, one->resource));
      }
      return row;
    };
    if (task.floor.value_or(0) > 0) limit(Limit::Kind::kFloor, index(i), completions(false), *task.floor);
    if (task.max_response && task.count > 0)
      limit(Limit::Kind::kResponse, index(i), completions(true), *task.max_response);
    if (!problem_.ceilings.empty() && task.count > 0)
      program_.set_row(completions(true), -kInfinity, problem_.ceilings[index(i)]);
  }
  for (std::size_t k = 0; k < problem_.threads.size(); ++k) {
    if (!problem_.threads[k].max_response) continue;
    const std::size_t row = program_.add_row(-kInfinity, kInfinity);
    program_.add_entry(row, rounds_[k], 1);
    limit(Limit::Kind::kRoundResponse, k, row, *problem_.threads[k].max_response);
  }
  if (problem_.power_cap) {
    power_row_ = program_.add_row(-kInfinity, kInfinity);
    for (const Served& one : served_) program_.add_entry(*power_row_, one.column, extra_power(one));
    limit(Limit::Kind::kPower, 0, *power_row_, *problem_.power_cap);
  }
  if (arrivals_) {
    rows_.arrivals = program_.add_row(-kInfinity, kInfinity);
    program_.add_entry(*rows_.arrivals, *arrivals_, 1);
    if (has_closed_work_) limit(Limit::Kind::kArrivals, 0, *rows_.arrivals, 1);
  }
}

double ServiceProgram::rounding_of_power(double cap) const {
  const auto sum = std::numeric_limits<long double>::epsilon() * idle_power_ *
                   static_cast<long double>(system_.resource_count() + 1);
  return static_cast<double>(sum) + std::numeric_limits<double>::epsilon() * std::abs(power_left(cap));
}

void ServiceProgram::impose(const Limit& limit, double amount) {
  switch (limit.kind) {
    case Limit::Kind::kFloor:
      return program_.set_row(limit.row, amount, kInfinity);
    case Limit::Kind::kArrivals:
      return program_.set_row(limit.row, amount, 1);
    case Limit::Kind::kResponse:
      return program_.set_row(limit.row, static_cast<double>(system_.tasks()[limit.at].count) / amount,
                              kInfinity);
    case Limit::Kind::kRoundResponse:
      return program_.set_row(limit.row, static_cast<double>(problem_.threads[limit.at].count) / amount,
                              kInfinity);
    case Limit::Kind::kPower:
      // Rounded up by the possible error of the sum of idle powers, so that bounds stay valid.
      return program_.set_row(limit.row, -kInfinity, power_left(amount) + rounding_of_power(amount));
  }
}

/// Even without the limit, at most what arrives is done.
void ServiceProgram::drop(const Limit& limit) {
  program_.set_row(limit.row, -kInfinity, limit.kind == Limit::Kind::kArrivals ? 1 : kInfinity);
}

std::string ServiceProgram::name_of(const Limit& limit) const {
  const auto of_group = [&] {
    const std::string& name = problem_.threads[limit.at].name;
    return name.empty() ? "group " + std::to_string(limit.at + 1) + " of threads" : quote::name(name);
  };
  switch (limit.kind) {
    case Limit::Kind::kFloor:
      return "the floor of " + quote::name(system_.tasks()[limit.at].name);
    case Limit::Kind::kResponse:
      return "the max_response of " + quote::name(system_.tasks()[limit.at].name);
    case Limit::Kind::kRoundResponse:
      return "the max_response of " + of_group();
    case Limit::Kind::kPower:
      return "the power_cap";
    case Limit::Kind::kArrivals:
      break;
  }
  return "the arrivals";
}

std::string ServiceProgram::why_too_much(const Limit& limit) const {
  switch (limit.kind) {
    case Limit::Kind::kFloor:
      if (const std::optional<double> most = arriving(task_type(limit.at)); most && *most < limit.amount)
        return "is more than the " + quote::number(*most) + " tasks/s that arrive";
      return "is more than the machine can complete, whatever else is given up";
    case Limit::Kind::kResponse:
    case Limit::Kind::kRoundResponse:
      return "is shorter than the machine can achieve, whatever else is given up";
    case Limit::Kind::kPower:
      return "is below the power of the idle machine";
    case Limit::Kind::kArrivals:
      break;
  }
  return "are more than the machine can carry";
}

/// Each thread of a type needs its completions, unless a single task already takes too long.
std::string ServiceProgram::what_helps(const Limit& limit) const {
  if (limit.kind != Limit::Kind::kResponse) return {};
  const TaskType i = task_type(limit.at);
  double fastest = 0;
  for (const ResourceId j : system_.resources_for(i)) fastest = std::max(fastest, system_.rate(i, j));
  const TaskClass& task = system_.tasks()[limit.at];
  if (task.count < 2 || !(fastest * task.max_response.value_or(0) >= 1)) return {};
  return "; fewer threads of " + quote::name(task.name) + " may help";
}

std::optional<double> ServiceProgram::arriving(TaskType i) const {
  if (problem_.system.count(i) > 0) return {};
  for (const ThreadGroup& group : problem_.threads) {
    if (std::find(group.sequence.begin(), group.sequence.end(), i) != group.sequence.end()) return {};
  }
  double rate = 0;
  for (const Arrivals& stream : problem_.arrivals) rate += stream.task == i ? stream.rate : 0;
  return rate > 0 ? std::optional(rate) : std::nullopt;
}

std::string_view ServiceProgram::unit_of(const Limit& limit) noexcept {
  switch (limit.kind) {
    case Limit::Kind::kFloor:
      return "tasks/s";
    case Limit::Kind::kResponse:
    case Limit::Kind::kRoundResponse:
      return "s";
    case Limit::Kind::kPower:
      return "W";
    case Limit::Kind::kArrivals:
      break;
  }
  return "";
}

std::vector<std::pair<std::size_t, double>> ServiceProgram::value_terms() const {
  std::vector<std::pair<std::size_t, double>> terms;
  for (const Served& one : served_) {
    if (one.is_counted()) terms.emplace_back(one.column, system_.value_rate(one.type, one.resource));
  }
  for (std::size_t k = 0; k < rounds_.size(); ++k) terms.emplace_back(rounds_[k], problem_.threads[k].worth);
  return terms;
}

void ServiceProgram::aim_at_value() {
  program_.clear_gains();
  for (const auto& [column, gain] : value_terms()) program_.set_gain(column, gain);
  if (problem_.ceilings.empty()) return;
  // Plans that complete all the work are equally good, except for the server time that they take.
  for (const Served& one : served_) {
    if (!one.is_counted()) continue;
    const double at_home = system_.value_rate(one.type, *system_.home(one.type));
    program_.set_gain(one.column, system_.value_rate(one.type, one.resource) - kTimeOfServers * at_home);
  }
}

void ServiceProgram::aim_at_column(std::size_t column) {
  program_.clear_gains();
  program_.set_gain(column, 1);
}

void ServiceProgram::aim_at_headroom() {
  program_.set_row(*rows_.arrivals, -kInfinity, kInfinity);
  program_.set_most(*arrivals_, kNeverReached * most_arrivals_);
  aim_at_column(*arrivals_);
}

void ServiceProgram::carry_load() { program_.set_row(*rows_.arrivals, 1, 1); }

void ServiceProgram::carry_no_more_than_load() { program_.set_row(*rows_.arrivals, -kInfinity, 1); }

void ServiceProgram::aim_at_power(double least_value) {
  if (!rows_.value) {
    rows_.value = program_.add_row(-kInfinity, kInfinity);
    for (const auto& [column, gain] : value_terms()) program_.add_entry(*rows_.value, column, gain);
  }
  program_.set_row(*rows_.value, least_value, kInfinity);
  program_.clear_gains();
  for (const Served& one : served_) program_.set_gain(one.column, -extra_power(one));
}

std::vector<ServiceProgram::Party> ServiceProgram::make_parties() {
  std::vector<Party> parties;
  for (const TaskType i : system_.types()) {
    const double weight = system_.task(i).priority.value_or(1);
    if (system_.count(i) == 0 || !(weight > 0)) continue;
    Party party{weight,
                most_alone(i, static_cast<double>(system_.count(i))),
                i,
                0,
                program_.add_row(-kInfinity, kInfinity),
                {}};
    for (const Served& one : served_) {
      if (one.type == i && one.is_counted())
        party.terms.emplace_back(one.column, system_.rate(i, one.resource));
    }
    parties.push_back(std::move(party));
  }
  for (std::size_t k = 0; k < rounds_.size(); ++k)
    parties.push_back(
        {1, most_rounds_[k], {}, k, program_.add_row(-kInfinity, kInfinity), {{rounds_[k], 1.0}}});
  for (const Party& party : parties) {
    for (const auto& [column, value] : party.terms) program_.add_entry(party.row, column, value);
  }
  return parties;
}

std::size_t ServiceProgram::add_row_like(const Party& party, double lower, double upper, double factor) {
  const std::size_t row = program_.add_row(lower, upper);
  for (const auto& [column, value] : party.terms) program_.add_entry(row, column, factor * value);
  return row;
}

const std::vector<std::size_t>& ServiceProgram::make_share_rows() {
  for (std::size_t i = 0; i < system_.type_count(); ++i) rows_.shares.push_back(program_.add_row(0, 0));
  for (const Served& one : served_)
    program_.add_entry(rows_.shares[index(one.type)], one.column, system_.rate(one.type, one.resource));
  return rows_.shares;
}

std::vector<double> ServiceProgram::rounds(const std::vector<double>& columns) const {
  std::vector<double> rounds;
  for (const std::size_t column : rounds_) rounds.push_back(columns[column]);
  return rounds;
}

double ServiceProgram::value(const std::vector<double>& columns) const {
  double value = 0;
  for (const Served& one : served_) {
    if (one.is_counted()) value += system_.value_rate(one.type, one.resource) * columns[one.column];
  }
  for (std::size_t k = 0; k < rounds_.size(); ++k) value += problem_.threads[k].worth * columns[rounds_[k]];
  if (!arrivals_) return value;
  for (const Arrivals& stream : problem_.arrivals)
    value += system_.worth(stream.task) * std::min(1.0, columns[*arrivals_]) * stream.rate;
  return value;
}

double ServiceProgram::extra_power(const Served& one) const {
  return (system_.power(one.type, one.resource) - system_.resource(one.resource).idle_power) *
         system_.servers_taken(one.type, one.resource);
}

double ServiceProgram::mean_power(const std::vector<double>& columns) const {
  double power = idle_power();
  for (const Served& one : served_) power += extra_power(one) * columns[one.column];
  return power;
}

double ServiceProgram::least_power(double saved) const {
  const double size = idle_power() + std::abs(saved);
  return idle_power() - saved -
         std::numeric_limits<double>::epsilon() * size * static_cast<double>(system_.resource_count() + 2);
}

double ServiceProgram::value_of_arrivals() const {
  double value = 0;
  for (const Arrivals& stream : problem_.arrivals) value += system_.worth(stream.task) * stream.rate;
  return value;
}

std::vector<double> ServiceProgram::time_shares(const std::vector<double>& columns) const {
  std::vector<double> shares(system_.type_count() * system_.resource_count());
  const PairSpan by_pair(shares, system_.resource_count());
  for (const Served& one : served_) by_pair(one.type, one.resource) += columns[one.column];
  return shares;
}

std::vector<CapacityUse> ServiceProgram::capacities(const std::vector<double>& columns,
                                                    const std::vector<double>& prices) const {
  std::vector<CapacityUse> uses;
  for (const CapacityId r : system_.capacity_ids())
    uses.push_back(
        {system_.capacity_name(r), system_.amount(r), 0, std::max(0.0, prices[rows_.units[index(r)]])});
  for (const Served& one : served_) {
    for (const Draw& draw : system_.needs(one.type, one.resource))
      uses[index(draw.capacity)].used += draw.amount * columns[one.column];
  }
  return uses;
}

}  // namespace allot::detail
