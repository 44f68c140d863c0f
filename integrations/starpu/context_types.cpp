// Types of tasks: the type of a task, where it can run, and its known rates when it first arrives.
#include <algorithm>
#include <cmath>
#include <utility>

#include "integrations/starpu/context.hpp"
#include "integrations/starpu/message.hpp"
#include "integrations/starpu/tasks.hpp"

namespace allot::starpu {
namespace {

/// Part of the busy time for trying pairs that the plan does not use: small, because these are other people's
/// programs.
constexpr double kExploration = 0.01;
constexpr std::chrono::milliseconds kSolveLimit{50};

}  // namespace

/// The resources that can run the task now; asks every worker.
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

/// The same, cached for types whose tasks are all alike.
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

/// A type for a task with a new key; if there are too many, the common type for all others.
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
  if (settings_.buses) types_.back().data = data_of(task);
  table_.insert(key, made);
  return made;
}

/// Codelets may have the same name; types may not.
std::string Context::free_name(const std::string& name) const {
  const auto taken = [&](const std::string& text) {
    return std::any_of(types_.begin(), types_.end(), [&](const Type& type) { return type.name == text; });
  };
  std::string text = name;
  for (unsigned number = 2; taken(text); ++number) text = name + "#" + std::to_string(number);
  return text;
}

/// StarPU's models first; the scenario for pairs that they do not know.
std::vector<RatePrior> Context::priors(starpu_task* task, const std::string& name) const {
  std::vector<RatePrior> priors;
  for (const WorkerGroups::Group& group : groups_.groups()) {
    // A resource whose workers are away has an unknown rate; nothing goes there until one is back.
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

/// Resources that have their own memory now; devices that arrive later are planned without their bus.
void Context::find_devices() {
  constexpr double kMegabyte = 1e6;
  buses_ = buses_of_starpu();
  for (std::size_t j = 0; j < groups_.size(); ++j) {
    const WorkerGroups::Group& group = groups_.group(resource_id(j));
    if (group.workers.empty()) continue;
    const unsigned node = starpu_worker_get_memory_node(static_cast<unsigned>(group.workers.front()));
    if (node == STARPU_MAIN_RAM) continue;
    const auto bytes = starpu_memory_get_total(node);
    devices_.push_back({resource_id(j), group.name, node,
                        bytes > 0 ? std::optional(static_cast<double>(bytes) / kMegabyte) : std::nullopt});
  }
}

/// Updates the needs of types whose rates have changed: the part of a bus that a task uses depends on its run
/// time.
void Context::say_needs() {
  constexpr double kMoved = 0.2;
  for (std::size_t i = 0; i < types_.size(); ++i) {
    Type& type = types_[i];
    if (!type.planned || type.data == TaskData{}) continue;
    std::vector<double> rates;
    bool has_moved = type.rates.empty();
    for (std::size_t j = 0; j < groups_.size(); ++j) {
      const auto seconds = dispatcher_->mean_seconds(task_type(i), resource_id(j));
      rates.push_back(seconds ? 1 / *seconds : 0.0);
      const double before = j < type.rates.size() ? type.rates[j] : 0.0;
      has_moved |= std::abs(rates.back() - before) > kMoved * std::max(rates.back(), before);
    }
    if (!has_moved) continue;
    dispatcher_->set_needs(task_type(i), needs_of(type.data, devices_, groups_.size(), rates, *buses_));
    type.rates = std::move(rates);
  }
}

TaskType Context::add_type(const std::string& name, std::vector<RatePrior> priors) {
  TaskClass type{.name = name, .count = 1};
  if (wants_shares_) type.priority = 1.0;
  if (policy_.binds_late) say_wishes(settings_, type);
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
    options.follow_counts = false;  // the context's planner knows the peaks between its looks
    if (policy_.binds_late && wants_shares_) options.policy_options.objective = Objective::kPriority;
    options.more_types = kMostTypes;
    options.more_resources = kMostResources - groups_.size();
    if (settings_.buses) find_devices();
    options.capacities = capacities_of(devices_);
    dispatcher_ =
        std::make_unique<Dispatcher>(std::move(resources), std::vector{type}, std::move(priors), options);
    if (policy_.binds_late) placement_.bind_late(*dispatcher_);
    for (std::size_t j = 0; j < groups_.size(); ++j) {
      if (groups_.group(resource_id(j)).workers.empty()) dispatcher_->drain(resource_id(j));
    }
  }
  const bool first = types_.empty();
  types_.push_back({name});
  placement_.resize(types_.size(), groups_.size());
  if (first) {
    remember(dispatcher_->plan());
    placement_.follow(*dispatcher_->plan(), *dispatcher_);
  }
  if (wants_shares_) {
    std::vector<std::string> names;
    for (const Type& known : types_) names.push_back(known.name);
    dispatcher_->set_priorities(shares_of(settings_, names));
  }
  planner_->wake();
  return task_type(types_.size() - 1);
}

}  // namespace allot::starpu
