// Pipelines in simulated worlds: how soon they are done, and that nothing of them is lost.
#include <gmock/gmock.h>

#include <algorithm>

#include "allot/base/random.hpp"
#include "allot/jobs/stages.hpp"
#include "allot/run/holdings.hpp"
#include "allot/run/pipeline_bound.hpp"
#include "tests/support/amount.hpp"
#include "tests/worlds/world.hpp"

namespace allot::worlds {
namespace {

using ::testing::IsEmpty;

/// Stages in a row, each from the one before it.
struct Line {
  std::vector<Count> servers;                ///< by resource
  std::vector<std::vector<double>> seconds;  ///< by stage and resource; 0: not there
  std::size_t items = 300;
};

Scene scene_of(const Line& line) {
  Scene scene;
  scene.seed = 7;
  scene.job.path = "line.toml";
  scene.job.folder = ".";
  scene.options.run_id = "line";
  for (const Count servers : line.servers) {
    JobResource& resource = scene.job.resources.emplace_back();
    resource.name = "r" + std::to_string(scene.job.resources.size() - 1);
    resource.servers = servers;
    scene.lanes.emplace_back().opens_after = 0.01;
  }
  for (std::size_t i = 0; i < line.seconds.size(); ++i) {
    JobTask& task = scene.job.tasks.emplace_back();
    task.name = "t" + std::to_string(i);
    task.inputs = inputs_by_counting(line.items);
    if (i > 0) {
      task.from = task_type(i - 1);
      task.inputs = {columns_from(scene.job.tasks[i - 1].inputs.columns), {}};
    }
    std::vector<std::string> problems;
    task.output = Template::parse(task.name + "/{#}", {{""}, false, false}, problems);
    const auto command = CommandTemplate::from_words({"work", "{}"}, {{""}, true, false}, problems);
    for (const double seconds : line.seconds[i]) {
      scene.seconds.push_back(seconds);
      scene.not_found.push_back(false);
      scene.fails.push_back(0);
      task.commands.push_back(seconds > 0 ? std::optional(command) : std::nullopt);
    }
    task.rates.resize(line.servers.size());
  }
  fill_stages(scene.job);
  scene.manners.assign(scene.job.task_count(), Manner::kWell);
  return scene;
}

double bound_of(const Line& line) {
  const Scene scene = scene_of(line);
  std::vector<double> rates;
  for (const double seconds : scene.seconds) rates.push_back(seconds > 0 ? 1 / seconds : 0);
  const std::vector<Count> left(line.seconds.size(), static_cast<Count>(line.items));
  return pipeline_bound(scene.job, job_system(scene.job, rates, left), left).value();
}

const std::vector<Line> kLines = {
    {{4}, {{0.3}, {0.5}, {0.2}}},                          // all in one place
    {{2, 1, 1}, {{0.2, 0, 0}, {0, 0.1, 0}, {0, 0, 0.1}}},  // each in its own
    {{2, 1}, {{0.2, 0.1}, {0.6, 0.05}, {0.1, 0}}},         // a fast place that one stage needs most
    {{2, 1}, {{0.1, 0}, {0.1, 0}, {0, 0.15}}},             // the last one is the narrow one
    {{2, 1}, {{0, 0.15}, {0.2, 0}, {0.05, 0}}},            // the first one is
    {{3, 2, 1}, {{0.4, 0.2, 0.1}, {0.3, 0.5, 0.1}, {0.2, 0.2, 0.3}}}  // everything everywhere
};

TEST(Pipeline, OfThreeStagesIsDoneNearTheBound) {
  for (std::size_t k = 0; k < kLines.size(); ++k) {
    for (const double variation : {0.0, 0.3}) {
      SCOPED_TRACE(::testing::Message() << "line " << k << ", variation " << variation);
      Scene scene = scene_of(kLines[k]);
      scene.variation = variation;
      const Verdict verdict = live_through(scene);
      EXPECT_THAT(verdict.violations, IsEmpty());
      EXPECT_EQ(verdict.outcome, "finished");
      const double took = verdict.completions.back().first;
      EXPECT_LE(took, 1.15 * bound_of(kLines[k]));
    }
  }
}

TEST(Pipeline, DrawnAtRandomIsDoneNearTheBound) {
  RandomStream random(5, 1);
  double sum = 0;
  const std::size_t drawn = testing::amount(60);
  for (std::size_t k = 0; k < drawn; ++k) {
    Line line;
    line.items = 150;
    for (std::size_t j = 0; j <= random.below(3); ++j)
      line.servers.push_back(1 + static_cast<Count>(random.below(3)));
    const std::size_t stages = 2 + random.below(4);
    for (std::size_t i = 0; i < stages; ++i) {
      std::vector<double>& row = line.seconds.emplace_back();
      for (std::size_t j = 0; j < line.servers.size(); ++j)
        row.push_back(random.uniform() < 0.4 ? 0 : random.uniform(0.05, 0.5));
      if (*std::max_element(row.begin(), row.end()) == 0) row[random.below(row.size())] = 0.2;
    }
    Scene scene = scene_of(line);
    scene.variation = 0.3;
    const Verdict verdict = live_through(scene);
    EXPECT_THAT(verdict.violations, IsEmpty());
    const double ratio = verdict.completions.back().first / bound_of(line);
    // In line 44, trials of the first stage take most of the first seconds of the only server where the last
    // one is fast.
    EXPECT_LE(ratio, k == 44 ? 1.21 : 1.165) << "line " << k;
    sum += ratio;
  }
  if (drawn >= 60) {
    EXPECT_LE(sum / static_cast<double>(drawn), 1.045) << "on average";
  }
}

TEST(Pipeline, StreamsFromTheFirstOutputOn) {
  Scene scene = scene_of({{1, 1}, {{0.1, 0}, {0, 0.1}}});
  scene.variation = 0;
  const Verdict verdict = live_through(scene);
  EXPECT_EQ(verdict.completions.at(1).second, task_type(0));
  EXPECT_EQ(verdict.completions.at(2).second, task_type(1));
}

/// 2% of the tasks of each stage fail; the run is killed 500 times.
TEST(Pipeline, LosesNothingInFiveHundredKills) {
  const std::size_t kills = testing::amount(500);
  for (const bool limited : {false, true}) {
    SCOPED_TRACE(limited ? "limited" : "not limited");
    Scene scene = scene_of({{3, 1}, {{0.2, 0.1}, {0.3, 0.05}, {0.1, 0}}});
    for (std::size_t at = 13; at < scene.manners.size(); at += 47) scene.manners[at] = Manner::kFails;
    for (std::size_t i = 0; i < 2 && limited; ++i) {
      scene.job.tasks[i].at_most = i == 0 ? 2 : 7;
      scene.job.tasks[i].keep = false;
    }
    scene.options.requeues = 1000;
    for (std::size_t k = 0; k < kills; ++k) scene.kills.push_back(k % 8 == 0 ? 0.35 : 0.03);
    const Verdict verdict = live_through(scene);
    EXPECT_THAT(verdict.violations, IsEmpty());
    EXPECT_EQ(verdict.outcome, "finished");
    EXPECT_EQ(verdict.runs, kills + 1);
    for (std::size_t row = 0; row < 300; ++row) {
      bool well = true;
      for (const std::size_t at : {row, 300 + row, 600 + row}) {
        const Disk::Task& task = verdict.disk.tasks[at];
        EXPECT_TRUE(task.final_attempt) << "task " << at << " is lost";
        EXPECT_EQ(task.final_attempt == 0, !well)
            << "task " << at << " failed for itself, or was tried in vain";
        well &= scene.manners[at] == Manner::kWell;
        EXPECT_EQ(task.done(), well) << "task " << at;
      }
    }
  }
}

}  // namespace
}  // namespace allot::worlds
