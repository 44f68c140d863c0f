#include "integrations/starpu/context.hpp"

#include <starpu_scheduler.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <limits>
#include <string_view>
#include <utility>

#include "integrations/starpu/message.hpp"
#include "integrations/starpu/tasks.hpp"

namespace allot::starpu {
namespace {

/// Looks over which the most tasks in flight of a type are taken: a program that submits the next task a
/// little after the last has ended keeps its count.
constexpr std::size_t kPeaks = 8;
/// Tasks that a worker of StarPU's has started at once, at the most: STARPU_MAX_PIPELINE.
constexpr std::size_t kPipeline = 4;
constexpr double kNever = std::numeric_limits<double>::infinity();

double seconds(Clock::time_point time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

/// The lock, taken in StarPU's relaxed state (which is nothing for threads that are no workers).
class Locked {
 public:
  explicit Locked(std::mutex& mutex) : lock_(mutex, std::defer_lock) { lock(); }
  void lock() {
    starpu_worker_relax_on();
    lock_.lock();
    starpu_worker_relax_off();
  }
  void unlock() { lock_.unlock(); }

 private:
  std::unique_lock<std::mutex> lock_;
};

/// How many contexts of this number the process has had, this one included.
unsigned times_made(unsigned context) {
  static std::array<std::atomic<unsigned>, STARPU_NMAX_SCHED_CTXS + 1> times{};
  return ++times[std::min<std::size_t>(context, STARPU_NMAX_SCHED_CTXS)];
}

bool moved(Count planned, Count now) noexcept {
  const Count difference = std::abs(now - planned);
  return difference > planned / 10;  // small counts: any difference
}

}  // namespace

Context::Context(unsigned id, std::string policy, Settings settings, Solve solve)
    : id_(id),
      policy_(std::move(policy)),
      settings_(std::move(settings)),
      solve_(solve ? std::move(solve) : [](Dispatcher& dispatcher) { return dispatcher.solve(); }),
      lines_(policy_ == "weighted" ? ServiceOrder::WhenAhead::kIdle : ServiceOrder::WhenAhead::kServe) {
  planner_ = std::make_unique<Planner>([this] { return look(); });
}

Context::~Context() {
  planner_.reset();
  const Clock::time_point now = Clock::now();
  const std::lock_guard lock(mutex_);
  for (Worker& worker : workers_) close_left_over(worker, nullptr, 0, now);
  std::uint64_t unfinished = parked_.size();
  for (std::size_t j = 0; j < lines_.resources(); ++j) {
    for (const Job* job : lines_.clear(resource_id(j))) {
      dispatcher_->cancel(job->ticket);
      ++unfinished;
    }
  }
  if (unfinished > 0) {
    say("context " + std::to_string(id_) + " ends with " + std::to_string(unfinished) +
        " tasks that never ran");
  }
  if (settings_.statistics.empty()) return;
  Report all = report(now);
  all.unfinished = unfinished;
  const std::string path = report_path(
      settings_.statistics, [](const char* name) { return std::getenv(name); }, getpid(), id_,
      times_made(id_));
  if (!write_file(path, report_json(all))) say("ALLOT_STATS: cannot write " + path);
}

// ---- workers

void Context::add_workers(const int* workers, unsigned count) {
  {
    const Locked lock(mutex_);
    for (unsigned k = 0; k < count; ++k) {
      const int id = workers[k];
      // Combined workers run one task on several: not here.
      if (id < 0 || id >= static_cast<int>(starpu_worker_get_count()) || id >= STARPU_NMAXWORKERS) continue;
      const std::size_t known = crew_.size();
      const std::optional<ResourceId> j = crew_.add(id);
      if (!j) {
        say("worker " + std::to_string(id) + " stays unused: more than " + std::to_string(kMostResources) +
            " resources");
        continue;
      }
      const Crew::Place& place = crew_.place(*j);
      const auto servers = static_cast<Count>(place.workers.size());
      lines_.resize(types_.size(), crew_.size());
      lines_.set_servers(*j, servers);
      if (dispatcher_ && crew_.size() > known) {
        const Resource resource{.name = place.name,
                                .min_depth = place.kind == STARPU_CPU_WORKER ? 1 : settings_.depth};
        dispatcher_->add_resource(resource, std::vector<RatePrior>(types_.size()));
      } else if (dispatcher_) {
        dispatcher_->set_servers(*j, servers);
        if (servers == 1) dispatcher_->restore(*j);
      }
      starpu_sched_ctx_worker_shares_tasks_lists(id, static_cast<int>(id_));
      Worker& worker = workers_[static_cast<std::size_t>(id)];
      worker.resource = *j;
      worker.here.store(true, std::memory_order_release);
    }
    ++crew_version_;
    unpark();
    changed();
  }
  planner_->wake();
}

void Context::remove_workers(const int* workers, unsigned count) {
  {
    const Locked lock(mutex_);
    for (unsigned k = 0; k < count; ++k) {
      const int id = workers[k];
      const std::optional<ResourceId> j = crew_.remove(id);
      if (!j) continue;
      workers_[static_cast<std::size_t>(id)].here.store(false, std::memory_order_release);
      workers_[static_cast<std::size_t>(id)].idle.store(false, std::memory_order_relaxed);
      ++crew_version_;
      const auto servers = static_cast<Count>(crew_.place(*j).workers.size());
      if (!dispatcher_) continue;
      if (servers > 0) {
        lines_.set_servers(*j, servers);
        dispatcher_->set_servers(*j, servers);
        continue;
      }
      dispatcher_->drain(*j);
    }
    // What waits may have lost the only workers it can run on.
    if (dispatcher_) {
      for (std::size_t j = 0; j < lines_.resources(); ++j) {
        for (Job* job : lines_.clear(resource_id(j))) {
          job->able = able(job->task, job->ticket.type, job->choosy);
          if (holds(job->able, job->ticket.resource)) {
            lines_.put(*job);
            continue;
          }
          dispatcher_->cancel(job->ticket);
          if (job->able == 0) {
            park(job->task);
            jobs_.release(*job);
          } else {
            place(*job);
            lines_.put(*job);
          }
        }
      }
      waiting_.store(lines_.waiting(), std::memory_order_seq_cst);
    }
    changed();
  }
  planner_->wake();
}

// ---- types

/// Where the task can run now, asking every worker.
ResourceSet Context::able(starpu_task* task) const {
  ResourceSet set = 0;
  for (std::size_t j = 0; j < crew_.size(); ++j) {
    const std::vector<int>& workers = crew_.place(resource_id(j)).workers;
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
  if (type.crew_version == crew_version_) return type.able;
  type.able = able(task);
  type.crew_version = crew_version_;
  for (std::size_t j = 0; j < crew_.size(); ++j) {
    const bool present = !crew_.place(resource_id(j)).workers.empty();
    if (present && !holds(type.able, resource_id(j))) dispatcher_->disable(i, resource_id(j));
  }
  return type.able;
}

TaskType Context::type_of(starpu_task* task, bool choosy) {
  const TypeKey key = key_of(task, settings_.types);
  if (const auto known = table_.find(key)) return *known;
  if (!table_.full()) {
    std::string name = name_of(task, settings_.types);
    const auto taken = [&](const std::string& text) {
      return std::any_of(types_.begin(), types_.end(), [&](const Type& type) { return type.name == text; });
    };
    if (taken(name)) {
      unsigned number = 2;
      while (taken(name + "#" + std::to_string(number))) ++number;
      name += "#" + std::to_string(number);
    }
    const TaskType made = make_type(task, std::move(name));
    if (!choosy) {
      types_.back().able = able(task);
      types_.back().crew_version = crew_version_;
    }
    table_.insert(key, made);
    return made;
  }
  if (types_.back().planned) {
    say("more than " + std::to_string(kMostTypes) +
        " types of tasks: those that come from now on go where "
        "they are expected to end first (ALLOT_TYPES=symbol or codelet makes fewer)");
    make_type(task, "(others)");
    types_.back().planned = false;
  }
  return task_type(types_.size() - 1);
}

TaskType Context::make_type(starpu_task* task, std::string name) {
  const bool others = table_.full();
  std::vector<RatePrior> priors;
  for (std::size_t j = 0; j < crew_.size(); ++j) {
    RatePrior prior = RatePrior::cannot_run();
    for (const int worker : crew_.place(resource_id(j)).workers) {
      prior = model_prior(task, worker, id_);
      if (prior.can_run) break;
    }
    if (others) prior = RatePrior::unknown();
    if (settings_.scenario && prior.can_run && !prior.rate) {
      const System& system = settings_.scenario->system;
      for (const TaskType i : system.types()) {
        for (const ResourceId k : system.resource_ids()) {
          if (system.task(i).name != name || system.resource(k).name != crew_.place(resource_id(j)).name)
            continue;
          if (system.can_run(i, k)) prior = RatePrior::measured(system.rate(i, k));
        }
      }
    }
    priors.push_back(prior);
  }
  DispatchType type{.name = name, .count = 1};
  if (policy_ != "map") type.priority = 1.0;
  if (!dispatcher_) {
    std::vector<Resource> resources;
    for (const Crew::Place& place : crew_.places()) {
      resources.push_back({.name = place.name,
                           .servers = std::max<Count>(1, static_cast<Count>(place.workers.size())),
                           .min_depth = place.kind == STARPU_CPU_WORKER ? 1 : settings_.depth});
    }
    DispatcherOptions options;
    options.policy = policy_;
    options.planning = Planning::kDeferred;
    options.solve_limit = std::chrono::milliseconds(50);
    options.more_types = kMostTypes;
    options.more_resources = kMostResources - crew_.size();
    dispatcher_ =
        std::make_unique<Dispatcher>(std::move(resources), std::vector{type}, std::move(priors), options);
    for (std::size_t j = 0; j < crew_.size(); ++j) {
      if (crew_.place(resource_id(j)).workers.empty()) dispatcher_->drain(resource_id(j));
    }
  } else {
    dispatcher_->add_type(type, priors);
  }
  types_.push_back({std::move(name)});
  lines_.resize(types_.size(), crew_.size());
  update_shares();
  planner_->wake();
  return task_type(types_.size() - 1);
}

void Context::update_shares() {
  if (policy_ == "map") return;
  std::vector<std::string> names;
  for (const Type& type : types_) names.push_back(type.name);
  dispatcher_->set_priorities(shares_of(settings_, names));
}

// ---- tasks

void Context::place(Job& job) {
  const TaskType i = job.ticket.type;
  if (types_[index(i)].planned) {
    if (const std::optional<Ticket> ticket = dispatcher_->place(i)) {
      if (holds(job.able, ticket->resource)) {
        job.ticket = *ticket;
        return;
      }
      dispatcher_->cancel(*ticket);
    }
  } else {
    ++greedy_;
  }
  job.ticket = dispatcher_->place_at(i, lines_.soonest(i, job.able));
}

/// No worker of the context can run it now: it waits for one.
void Context::park(starpu_task* task) {
  if (parked_ever_++ == 0) {
    say("no worker of context " + std::to_string(id_) + " can run the task '" +
        name_of(task, settings_.types) + "': it waits until one comes (further ones wait in silence)");
  }
  parked_.push_back(task);
}

void Context::unpark() {
  for (starpu_task* task : std::exchange(parked_, {})) {
    const bool picky = choosy(task);
    if (able(task) == 0) {
      parked_.push_back(task);
      continue;
    }
    Job& job = jobs_.make();
    job.task = task;
    job.priority = task->priority;
    job.choosy = picky;
    job.ticket.type = type_of(task, picky);
    job.able = able(task, job.ticket.type, picky);
    place(job);
    task->sched_data = &job;
    lines_.put(job);
  }
  waiting_.store(lines_.waiting(), std::memory_order_seq_cst);
}

/// A worker that would run the job and asks no more; -1: none.
int Context::sleeper(const Job& job) const noexcept {
  int other = -1;
  for (std::size_t j = 0; j < crew_.size(); ++j) {
    if (!holds(job.able, resource_id(j))) continue;
    for (const int worker : crew_.place(resource_id(j)).workers) {
      if (!workers_[static_cast<std::size_t>(worker)].idle.load(std::memory_order_seq_cst)) continue;
      if (resource_id(j) == job.ticket.resource) return worker;
      other = worker;
    }
  }
  return other;
}

void Context::push(starpu_task* task) {
  int wake = -1;
  {
    const Locked lock(mutex_);
    task->sched_data = nullptr;
    const bool picky = settings_.types == TypesBy::kSymbol || choosy(task);
    std::optional<TaskType> i;
    if (crew_.size() > 0) {
      if (const auto known = table_.find(key_of(task, settings_.types)); known || able(task) != 0) {
        i = known ? known : std::optional(type_of(task, picky));
      }
    }
    const ResourceSet set = i ? able(task, *i, picky) : 0;
    if (set == 0) {
      park(task);
      starpu_push_task_end(task);
      return;
    }
    Job& job = jobs_.make();
    job.task = task;
    job.priority = task->priority;
    job.choosy = picky;
    job.able = set;
    job.ticket.type = *i;
    place(job);
    task->sched_data = &job;
    lines_.put(job);
    waiting_.store(lines_.waiting(), std::memory_order_seq_cst);
    changed();
    starpu_push_task_end(task);
    wake = sleeper(job);
  }
  if (wake >= 0) starpu_wake_worker_relax_light(wake);
}

void Context::push_bound(starpu_task* task, int worker) {
  if (task->cl == nullptr || worker < 0 || worker >= STARPU_NMAXWORKERS) return;
  const Locked lock(mutex_);
  task->sched_data = nullptr;
  const std::optional<ResourceId> j = crew_.resource_of(worker);
  if (!j) return;
  const bool picky = settings_.types == TypesBy::kSymbol || choosy(task);
  Job& job = jobs_.make();
  job.task = task;
  job.bound = true;
  job.able = set_of(*j);
  job.ticket = dispatcher_ ? Ticket{} : Ticket{};
  job.ticket = [&] {
    const TaskType i = type_of(task, picky);
    return dispatcher_->place_at(i, *j);
  }();
  ++bound_;
  task->sched_data = &job;
  lines_.put(job);
}

void Context::take_on(Worker& worker, Job& job, double now) {
  job.taken = now;
  job.next = nullptr;
  (worker.last == nullptr ? worker.first : worker.last->next) = &job;
  worker.last = &job;
}

starpu_task* Context::pop() {
  const int id = starpu_worker_get_id();
  if (id < 0 || id >= STARPU_NMAXWORKERS) return nullptr;
  Worker& me = workers_[static_cast<std::size_t>(id)];
  if (!me.here.load(std::memory_order_acquire)) return nullptr;
  // Said before looking, so that who pushes after the look knows whom to wake.
  if (!me.idle.load(std::memory_order_relaxed)) me.idle.store(true, std::memory_order_seq_cst);
  const bool left_over = me.first != nullptr && starpu_worker_get_type(id) == STARPU_CPU_WORKER;
  if (!left_over) {
    if (waiting_.load(std::memory_order_seq_cst) == 0) return nullptr;
    const bool nothing_new =
        me.asked.load(std::memory_order_relaxed) == changes_.load(std::memory_order_seq_cst);
    const double again = me.ask_again.load(std::memory_order_relaxed);
    if (nothing_new && (again == kNever || seconds(Clock::now()) < again)) return nullptr;
  }

  const Locked lock(mutex_);
  if (!me.here.load(std::memory_order_relaxed) || !dispatcher_) return nullptr;
  const Clock::time_point now = Clock::now();
  // A CPU worker that asks has ended what it had; others may run some at once.
  close_left_over(me, nullptr, starpu_worker_get_type(id) == STARPU_CPU_WORKER ? 0 : kPipeline, now);
  const std::uint64_t version = changes_.load(std::memory_order_seq_cst);
  Job* const job = lines_.take(me.resource, seconds(now), *dispatcher_, [id](const Job& waiting) {
    return implementation(waiting.task, id).has_value();
  });
  waiting_.store(lines_.waiting(), std::memory_order_seq_cst);
  if (job == nullptr) {
    me.asked.store(version, std::memory_order_relaxed);
    me.ask_again.store(lines_.idle_until(me.resource).value_or(kNever), std::memory_order_relaxed);
    return nullptr;
  }
  const std::optional<unsigned> which = implementation(job->task, id);
  if (!which) {  // alike they are not
    job->choosy = true;
    lines_.put_back(*job);
    waiting_.store(lines_.waiting(), std::memory_order_seq_cst);
    return nullptr;
  }
  starpu_task_set_implementation(job->task, *which);
  me.idle.store(false, std::memory_order_relaxed);
  take_on(me, *job, seconds(now));
  return job->task;
}

void Context::begin(starpu_task* task) {
  auto* const job = static_cast<Job*>(task->sched_data);
  if (job == nullptr || !job->bound) return;
  const int id = starpu_worker_get_id();
  if (id < 0 || id >= STARPU_NMAXWORKERS) return;
  const Locked lock(mutex_);
  take_on(workers_[static_cast<std::size_t>(id)], *job, seconds(Clock::now()));
}

void Context::end(starpu_task* task) {
  auto* const job = static_cast<Job*>(task->sched_data);
  const int id = starpu_worker_get_id();
  if (job == nullptr || id < 0 || id >= STARPU_NMAXWORKERS) return;
  task->sched_data = nullptr;
  Worker& me = workers_[static_cast<std::size_t>(id)];
  const Locked lock(mutex_);
  if (job->task != task) return;
  const Clock::time_point now = Clock::now();
  bool mine = false;
  for (const Job* taken = me.first; taken != nullptr && !mine; taken = taken->next) mine = taken == job;
  if (!mine) return close(*job, std::nullopt, now);
  close_left_over(me, job, 0, now);
  me.first = job->next;
  if (me.first == nullptr) me.last = nullptr;
  // The time for which it had the worker to itself: transfers that nothing else hid count, too.
  const double busy = seconds(now) - std::max(job->taken, me.free_since);
  me.free_since = seconds(now);
  close(*job, busy, now);
}

void Context::close(Job& job, std::optional<double> busy, Clock::time_point now) {
  lines_.end(job, busy);
  dispatcher_->complete(job.ticket, busy.value_or(std::numeric_limits<double>::quiet_NaN()), true, now);
  jobs_.release(job);
  changed();
}

/// Closes jobs of a worker that StarPU has not reported the end of (it does not for internal ones, such as
/// those of reductions): all before `until`, or all but the latest `keep`.
void Context::close_left_over(Worker& worker, const Job* until, std::size_t keep, Clock::time_point now) {
  std::size_t left = 0;
  for (const Job* job = worker.first; job != until; job = job->next) ++left;
  if (until != nullptr) keep = 0;
  for (; left > keep; --left) {
    Job& job = *worker.first;
    worker.first = job.next;
    if (worker.first == nullptr) worker.last = nullptr;
    close(job, std::nullopt, now);
    ++closed_;
  }
}

// ---- planning

bool Context::look() {
  const Clock::time_point begin = Clock::now();
  std::vector<Count> peaks;
  bool idle = false;
  {
    const std::lock_guard lock(mutex_);
    if (!dispatcher_) return false;
    const std::uint64_t changes = changes_.load(std::memory_order_relaxed);
    idle = looked_.exchange(changes, std::memory_order_relaxed) == changes;
    peaks = lines_.take_peaks();
  }
  if (idle && peaks_.size() == kPeaks) return false;
  peaks_.push_back(peaks);
  if (peaks_.size() > kPeaks) peaks_.erase(peaks_.begin());
  std::vector<Count> counts(peaks.size(), 0);
  bool any = false;
  for (const std::vector<Count>& earlier : peaks_) {
    for (std::size_t i = 0; i < earlier.size(); ++i) counts[i] = std::max(counts[i], earlier[i]);
  }
  const System& planned = dispatcher_->plan()->system;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    any |= counts[i] > 0;
    if (i < planned.type_count() && !moved(planned.count(task_type(i)), counts[i])) {
      counts[i] = planned.count(task_type(i));
    }
  }
  bool renewed = false;
  try {
    if (any) dispatcher_->set_counts(counts);
    renewed = solve_(*dispatcher_);
  } catch (const std::exception& error) {
    ++failed_solves_;
    if (!std::exchange(said_failure_, true)) {
      say("context " + std::to_string(id_) + ": no new plan, the former one stays: " + error.what());
    }
  }
  if (renewed) {
    const std::shared_ptr<const Plan> plan = dispatcher_->plan();
    ++solves_;
    if (std::string_view(plan->note).starts_with("the plan could not be renewed")) ++failed_solves_;
    const std::lock_guard lock(mutex_);
    lines_.follow(*plan, *dispatcher_);
    changed();
  }
  if (waiting_.load(std::memory_order_seq_cst) > 0) wake_sleepers();
  planning_seconds_ += std::chrono::duration<double>(Clock::now() - begin).count();
  return !idle;
}

/// For drivers that block: who slept may have something to do now.
void Context::wake_sleepers() {
  std::vector<int> sleeping;
  {
    const std::lock_guard lock(mutex_);
    for (const Crew::Place& place : crew_.places()) {
      for (const int worker : place.workers) {
        if (workers_[static_cast<std::size_t>(worker)].idle.load(std::memory_order_seq_cst)) {
          sleeping.push_back(worker);
        }
      }
    }
  }
  for (const int worker : sleeping) starpu_wake_worker_relax_light(worker);
}

Report Context::report(Clock::time_point now) const {
  Report all;
  all.policy = "allot-" + policy_;
  all.context = id_;
  for (const Type& type : types_) all.types.push_back(type.name);
  for (const Crew::Place& place : crew_.places()) {
    all.resources.push_back(place.name);
    all.workers.push_back(static_cast<Count>(place.workers.size()));
  }
  if (dispatcher_) {
    all.plan = dispatcher_->plan();
    all.seen = dispatcher_->statistics(now);
    for (std::size_t i = 0; i < types_.size(); ++i) {
      for (std::size_t j = 0; j < crew_.size(); ++j) {
        all.rates.push_back(dispatcher_->estimate(task_type(i), resource_id(j)));
      }
    }
    if (policy_ != "map") all.shares = shares_of(settings_, all.types);
  }
  all.solves = solves_;
  all.failed_solves = failed_solves_;
  all.planning_seconds = planning_seconds_;
  all.moved = lines_.moved();
  all.greedy = greedy_;
  all.bound = bound_;
  all.closed = closed_;
  all.parked = parked_ever_;
  return all;
}

}  // namespace allot::starpu
