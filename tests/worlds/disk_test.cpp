// The worlds' journal keeps the promises of the one on disk: the same calls leave the same states.
#include "tests/worlds/disk.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "allot/base/random.hpp"
#include "allot/jobs/journal.hpp"

namespace allot::worlds {
namespace {

namespace fs = std::filesystem;

Job job_of(std::size_t tasks) {
  Job job;
  job.resources.resize(1);
  job.resources[0].name = "cpu";
  JobTask& task = job.tasks.emplace_back();
  task.name = "t";
  task.inputs = inputs_by_counting(tasks);
  task.commands.emplace_back(CommandTemplate());
  task.rates.resize(1);
  return job;
}

TEST(MemoryJournal, LeavesTheSameStatesAsTheJournalOnDisk) {
  const auto go_on = [] { return true; };
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomStream random(seed);
    const fs::path folder = fs::path(::testing::TempDir()) / ("disk-test-" + std::to_string(::getpid()));
    fs::create_directories(folder);
    const std::string path = (folder / "journal").string();
    const Job job = job_of(1 + random.below(5));
    const std::vector<JobItem> items = list_items(job);
    const int requeues = static_cast<int>(random.below(3));
    Disk disk;
    for (int run = 0; run < 5; ++run) {
      JournalOptions options;
      options.most_requeues = requeues;
      auto real = std::make_unique<Journal>(path, options);
      MemoryJournal memory(disk, requeues);
      real->begin_run({"run", "job", "", "", "", 0});
      const auto states = real->register_tasks(job, items, go_on);
      ASSERT_TRUE(states);
      EXPECT_EQ(*states, *memory.register_tasks(job, items, go_on));
      std::vector<TaskState> now = *states;
      for (std::size_t at = 0; at < items.size(); ++at) {
        while (now[at].kind == TaskState::Kind::kPending && random.uniform() < 0.7) {
          AttemptEnd end;
          end.task = at;
          end.attempt = ++now[at].attempts;
          end.resource = "cpu";
          real->start(end);
          memory.start(end);
          if (random.uniform() < 0.2) break;  // never ended
          constexpr AttemptStatus kEnds[] = {AttemptStatus::kOk, AttemptStatus::kFailed,
                                             AttemptStatus::kTimeout, AttemptStatus::kKilled,
                                             AttemptStatus::kLost};
          end.status = kEnds[random.below(5)];
          end.forgiven = end.status == AttemptStatus::kLost && random.uniform() < 0.5;
          const bool is_final = end.status == AttemptStatus::kOk ||
                                (end.status == AttemptStatus::kFailed && random.uniform() < 0.3);
          real->finish(end, is_final);
          memory.finish(end, is_final);
          if (is_final) now[at].kind = TaskState::Kind::kDone;
        }
      }
      real->flush();
      memory.commit();
    }
    EXPECT_TRUE(disk.violations.empty());
    fs::remove_all(folder);
  }
}

}  // namespace
}  // namespace allot::worlds
