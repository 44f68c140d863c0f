#include "integrations/starpu/context.hpp"

#include <starpu_scheduler.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "integrations/starpu/locked.hpp"
#include "integrations/starpu/message.hpp"

namespace allot::starpu {
namespace {

/// How many contexts of this number the process has had, including this one.
unsigned times_made(unsigned context) {
  static std::array<std::atomic<unsigned>, STARPU_NMAX_SCHED_CTXS + 1> times{};
  return ++times[std::min<std::size_t>(context, STARPU_NMAX_SCHED_CTXS)];
}

/// Combined workers, which run one task on several workers, have higher numbers: they are not used here.
bool basic(int worker) {
  return worker >= 0 && worker < static_cast<int>(starpu_worker_get_count()) && worker < STARPU_NMAXWORKERS;
}

}  // namespace

Context::Context(unsigned id, std::string_view policy, Settings settings, Solve solve)
    : id_(id),
      policy_(*find_policy(policy)),
      settings_(std::move(settings)),
      wants_shares_(policy_.needs_shares || (policy_.binds_late && names_shares(settings_))),
      solve_(solve ? std::move(solve) : [](Dispatcher& dispatcher) { return dispatcher.solve(); }),
      placement_(policy_.holds_time_shares ? Lines::WhenAhead::kIdle : Lines::WhenAhead::kServe) {
  planner_ = std::make_unique<Planner>([this] { return look(); });
}

Context::~Context() = default;

void Context::finish() {
  planner_->stop();
  if (dispatcher_) dispatcher_->learn();  // from the last tasks, for the statistics
  const Clock::time_point now = Clock::now();
  const Locked lock(mutex_);
  const Count left_open = placement_.in_flight() - placement_.waiting();
  for (Worker& worker : workers_) close_left_over(worker, nullptr, 0, now);
  std::uint64_t unfinished = parked_.size();
  for (HeldTask* held : placement_.waiting_tasks()) {
    placement_.take_out(*held);
    give_back_ticket(*held);
    ++unfinished;
  }
  if (unfinished > 0) {
    say("context " + std::to_string(id_) + " ends with " + std::to_string(unfinished) +
        " tasks that never ran");
  }
  if (settings_.statistics.empty()) return;
  Report all = report(now);
  all.unfinished = unfinished;
  all.left_open = left_open;
  const std::string path = report_path(
      settings_.statistics, [](const char* name) { return std::getenv(name); }, getpid(), id_,
      times_made(id_));
  if (!write_file(path, report_json(all))) say("ALLOT_STATS: cannot write " + path);
}

Count Context::open() const {
  const Locked lock(mutex_);
  return placement_.in_flight();
}

void Context::changed() noexcept {
  waiting_.store(placement_.waiting(), std::memory_order_seq_cst);
  changes_.fetch_add(1, std::memory_order_seq_cst);
  if (dozing_.load(std::memory_order_relaxed) && dozing_.exchange(false)) planner_->wake();
}

// ---- workers

void Context::add_workers(const int* workers, unsigned count) {
  const Locked lock(mutex_);
  for (unsigned k = 0; k < count; ++k) {
    if (!basic(workers[k])) continue;
    workers_[static_cast<std::size_t>(workers[k])].taken_for_gone = false;
    starpu_sched_ctx_worker_shares_tasks_lists(workers[k], static_cast<int>(id_));
  }
  add({workers, count});
}

void Context::add(std::span<const int> workers) {
  for (const int worker : workers) add_worker(worker);
  ++workers_version_;
  for (starpu_task* task : std::exchange(parked_, {})) {
    if (HeldTask* const held = admit(task)) placement_.put(*held);
  }
  changed();
  planner_->wake();
}

void Context::add_worker(int id) {
  if (!basic(id)) return;
  const std::size_t known = groups_.size();
  const std::optional<ResourceId> j = groups_.add(id);
  if (!j) {
    say("worker " + std::to_string(id) + " stays unused: more than " + std::to_string(kMostResources) +
        " resources");
    return;
  }
  const WorkerGroups::Group& group = groups_.group(*j);
  const auto servers = static_cast<Count>(group.workers.size());
  placement_.resize(types_.size(), groups_.size());
  placement_.set_servers(*j, servers);
  if (dispatcher_ && groups_.size() > known) {
    dispatcher_->add_resource(resource(group), std::vector<RatePrior>(types_.size()));
  } else if (dispatcher_) {
    dispatcher_->set_servers(*j, servers);
    if (servers == 1) dispatcher_->restore(*j);
  }
  Worker& worker = workers_[static_cast<std::size_t>(id)];
  worker.missed = false;
  worker.resource = *j;
  worker.here.store(true, std::memory_order_release);
}

Resource Context::resource(const WorkerGroups::Group& group) const {
  return {.name = group.name,
          .servers = std::max<Count>(1, static_cast<Count>(group.workers.size())),
          .min_depth = group.kind == STARPU_CPU_WORKER ? 1 : settings_.depth};
}

void Context::remove_workers(const int* workers, unsigned count) {
  const Locked lock(mutex_);
  for (unsigned k = 0; k < count; ++k) {
    if (!basic(workers[k])) continue;
    workers_[static_cast<std::size_t>(workers[k])].taken_for_gone = false;
  }
  remove({workers, count});
}

void Context::remove(std::span<const int> workers) {
  for (const int id : workers) {
    const std::optional<ResourceId> j = groups_.remove(id);
    if (!j) continue;
    Worker& worker = workers_[static_cast<std::size_t>(id)];
    worker.here.store(false, std::memory_order_release);
    worker.idle.store(false, std::memory_order_relaxed);
    const auto servers = static_cast<Count>(groups_.group(*j).workers.size());
    placement_.set_servers(*j, servers);
    if (!dispatcher_) continue;
    if (servers == 0) {
      dispatcher_->drain(*j);
    } else {
      dispatcher_->set_servers(*j, servers);
    }
  }
  ++workers_version_;
  // Waiting tasks may have lost the only workers that can run them.
  for (HeldTask* held : placement_.waiting_tasks()) {
    const ResourceSet left = able(held->task, held->ticket.type, held->choosy);
    if (held->unbound ? left != 0 : holds(left, held->ticket.resource)) {
      placement_.set_able(*held, left);
      continue;
    }
    placement_.take_out(*held);
    if (left == 0) {
      park(held->task);
      forget(*held);
      continue;
    }
    held->able = left;
    give_back_ticket(*held);
    place(*held);
    placement_.put(*held);
  }
  changed();
  planner_->wake();
}

}  // namespace allot::starpu
