#include "apps/allot/commands/job_rates.hpp"

#include <filesystem>
#include <optional>

#include "allot/format/scenario_reader.hpp"
#include "allot/jobs/journal_reader.hpp"
#include "apps/allot/input.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app {
namespace {

template <typename Entries>
std::optional<std::size_t> place_of(const Entries& entries, const std::string& name) {
  for (std::size_t at = 0; at < entries.size(); ++at) {
    if (entries[at].name == name) return at;
  }
  return std::nullopt;
}

/// Completions that a rate from elsewhere counts like: enough to plan with, soon outweighed.
constexpr double kMostWorth = 20;

}  // namespace

std::string rates_path(const std::string& job_path) {
  std::filesystem::path path(job_path);
  if (path.extension() == ".toml" || path.extension() == ".json") path.replace_extension();
  return path.string() + ".rates.toml";
}

std::vector<RatePrior> known_rates(const Job& job, const std::string& journal_path,
                                   const std::string& rates_file, const Console& console) {
  const std::size_t resources = job.resources.size();
  std::vector<RatePrior> priors;
  for (const JobTask& task : job.tasks) {
    for (std::size_t j = 0; j < resources; ++j) {
      priors.push_back(!task.commands[j] ? RatePrior::cannot_run()
                       : task.rates[j]   ? RatePrior::measured(*task.rates[j])
                                         : RatePrior::unknown());
    }
  }
  const PairSpan by_pair(priors, resources);
  const std::string file = rates_file.empty() ? rates_path(job.path) : rates_file;
  std::error_code error;
  const bool has_default = !job.path.empty() && std::filesystem::exists(file, error);
  if (!rates_file.empty() || has_default) {
    const Scenario scenario = read_scenario_or_fail(file, console);
    for (const TaskType i : scenario.system.types()) {
      const auto type = place_of(job.tasks, scenario.system.task(i).name);
      for (const ResourceId j : scenario.system.resource_ids()) {
        const auto resource = place_of(job.resources, scenario.system.resource(j).name);
        if (!type || !resource || !scenario.system.can_run(i, j)) continue;
        RatePrior& prior = by_pair(task_type(*type), resource_id(*resource));
        if (prior.can_run) prior = RatePrior::measured(scenario.system.rate(i, j));
      }
    }
  }
  if (std::filesystem::exists(journal_path, error)) {
    try {
      for (const LearntRate& learnt : JournalReader(journal_path).rates()) {
        const auto type = place_of(job.tasks, learnt.type);
        const auto resource = place_of(job.resources, learnt.resource);
        // A journal may say anything.
        const bool can_be = learnt.rate > 0 && learnt.rate <= kMaxNumber && learnt.completions > 0;
        if (!type || !resource || !can_be) continue;
        RatePrior& prior = by_pair(task_type(*type), resource_id(*resource));
        const double worth = std::min(kMostWorth, static_cast<double>(learnt.completions));
        if (prior.can_run) prior = RatePrior::measured(learnt.rate, 0.3, worth);
      }
    } catch (const JournalError&) {
      // Whoever opens the journal for writing says what is wrong with it.
    }
  }
  return priors;
}

}  // namespace allot::app
