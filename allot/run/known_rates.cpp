#include "allot/run/known_rates.hpp"

#include <algorithm>
#include <filesystem>

#include "allot/jobs/journal_reader.hpp"

namespace allot {
namespace {

/// The weight of a rate from elsewhere, in completions: enough to plan with, soon outweighed.
constexpr double kMostWorth = 20;

/// The prior of a pair, by name: null if the job has no such pair or cannot run it.
class NamedPriors {
 public:
  NamedPriors(const Job& job, std::vector<RatePrior>& priors) : job_(job), priors_(priors) {}

  RatePrior* find(const std::string& type, const std::string& resource) const {
    const auto named = [](const std::string& name) {
      return [&name](const auto& entry) { return entry.name == name; };
    };
    const auto i = std::find_if(job_.tasks.begin(), job_.tasks.end(), named(type));
    const auto j = std::find_if(job_.resources.begin(), job_.resources.end(), named(resource));
    if (i == job_.tasks.end() || j == job_.resources.end()) return nullptr;
    RatePrior& prior = PairSpan(priors_, job_.resources.size())(
        task_type(static_cast<std::size_t>(i - job_.tasks.begin())),
        resource_id(static_cast<std::size_t>(j - job_.resources.begin())));
    return prior.can_run ? &prior : nullptr;
  }

 private:
  const Job& job_;
  std::vector<RatePrior>& priors_;
};

}  // namespace

std::string rates_path(const std::string& job_path) {
  std::filesystem::path path(job_path);
  if (path.extension() == ".toml" || path.extension() == ".json") path.replace_extension();
  return path.string() + ".rates.toml";
}

std::vector<LearntRate> learnt_rates(const std::string& journal_path) {
  std::error_code ignored;
  if (!std::filesystem::exists(journal_path, ignored)) return {};
  try {
    return JournalReader(journal_path).rates();
  } catch (const JournalError&) {
    return {};  // the error is reported when the journal is opened for writing
  }
}

std::vector<RatePrior> known_rates(const Job& job, const std::optional<Scenario>& measured,
                                   std::span<const LearntRate> learnt) {
  std::vector<RatePrior> priors;
  for (const JobTask& task : job.tasks) {
    for (std::size_t j = 0; j < job.resources.size(); ++j) {
      priors.push_back(!task.commands[j] ? RatePrior::cannot_run()
                       : task.rates[j]   ? RatePrior::measured(*task.rates[j])
                                         : RatePrior::unknown());
    }
  }
  const NamedPriors named(job, priors);
  if (measured) {
    const System& system = measured->system;
    for (const TaskType i : system.types()) {
      for (const ResourceId j : system.resource_ids()) {
        if (!system.can_run(i, j)) continue;
        if (RatePrior* const prior = named.find(system.task(i).name, system.resource(j).name))
          *prior = RatePrior::measured(system.rate(i, j));
      }
    }
  }
  for (const LearntRate& rate : learnt) {
    // A journal may contain impossible values.
    if (!(rate.rate > 0 && rate.rate <= kMaxNumber && rate.completions > 0)) continue;
    if (RatePrior* const prior = named.find(rate.type, rate.resource)) {
      const double worth = std::min(kMostWorth, static_cast<double>(rate.completions));
      *prior = RatePrior::measured(rate.rate, 0.3, worth);
    }
  }
  return priors;
}

}  // namespace allot
