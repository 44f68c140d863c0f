// No false proofs: what `exact` and `weighted` prove, against enumeration, over every feature and rates from
// 1e-18 to 1e18; every proof as a certificate that `check` accepts; and certificates that were tampered with.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "allot/check/check.hpp"
#include "allot/model/generate.hpp"
#include "allot/solve/certificate_json.hpp"
#include "allot/solve/solver.hpp"
#include "tests/support/exact_shares.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random_systems.hpp"

namespace allot::proofs_test {
namespace {

using testing::kEverything;
using testing::random_system;
using testing::SystemShape;
using Json = nlohmann::ordered_json;

/// How many random systems: more when the test is asked to be long.
std::uint64_t systems(std::uint64_t usual) {
  const char* asked = std::getenv("ALLOT_TEST_SYSTEMS");
  return asked != nullptr ? std::strtoull(asked, nullptr, 10) : usual;
}

Solution proven_by(const char* solver, const System& system, Objective objective) {
  SolveOptions options;
  options.keep_proof = true;
  return solve(*find_solver(solver), {system, objective}, options);
}

check::Verdict verdict_on(const std::string& text) {
  const check::ReadCertificate read = check::read_certificate(text);
  if (!read.certificate) return {false, "unreadable: " + read.problem};
  return check::check(*read.certificate);
}

/// The best of all assignments, in long double; nothing when none is feasible.
std::optional<long double> most_value(const System& system) {
  std::optional<long double> best;
  testing::for_each_assignment(system, [&](const Assignment& n) {
    if (!testing::keeps_depths(system, n)) return;
    const testing::Completions x = testing::recomputed_completions(system, n);
    if (!testing::meets_floors(system, x, 1e-9L)) return;
    best = std::max(best.value_or(0), x.value);
  });
  return best;
}

void expect_accepted(const System& system, const Solution& solution) {
  if (solution.proof == nullptr) {
    EXPECT_FALSE(solution.proven_optimal);
    return;
  }
  const check::Verdict verdict = verdict_on(certificate_json(system, solution));
  EXPECT_TRUE(verdict.accepted) << verdict.reason;
  EXPECT_EQ(verdict.optimal, solution.proven_optimal);
}

/// What `exact` proves about random systems of a shape, against enumeration.
void expect_true_proofs(const SystemShape& shape) {
  int proven = 0;
  int infeasible = 0;
  for (std::uint64_t seed = 0; seed < systems(2000); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = random_system(seed, shape);
    const std::optional<long double> best = most_value(system);
    const Solution found = proven_by("exact", system, Objective::kThroughput);
    expect_accepted(system, found);
    EXPECT_EQ(found.outcome == Outcome::kInfeasible, !best.has_value());
    if (best && found.upper_bound) {
      EXPECT_GE(static_cast<long double>(*found.upper_bound), *best * (1 - 1e-17L));
    }
    if (found.proven_optimal) {
      ++proven;
      EXPECT_GE(static_cast<long double>(found.performance.value), *best * (1 - 1e-9L));
    }
    infeasible += found.outcome == Outcome::kInfeasible && found.proof != nullptr ? 1 : 0;
    if (::testing::Test::HasFailure()) return;
  }
  // Most of them, or the test would say nothing.
  EXPECT_GT(proven, static_cast<int>(systems(2000) / 2));
  EXPECT_GT(infeasible, static_cast<int>(systems(2000) / 50));
  ::testing::Test::RecordProperty("proven", proven);
  ::testing::Test::RecordProperty("infeasible", infeasible);
}

TEST(Proofs, OfTheBestThroughputAreTrueWhateverTheSystem) { expect_true_proofs(kEverything); }

TEST(Proofs, OfTheMostValueAreTrueWhateverTheSystem) {
  SystemShape shape = kEverything;
  shape.worths = true;
  expect_true_proofs(shape);
}

TEST(Proofs, OfTheBestSharesAreTrueWhateverTheSystem) {
  SystemShape shape = kEverything;
  shape.max_count = 3;
  shape.priorities = true;
  shape.zero_priorities = true;
  int proven = 0;
  for (std::uint64_t seed = 0; seed < systems(600) / 4; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = random_system(seed, shape);
    const Solution found = proven_by("weighted", system, Objective::kPriority);
    expect_accepted(system, found);
    if (!found.proven_optimal && found.proof == nullptr) continue;
    const std::optional<mpq_class> best = testing::best_exact_shares(system);
    EXPECT_EQ(found.proven_optimal, best.has_value());
    if (found.proven_optimal && best) {
      ++proven;
      EXPECT_NEAR(found.performance.throughput, best->get_d(), 1e-9 * best->get_d());
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(proven, static_cast<int>(systems(600) / 16));
}

TEST(Proofs, OfSixteenResourcesAreCheckedInSeconds) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    for (const Discipline discipline : {Discipline::kPs, Discipline::kFcfs}) {
      for (const std::size_t k : {4, 8, 16}) {
        SCOPED_TRACE(::testing::Message() << "k=" << k << " seed=" << seed);
        const System system = generate({.general = k - k / 4,
                                        .specialized = k / 4,
                                        .threads = static_cast<Count>(2 * k * k),
                                        .seed = seed})
                                  .system.with_discipline(discipline);
        SolveOptions options;
        options.keep_proof = true;
        options.stop.steps = 3'000'000;
        const Solution found = solve(*find_solver("exact"), {system, Objective::kThroughput}, options);
        ASSERT_NE(found.proof, nullptr);
        expect_accepted(system, found);
      }
    }
  }
}

// ---- tampering

System system_of(const check::Machine& machine) {
  std::vector<Resource> resources;
  for (const check::Resource& r : machine.resources) {
    resources.push_back({.name = r.name,
                         .servers = r.servers,
                         .discipline = r.fcfs ? Discipline::kFcfs : Discipline::kPs,
                         .min_depth = r.min_depth});
  }
  std::vector<TaskClass> tasks;
  std::vector<double> rates;
  for (std::size_t i = 0; i < machine.tasks.size(); ++i) {
    const check::Task& t = machine.tasks[i];
    tasks.push_back(
        {.name = t.name, .count = t.count, .priority = t.priority, .floor = t.floor, .worth = t.worth});
    rates.insert(rates.end(), machine.rates[i].begin(), machine.rates[i].end());
  }
  return System(std::move(resources), std::move(tasks),
                Rates(machine.tasks.size(), machine.resources.size(), std::move(rates)));
}

/// Whether what the certificate claims is so: by enumeration.
bool is_true(const check::Certificate& certificate) {
  std::optional<System> system;
  try {
    system = system_of(certificate.machine);
  } catch (const std::exception&) {
    return true;  // threads that can run nowhere, names twice: no system, about which anything may be said
  }
  if (system->population() > 30) return true;  // too many states to enumerate
  const check::Claim& claim = certificate.claim;
  std::optional<long double> best;
  if (certificate.objective == check::Objective::kThroughput) {
    best = most_value(*system);
  } else if (const auto shares = testing::best_exact_shares(*system)) {
    best = shares->get_d();
  }
  if (claim.infeasible) return !best;
  return !best || (static_cast<long double>(claim.at_most) >= *best * (1 - 1e-15L) &&
                   static_cast<long double>(claim.at_least) <= *best * (1 + 1e-15L));
}

/// Changes one thing somewhere in the document.
void mutate(Json& json, RandomStream& random) {
  Json* at = &json;
  while (at->is_structured() && !at->empty()) {
    if (at->is_array() && random.below(12) == 0) {
      const std::size_t which = random.below(at->size());
      if (random.below(2) == 0) {
        at->erase(at->begin() + static_cast<std::ptrdiff_t>(which));
      } else {
        std::swap((*at)[which], (*at)[random.below(at->size())]);
      }
      return;
    }
    auto next = at->begin();
    std::advance(next, static_cast<std::ptrdiff_t>(random.below(at->size())));
    at = &*next;
  }
  if (at->is_number_integer()) {
    *at = at->get<std::int64_t>() + static_cast<std::int64_t>(random.below(5)) - 2;
  } else if (at->is_number()) {
    const double factors[] = {0, -1, 0.5, 0.999, 1 - 1e-9, 1 + 1e-9, 1.001, 2, 1e6};
    *at = at->get<double>() * factors[random.below(std::size(factors))] + (random.below(8) == 0 ? 0.1 : 0);
  } else if (at->is_string()) {
    *at = *at == "ps" ? "fcfs" : "ps";
  }
}

TEST(Proofs, NoTamperedCertificateProvesWhatIsFalse) {
  int mutations = 0;
  int rejected = 0;
  for (std::uint64_t seed = 0; mutations < 2000; ++seed) {
    SystemShape shape = kEverything;
    shape.extreme_rates = false;
    const bool shares = seed % 4 == 3;
    if (shares) shape.priorities = true;
    shape.worths = seed % 2 == 0;
    shape.max_count = shares ? 2 : 3;
    const System system = random_system(seed, shape);
    const Solution found = shares ? proven_by("weighted", system, Objective::kPriority)
                                  : proven_by("exact", system, Objective::kThroughput);
    if (found.proof == nullptr) continue;
    const std::string text = certificate_json(system, found);
    for (std::uint64_t mutation = 0; mutation < 10; ++mutation) {
      SCOPED_TRACE(::testing::Message() << "seed=" << seed << " mutation=" << mutation);
      RandomStream random(seed, mutation);
      Json json = Json::parse(text);
      mutate(json, random);
      const check::ReadCertificate read = check::read_certificate(json.dump());
      ++mutations;
      const bool accepted = read.certificate && check::check(*read.certificate).accepted;
      rejected += accepted ? 0 : 1;
      if (accepted) {
        ASSERT_TRUE(is_true(*read.certificate)) << json.dump();
      }
    }
  }
  EXPECT_GT(rejected, mutations / 3);
}

TEST(Proofs, ARaisedThroughputALoweredBoundAndADroppedBranchAreRejected) {
  int dropped = 0;
  int unneeded = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = seed % 3 == 0
                              ? generate({.general = 4, .specialized = 2, .threads = 72, .seed = seed}).system
                              : random_system(seed, kEverything);
    const Solution found = proven_by("exact", system, Objective::kThroughput);
    if (found.proof == nullptr || found.performance.approximate) continue;
    const Json whole = Json::parse(certificate_json(system, found));
    ASSERT_TRUE(verdict_on(whole.dump()).accepted);
    if (whole["claim"].contains("at_least") && found.performance.throughput > 0) {
      Json raised = whole;
      raised["claim"]["at_least"] = whole["claim"]["at_least"].get<double>() * (1 + 1e-12);
      EXPECT_FALSE(verdict_on(raised.dump()).accepted);
      Json lowered = whole;
      lowered["claim"]["at_most"] = found.performance.throughput * (1 - 1e-12);
      EXPECT_FALSE(verdict_on(lowered.dump()).accepted);
    }
    for (std::size_t at = 1; at < whole["proof"].size(); ++at) {
      Json less = whole;
      less["proof"].erase(less["proof"].begin() + static_cast<std::ptrdiff_t>(at));
      EXPECT_FALSE(verdict_on(less.dump()).accepted) << "part " << at;
      ++dropped;
      // Without prices nothing closes a part; only one in which nothing can be is closed without.
      Json blank = whole;
      if (blank["proof"][at].contains("split")) continue;
      blank["proof"][at]["prices"] = Json::array();
      unneeded += verdict_on(blank.dump()).accepted ? 1 : 0;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(dropped, 100);
  EXPECT_LT(unneeded, dropped / 4);
}

}  // namespace
}  // namespace allot::proofs_test
