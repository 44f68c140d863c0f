#include "allot/run/known_rates.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace allot {
namespace {

Job job_of_two() {
  Job job;
  for (const char* const name : {"cpu", "gpu"}) job.resources.emplace_back().name = name;
  std::vector<std::string> problems;
  const TemplateScope scope{{""}, false, false};
  for (const char* const name : {"sort", "search"}) {
    JobTask& task = job.tasks.emplace_back();
    task.name = name;
    task.commands = {CommandTemplate::from_words({"true"}, scope, problems),
                     CommandTemplate::from_words({"true"}, scope, problems)};
    task.rates.resize(2);
  }
  return job;
}

LearntRate learnt(const char* type, const char* resource, double rate, std::int64_t completions) {
  LearntRate one;
  one.type = type;
  one.resource = resource;
  one.rate = rate;
  one.completions = completions;
  return one;
}

TEST(KnownRates, TheLatestKnowledgeCounts) {
  Job job = job_of_two();
  job.tasks[0].rates = {1.0, 2.0};
  job.tasks[1].commands[1].reset();
  const Scenario measured{"", System({Resource{.name = "gpu"}, Resource{.name = "tpu"}},
                                     {TaskClass{.name = "sort"}}, Rates(1, 2, {20, 30}))};
  const std::vector<LearntRate> rates = {learnt("search", "cpu", 7, 1000), learnt("search", "gpu", 8, 3),
                                         learnt("elsewhere", "cpu", 9, 3)};
  const std::vector<RatePrior> priors = known_rates(job, measured, rates);
  ASSERT_EQ(priors.size(), 4u);
  EXPECT_EQ(priors[0].rate, 1.0);   // the job's own
  EXPECT_EQ(priors[1].rate, 20.0);  // measured, by name
  EXPECT_EQ(priors[2].rate, 7.0);   // learned
  EXPECT_FALSE(priors[3].can_run);  // whatever a journal says
}

TEST(KnownRates, WithoutAnyAllIsUnknown) {
  for (const RatePrior& prior : known_rates(job_of_two(), std::nullopt, {})) {
    EXPECT_TRUE(prior.can_run);
    EXPECT_FALSE(prior.rate);
  }
}

TEST(KnownRates, AJournalMaySayAnything) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double rate : {0.0, -1.0, nan, infinity}) {
    const std::vector<LearntRate> rates = {learnt("sort", "cpu", rate, 5)};
    EXPECT_FALSE(known_rates(job_of_two(), std::nullopt, rates)[0].rate) << rate;
  }
  const std::vector<LearntRate> never = {learnt("sort", "cpu", 5, 0)};
  EXPECT_FALSE(known_rates(job_of_two(), std::nullopt, never)[0].rate);
  EXPECT_TRUE(learnt_rates("/nowhere/at/all.journal").empty());
}

TEST(KnownRates, AProfileLiesBesideItsJob) {
  EXPECT_EQ(rates_path("a/jobs.toml"), "a/jobs.rates.toml");
  EXPECT_EQ(rates_path("a/jobs.json"), "a/jobs.rates.toml");
  EXPECT_EQ(rates_path("a/jobs.v2"), "a/jobs.v2.rates.toml");
}

}  // namespace
}  // namespace allot
