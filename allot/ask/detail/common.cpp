#include "allot/ask/detail/common.hpp"

#include <algorithm>

#include "allot/base/error.hpp"
#include "allot/base/quote.hpp"
#include "allot/base/words.hpp"

namespace allot::ask {

Option seed_option(std::uint64_t& seed) {
  return whole_option("seed", seed, 0, kAnySeed, "random seed; the same seed gives the same result")
      .with_letter("s");
}

Option time_limit_option(std::optional<double>& seconds, std::string help) {
  const bool has_limit = seconds.has_value();
  Option option = seconds_option("time_limit", seconds, std::move(help)).with_letter("t");
  if (!has_limit) option.absent = "no limit";
  return option;
}

Option shares_option(ShareReading& shares) {
  return word_option("shares", shares, {kShareWords.begin(), kShareWords.end()},
                     "weighted: each type gets exactly its share (default), or at least its share of the "
                     "highest common level");
}

Option start_option(bool& random_start) {
  return {"start",
          WordValue{random_start ? 0 : 1,
                    {kStartWords.begin(), kStartWords.end()},
                    [&random_start](std::size_t at) { random_start = at == 0; }},
          "threads enter in random order (default) or in the order of the file"};
}

void require_constant_work(const Scenario& scenario, std::string_view question) {
  if (scenario.power_cap) {
    throw InvalidModel("power_cap", "'" + std::string(question) +
                                        "' does not support a power_cap; 'solve' and 'certify' do");
  }
  if (scenario.is_static()) return;
  std::vector<std::string> varying;
  if (!scenario.threads.empty()) varying.emplace_back("[[threads]]");
  if (!scenario.population.empty()) varying.emplace_back("[[population]]");
  if (!scenario.arrivals.empty()) varying.emplace_back("[[arrivals]]");
  const std::string field = varying.front().substr(2, varying.front().size() - 4);
  throw InvalidModel(field, "'" + std::string(question) + "' needs constant counts and does not support " +
                                alternatives(varying) + "; 'simulate' does");
}

void require_priorities(const System& system, std::string_view what) {
  if (!system.shares().empty()) return;
  throw InvalidModel("priority",
                     std::string(what) +
                         " needs a 'priority' for every task type, such as 'priority = 0.5'; none "
                         "has one");
}

Option policy_option(PolicyChoice& policy) {
  const auto set = [&policy](const std::string& name) { policy.builtin = &policy_named("policy", name); };
  return Option{"policy", TextValue{"", set, false, false, true}, "policy to use, see 'allot list'"}
      .with_letter("p")
      .shown_as("NAME")
      .suggesting(names_in(builtin_policies()))
      .required()
      .leading();
}

void add_policy_options(std::vector<Option>& options, PolicyOptions& policy) {
  options.push_back(Option{"assignment", AssignmentValue{&policy.assignment},
                           "the assignment for the policy 'fixed', as printed by 'solve --json'"}
                        .shown_as("A.json"));
  options.push_back(
      Option{"probabilities", ProbabilitiesValue{&policy.placement_probabilities},
             "placement probabilities for the policy 'random': a matrix [[0.5, 0.5], ...], one row per type"}
          .unless_said("uniform over the resources that can run the type")
          .shown_as("P.json"));
  options.push_back(shares_option(policy.shares));
}

void check_told(std::span<const PolicyInfo* const> policies, const PolicyOptions& told) {
  const auto any = [&](bool PolicyInfo::*takes) {
    return std::any_of(policies.begin(), policies.end(),
                       [&](const PolicyInfo* policy) { return policy != nullptr && policy->*takes; });
  };
  const auto named = [](bool PolicyInfo::*takes) {
    for (const PolicyInfo* policy : builtin_policies()) {
      if (policy->*takes) return quote::name(policy->name);
    }
    return std::string();
  };
  const bool holds = any(&PolicyInfo::needs_assignment);
  if (holds && !told.assignment)
    throw InvalidModel("assignment",
                       "the policy " + named(&PolicyInfo::needs_assignment) + " needs one to hold");
  if (!holds && told.assignment) {
    throw InvalidModel("assignment",
                       "only the policy " + named(&PolicyInfo::needs_assignment) + " holds a given one");
  }
  if (!any(&PolicyInfo::binds_late) && told.objective != Objective::kThroughput)
    throw InvalidModel("objective", "only the policy " + named(&PolicyInfo::binds_late) + " plans for one");
  if (!any(&PolicyInfo::takes_probabilities) && !told.placement_probabilities.empty()) {
    throw InvalidModel("probabilities", "only the policy " + named(&PolicyInfo::takes_probabilities) +
                                            " places by given ones");
  }
  if (!any(&PolicyInfo::holds_time_shares) && told.shares != ShareReading::kExact)
    throw InvalidModel("shares", "is for the policy " + named(&PolicyInfo::holds_time_shares));
}

}  // namespace allot::ask
