#include "allot/check/check.hpp"

#include <gmpxx.h>

#include "allot/check/detail/claims.hpp"
#include "allot/check/detail/tree.hpp"

namespace allot::check {
namespace {

/// What a scenario must be for the claims to mean anything.
std::string problem_of_machine(const Certificate& certificate) {
  const Machine& machine = certificate.machine;
  if (machine.resources.empty()) return "the system has no resources";
  if (machine.tasks.empty()) return "the system has no tasks";
  if (certificate.objective != Objective::kShares) return {};
  double weight = 0;
  for (const Task& task : machine.tasks) {
    if (!task.priority) return "a proof about shares needs the priority of '" + task.name + "'";
    weight += *task.priority;
  }
  return weight > 0 ? "" : "all priorities are 0";
}

}  // namespace

Verdict check(const Certificate& certificate) {
  Verdict verdict;
  verdict.parts = certificate.parts.size();
  const Claim& claim = certificate.claim;
  verdict.reason = problem_of_machine(certificate);
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

}  // namespace allot::check
