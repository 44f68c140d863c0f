// Options and checks that several questions share, with the same messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "allot/ask/option.hpp"
#include "allot/ask/policy_choice.hpp"
#include "allot/ask/question.hpp"
#include "allot/policy/policy.hpp"

namespace allot::ask {

inline constexpr std::uint64_t kAnySeed = ~std::uint64_t{0};

Option seed_option(std::uint64_t& seed);
Option time_limit_option(std::optional<double>& seconds, std::string help);
Option shares_option(ShareReading& shares);
Option start_option(bool& random_start);
template <typename Target>
Option objective_option(Target& objective, std::string help) {
  std::vector<std::string_view> words;
  for (const ObjectiveInfo& known : objectives()) words.push_back(known.name);
  return word_option("objective", objective, std::move(words), std::move(help));
}

/// Throws InvalidModel if the work varies over time, which the question does not support.
void require_constant_work(const Scenario& scenario, std::string_view question);
/// Throws InvalidModel unless every type has a priority.
void require_priorities(const System& system, std::string_view what);

Option policy_option(PolicyChoice& policy);
/// The options of policies: an assignment, probabilities, the meaning of shares.
void add_policy_options(std::vector<Option>& options, PolicyOptions& policy);
/// Throws InvalidModel if a policy lacks what it needs, or if no policy uses a given option.
void check_told(std::span<const PolicyInfo* const> policies, const PolicyOptions& told);

}  // namespace allot::ask
