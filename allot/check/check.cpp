#include "allot/check/check.hpp"

#include <gmpxx.h>

#include <algorithm>

#include "allot/check/detail/claims.hpp"
#include "allot/check/detail/plan_answer.hpp"
#include "allot/check/detail/plan_bound.hpp"
#include "allot/check/detail/tree.hpp"

namespace allot::check {
namespace {

/// What is wrong with the machine, so that claims about it would be meaningless.
std::string problem_of_machine(const Machine& machine, bool needs_priorities) {
  if (machine.resources.empty()) return "the system has no resources";
  if (machine.tasks.empty()) return "the system has no tasks";
  if (!needs_priorities) return {};
  double weight = 0;
  for (const Task& task : machine.tasks) {
    if (!task.priority) return "a proof about shares needs the priority of '" + task.name + "'";
    weight += *task.priority;
  }
  return weight > 0 ? "" : "all priorities are 0";
}

std::string problem_of_plan_machine(const PlanCertificate& certificate) {
  const PlanMachine& plan = certificate.machine;
  std::string problem = problem_of_machine(plan.machine, certificate.objective == PlanObjective::kShares);
  if (!problem.empty()) return problem;
  const bool arrives = std::any_of(plan.arrivals.begin(), plan.arrivals.end(),
                                   [](const Stream& stream) { return stream.rate > 0; });
  const bool is_headroom = certificate.objective == PlanObjective::kHeadroom;
  if (is_headroom && (plan.has_threads() || !arrives))
    return "headroom can be claimed only if there are only arrivals";
  if (!is_headroom && arrives && !plan.has_threads())
    return "there are only arrivals, so only headroom can be claimed";
  return {};
}

/// The margin within which the ends of the claimed range count as equal.
mpq_class margin_of(const PlanCertificate& certificate) {
  mpq_class size = abs(mpq_class(certificate.claim.at_most));
  if (certificate.objective == PlanObjective::kLogarithms) {  // 10^-7 of the weights
    size = static_cast<long>(certificate.machine.groups.size());
    for (const Task& task : certificate.machine.machine.tasks) {
      if (task.count > 0) size += detail::weight_of(task);
    }
    size *= 100;
  }
  if (certificate.objective == PlanObjective::kLeast) size *= 2;  // later levels may take 10^-9 of it
  return size / detail::kRowTolerance;
}

}  // namespace

Verdict check(const Certificate& certificate) {
  Verdict verdict;
  verdict.parts = certificate.parts.size();
  const Claim& claim = certificate.claim;
  verdict.reason = problem_of_machine(certificate.machine, certificate.objective == Objective::kShares);
  if (verdict.reason.empty() && !claim.infeasible && !claim.assignment.empty()) {
    verdict.reason = detail::problem_of_answer(certificate);
  }
  if (verdict.reason.empty()) verdict.reason = detail::problem_of_tree(certificate);
  verdict.accepted = verdict.reason.empty();
  if (verdict.accepted && !claim.infeasible && !claim.assignment.empty()) {
    const mpq_class gap = mpq_class(claim.at_most) - mpq_class(claim.at_least);
    verdict.optimal = gap * 1'000'000'000 <= mpq_class(claim.at_most);
  }
  return verdict;
}

Verdict check(const PlanCertificate& certificate) {
  Verdict verdict;
  verdict.parts = 1;
  const PlanClaim& claim = certificate.claim;
  verdict.reason = problem_of_plan_machine(certificate);
  if (verdict.reason.empty() && claim.service) verdict.reason = detail::problem_of_plan(certificate);
  if (verdict.reason.empty()) verdict.reason = detail::problem_of_bound(certificate);
  if (verdict.reason.empty() && claim.service) {
    const mpq_class gap = mpq_class(claim.at_most) - mpq_class(claim.at_least);
    const mpq_class margin = margin_of(certificate);
    if (gap < -margin) verdict.reason = "at_least is above at_most: no optimum lies between them";
    verdict.optimal = abs(gap) <= margin;
  }
  verdict.accepted = verdict.reason.empty();
  return verdict;
}

}  // namespace allot::check
