// Types of tasks: which a task is of, where it can run, what is known of its rates when it first comes.
#include <algorithm>

#include "integrations/starpu/context.hpp"
#include "integrations/starpu/message.hpp"
#include "integrations/starpu/tasks.hpp"

namespace allot::starpu {
namespace {

/// Of all busy time, for trying again what the plan does not use: these are other people's programs.
constexpr double kExploration = 0.01;
constexpr std::chrono::milliseconds kSolveLimit{50};

}  // namespace

/// Where the task can run now, asking every worker.
ResourceSet Context::able(starpu_task* task) const {
  ResourceSet set = 0;
  for (std::size_t j = 0; j < groups_.size(); ++j) {
    const std::vector<int>& workers = groups_.group(resource_id(j)).workers;
    const bool any = std::any_of(workers.begin(), workers.end(),
                                 [&](int worker) { return implementation(task, worker).has_value(); });
    if (any) set |= set_of(resource_id(j));
  }
  return set;
}

/// The same, remembered for types whose tasks are all alike.
ResourceSet Context::able(starpu_task* task, TaskType i, bool choosy) {
  Type& type = types_[index(i)];
  if (choosy || !type.planned) return able(task);
  if (type.workers_version == workers_version_) return type.able;
  type.able = able(task);
  type.workers_version = workers_version_;
  for (std::size_t j = 0; j < groups_.size(); ++j) {
    const bool present = !groups_.group(resource_id(j)).workers.empty();
    if (present && !holds(type.able, resource_id(j))) dispatcher_->disable(i, resource_id(j));
  }
  return type.able;
}

/// A type for a task whose key is new; when there are too many, the one for all others.
TaskType Context::make_type(const TypeKey& key, starpu_task* task) {
  if (table_.full()) {
    if (types_.back().planned) {
      say("more than " + std::to_string(kMostTypes) +
          " types of tasks: those that come from now on go where they are expected to end first");
      add_type(free_name("(others)"), std::vector<RatePrior>(groups_.size()));
      types_.back().planned = false;
    }
    return task_type(types_.size() - 1);
  }
  const std::string name = free_name(name_of(task, settings_.types));
  const TaskType made = add_type(name, priors(task, name));
  table_.insert(key, made);
  return made;
}

/// Codelets may have the same name, types may not.
std::string Context::free_name(const std::string& name) const {
  const auto taken = [&](const std::string& text) {
    return std::any_of(types_.begin(), types_.end(), [&](const Type& type) { return type.name == text; });
  };
  std::string text = name;
  for (unsigned number = 2; taken(text); ++number) text = name + "#" + std::to_string(number);
  return text;
}

/// StarPU's models first; what they do not know, the scenario may.
std::vector<RatePrior> Context::priors(starpu_task* task, const std::string& name) const {
  std::vector<RatePrior> priors;
  for (const WorkerGroups::Group& group : groups_.groups()) {
    // Of a resource whose workers are away nothing is known; nothing goes there until one is back.
    RatePrior prior = group.workers.empty() ? RatePrior::unknown() : RatePrior::cannot_run();
    for (const int worker : group.workers) {
      const RatePrior told = model_prior(task, worker, id_, settings_.types);
      if (told.can_run) prior = told;
      if (told.rate) break;
    }
    if (prior.can_run && !prior.rate) {
      if (const auto rate = scenario_rate(settings_, name, group.name)) prior = RatePrior::measured(*rate);
    }
    priors.push_back(prior);
  }
  return priors;
}

TaskType Context::add_type(const std::string& name, std::vector<RatePrior> priors) {
  TaskClass type{.name = name, .count = 1};
  if (policy_.needs_shares) type.priority = 1.0;
  if (dispatcher_) {
    dispatcher_->add_type(type, priors);
  } else {
    std::vector<Resource> resources;
    for (const WorkerGroups::Group& group : groups_.groups()) resources.push_back(resource(group));
    DispatcherOptions options;
    options.policy = policy_.name;
    options.planning = Planning::kDeferred;
    options.exploration = kExploration;
    options.solve_limit = kSolveLimit;
    options.more_types = kMostTypes;
    options.more_resources = kMostResources - groups_.size();
    dispatcher_ =
        std::make_unique<Dispatcher>(std::move(resources), std::vector{type}, std::move(priors), options);
    for (std::size_t j = 0; j < groups_.size(); ++j) {
      if (groups_.group(resource_id(j)).workers.empty()) dispatcher_->drain(resource_id(j));
    }
  }
  const bool first = types_.empty();
  types_.push_back({name});
  placement_.resize(types_.size(), groups_.size());
  if (first) placement_.follow(*dispatcher_->plan(), *dispatcher_);
  if (policy_.needs_shares) {
    std::vector<std::string> names;
    for (const Type& known : types_) names.push_back(known.name);
    dispatcher_->set_priorities(shares_of(settings_, names));
  }
  planner_->wake();
  return task_type(types_.size() - 1);
}

}  // namespace allot::starpu
