#include "allot/solve/detail/limit_conflict.hpp"

#include <algorithm>
#include <cmath>

#include "allot/base/numbers.hpp"
#include "allot/base/quote.hpp"

namespace allot::detail {
namespace {

using Limit = ServiceProgram::Limit;
using Kind = Limit::Kind;

bool is_feasible(ServiceProgram& service, StopPoll& poll) {
  service.program().clear_gains();
  return !service.program().maximise(poll).is_infeasible();
}

/// Drops limits one after the other, and puts back those without which the conflict would disappear.
std::vector<Limit> irreducible(ServiceProgram& service, const std::vector<Limit>& limits, StopPoll& poll) {
  std::vector<Limit> needed;
  for (const Limit& limit : limits) {
    service.drop(limit);
    if (!poll.stopped() && !is_feasible(service, poll)) continue;
    service.impose(limit, limit.amount);
    needed.push_back(limit);
  }
  return needed;
}

bool is_at_least(const Limit& limit) { return limit.kind != Kind::kFloor && limit.kind != Kind::kArrivals; }

/// How far the limit's row can go without the limit. Not for arrivals: what is carried of them is reported as
/// headroom.
std::optional<double> reach_of(ServiceProgram& service, const Limit& limit, StopPoll& poll) {
  if (limit.kind == Kind::kArrivals || poll.stopped()) return {};
  BoundedProgram& program = service.program();
  const bool is_upper = limit.kind == Kind::kPower;
  const double asked = is_upper ? program.upper(limit.row) : program.lower(limit.row);
  service.drop(limit);
  program.clear_gains();
  for (std::size_t column = 0; column < program.column_count(); ++column) {
    for (const auto& [row, coefficient] : program.entries(column)) {
      if (row == limit.row) program.set_gain(column, is_upper ? -coefficient : coefficient);
    }
  }
  const BoundedProgram::Answer best = program.maximise(poll);
  service.impose(limit, limit.amount);
  if (!best.is_optimal()) return {};
  switch (limit.kind) {
    case Kind::kFloor:
      return best.value;
    case Kind::kPower:
      return limit.amount - asked - best.value;
    default:  // a mean response: as many times longer as completions are fewer
      return best.value > 0 ? std::optional(limit.amount * asked / best.value) : std::nullopt;
  }
}

}  // namespace

std::vector<LimitConflict> find_conflicts(ServiceProgram& service, StopPoll& poll) {
  std::vector<LimitConflict> conflicts;
  std::vector<Limit> left = service.limits();
  do {
    LimitConflict found{irreducible(service, left, poll), {}};
    if (found.limits.empty()) break;  // the conflict is not among limits
    found.reach = reach_of(service, found.limits.back(), poll);
    for (const Limit& limit : found.limits) {
      service.drop(limit);
      std::erase_if(left, [&](const Limit& one) { return one.row == limit.row; });
    }
    for (const Limit& limit : left) service.impose(limit, limit.amount);
    conflicts.push_back(std::move(found));
  } while (!poll.stopped() && !is_feasible(service, poll));
  for (const Limit& limit : left) service.drop(limit);
  if (!conflicts.empty()) {
    for (const Limit& limit : conflicts.front().limits) service.impose(limit, limit.amount);
  }
  return conflicts;
}

std::string names_of(const ServiceProgram& service, const LimitConflict& conflict) {
  std::string list;
  for (std::size_t at = 0; at < conflict.limits.size(); ++at) {
    const Limit& limit = conflict.limits[at];
    if (at > 0) list += at + 1 == conflict.limits.size() ? " and " : ", ";
    list += service.name_of(limit);
    const std::string_view unit = ServiceProgram::unit_of(limit);
    if (!unit.empty()) list += " (" + quote::number(limit.amount) + " " + std::string(unit) + ")";
  }
  return list;
}

std::string reach_in_words(const LimitConflict& conflict) {
  if (!conflict.reach || !(*conflict.reach > 0)) return {};
  const Limit& limit = conflict.limits.back();
  constexpr int kDigits = 4;
  const double unit = std::pow(10.0, std::floor(std::log10(*conflict.reach)) - (kDigits - 1));
  // Rounding in the program must not turn a whole number into the next one.
  const double parts = *conflict.reach / unit;
  const double safe =
      is_at_least(limit) ? std::ceil(parts * (1 - kSamePlan)) : std::floor(parts * (1 + kSamePlan));
  return (is_at_least(limit) ? "at least " : "at most ") + rounded_text(safe * unit, kDigits) + " " +
         std::string(ServiceProgram::unit_of(limit));
}

}  // namespace allot::detail
