#include "allot/solve/fairness.hpp"

#include <algorithm>
#include <optional>

#include "allot/solve/detail/outcome.hpp"
#include "allot/solve/detail/service_program.hpp"

namespace allot {

using detail::ServiceProgram;

FairnessTrade trade_fairness(const Problem& problem, std::size_t points, const SolveOptions& options) {
  StopPoll poll(options.stop, 1);
  ServiceProgram service(problem);
  detail::BoundedProgram& program = service.program();
  FairnessTrade trade;
  const std::vector<ServiceProgram::Party> parties = service.make_parties();
  double most = 0;
  for (const ServiceProgram::Party& party : parties) most = std::max(most, party.most / party.weight);
  if (!(most > 0)) return trade;
  const std::size_t level = program.add_column(2 * most);
  const std::size_t wanted = program.add_row(0, detail::kInfinity);  // the level, at least this
  program.add_entry(wanted, level, 1);
  for (const ServiceProgram::Party& party : parties)
    program.add_entry(service.add_row_like(party, 0), level, -party.weight);

  // The answer to the program as it stands; otherwise records how the search ended.
  const auto answered = [&]() -> std::optional<detail::BoundedProgram::Answer> {
    detail::BoundedProgram::Answer answer = program.maximise(poll);
    if (answer.is_optimal()) return answer;
    trade.outcome =
        answer.is_infeasible() ? Outcome::kInfeasible : detail::outcome_of(poll, Outcome::kBudget);
    return std::nullopt;
  };

  service.aim_at_column(level);
  const auto fairest = answered();
  if (!fairest) return trade;
  const double largest = fairest->columns[level] * (1 - detail::kSamePlan);
  service.aim_at_value();
  for (std::size_t at = 0; at < points; ++at) {
    const double least = largest * static_cast<double>(at) / static_cast<double>(points - 1);
    program.set_row(wanted, least, detail::kInfinity);
    const auto answer = answered();
    if (!answer) return trade;
    // A higher level never has more value; rounding must not suggest otherwise.
    const double value = service.value(answer->columns);
    trade.points.push_back({least, at == 0 ? value : std::min(value, trade.points.back().value)});
  }
  const double first = trade.points.front().value;
  if (first - trade.points.back().value <= detail::kSamePlan * first)
    trade.points.erase(trade.points.begin(), trade.points.end() - 1);
  return trade;
}

double least_served(const Problem& problem, std::span<const double> completions_by_task,
                    std::span<const double> rounds) {
  const System& system = problem.system;
  std::optional<double> least;
  const auto take = [&](double served) { least = std::min(least.value_or(served), served); };
  for (const TaskType i : system.types()) {
    const double weight = system.task(i).priority.value_or(1);
    if (system.count(i) == 0 || !(weight > 0)) continue;
    double own = completions_by_task[index(i)];
    for (const Arrivals& stream : problem.arrivals) own -= stream.task == i ? stream.rate : 0;
    take(std::max(0.0, own) / weight);
  }
  for (const double round : rounds) take(round);
  return least.value_or(0);
}

}  // namespace allot
