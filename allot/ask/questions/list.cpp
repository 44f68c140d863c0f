#include "allot/ask/questions/list.hpp"

#include "allot/ask/question.hpp"
#include "allot/format/json.hpp"
#include "allot/policy/policy.hpp"
#include "allot/size/distribution.hpp"
#include "allot/solve/solver.hpp"

namespace allot {
namespace {

Json json(const std::vector<Named>& entries) {
  Json::Array array;
  for (const Named& named : entries) {
    Json& entry = array.emplace_back();
    entry.add("name", named.name);
    entry.add("summary", named.summary);
    if (!named.parameters.empty()) entry.add("parameters", named.parameters);
    Json::Array objectives;
    for (const Objective objective : named.objectives) objectives.emplace_back(to_string(objective));
    if (!objectives.empty()) entry.add("objectives", std::move(objectives));
    if (named.needs_shares) entry.add("needs_shares", true);
    if (named.needs_assignment) entry.add("needs_assignment", true);
    if (named.needs_file) entry.add("needs_file", true);
  }
  return array;
}

class ListQuestion final : public Question {
 public:
  bool needs_scenario() const noexcept override { return false; }
  std::vector<Option> options() override { return {}; }
  void answer(const Attendance&) override {}
  std::string json() const override { return listing_json(builtin_listing()); }
};

}  // namespace

Listing builtin_listing() {
  Listing listing;
  for (const SolverInfo* solver : builtin_solvers()) {
    Named& named = listing.solvers.emplace_back(Named{solver->name, solver->summary, {}, {}});
    for (const ObjectiveInfo& known : objectives()) {
      const Objective objective = known.objective;
      if (supports(*solver, objective)) named.objectives.push_back(objective);
    }
  }
  for (const PolicyInfo* policy : builtin_policies())
    listing.policies.push_back(
        {policy->name, policy->summary, {}, {}, policy->needs_shares, policy->needs_assignment});
  for (const DistributionInfo* kind : builtin_distributions())
    listing.distributions.push_back(
        {kind->name, kind->summary, kind->parameters, {}, false, false, kind->needs_file});
  listing.disciplines = {
      {"ps", "processor sharing: all tasks at a resource run at once and share it evenly", {}, {}},
      {"fcfs", "first come, first served: each server runs one task at a time, the others wait", {}, {}},
  };
  return listing;
}

std::string listing_json(const Listing& listing) {
  Json object;
  const auto add = [&object](std::string_view key, const std::vector<Named>& entries) {
    if (!entries.empty()) object.add(key, json(entries));
  };
  add("solvers", listing.solvers);
  add("policies", listing.policies);
  add("distributions", listing.distributions);
  add("disciplines", listing.disciplines);
  return object.text();
}

namespace questions {

extern const QuestionInfo list;
const QuestionInfo list{"list",
                        "List the solvers, policies, distributions and disciplines.",
                        "allot list\n"
                        "allot list policies\n"
                        "allot list --json",
                        make_question<ListQuestion>,
                        ProgressKind::kNone,
                        "",
                        "What `allot list --json` prints.\n"
                        "\n"
                        ">>> import allot\n"
                        ">>> sorted(allot.listing())\n"
                        "['disciplines', 'distributions', 'policies', 'solvers']",
                        "listing"};

}  // namespace questions
}  // namespace allot
