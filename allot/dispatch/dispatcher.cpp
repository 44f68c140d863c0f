#include "allot/dispatch/dispatcher.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "allot/base/random.hpp"
#include "allot/dispatch/detail/dispatcher_state.hpp"

namespace allot {
namespace {

using detail::Access;
using detail::ActivePlan;
using detail::kNowhere;
using detail::kOnStack;
using detail::Published;
using detail::Tally;

/// At most this many times, a decision is repeated because another thread was quicker.
constexpr int kRetries = 16;
/// What other slots have counted is read again when it is older than this, or see `Tally::kMostUnread`. They
/// write there all the time, so each read costs as much as half a decision.
constexpr std::uint64_t kFreshNs = 4000;

/// Writes back numbers that the policy has changed on a copy, if no other thread has changed them meanwhile.
bool put_back(std::span<std::atomic<std::uint32_t>> memory, const std::uint32_t* before,
              const std::uint32_t* after) noexcept {
  for (std::size_t at = 0; at < memory.size(); ++at) {
    if (before[at] == after[at]) continue;
    std::uint32_t expected = before[at];
    if (!memory[at].compare_exchange_strong(expected, after[at], std::memory_order_relaxed)) return false;
  }
  return true;
}

}  // namespace

/// Buffers for a decision, left uninitialised: most of them are not needed.
struct Dispatcher::State::Scratch {
  Count* counts;
  Count* totals;
  double* work;
  std::uint32_t* before;  ///< the policy's memory
  std::uint32_t* after;
};

/// The part of the state that the calling thread writes to. Passed in registers.
struct Dispatcher::State::Mine {
  explicit Mine(State& state) noexcept : Mine(state, detail::this_slot()) {}
  Mine(State& state, std::size_t at) noexcept : tally(state.counts.tallies().of(at)), slot(at) {
    if (tally != nullptr) return;  // out of memory
    slot = detail::kOwnSlots;
    tally = state.counts.tallies().of(slot);
  }

  [[gnu::always_inline]] std::uint64_t add(std::atomic<std::uint64_t>& counter,
                                           std::uint64_t by) const noexcept {
    return detail::add_to(counter, by, slot);
  }

  Tally* tally;
  std::size_t slot;
};

// ---- what is counted

/// Where a trial of the type goes, if the planner wants one.
inline ResourceId Dispatcher::State::take_trial(TaskType i, Mine mine) noexcept {
  if (!counts.has_trial(i)) return kNowhere;
  const ResourceId trial = counts.take_trial(i);
  if (trial == kNowhere) return trial;
  count_place(i, trial);
  mine.add(mine.tally->explored, 1);
  return trial;
}

/// Fills in the ticket in place.
[[gnu::always_inline]] inline void Dispatcher::State::placed(Ticket& ticket, TaskType i, ResourceId j,
                                                             bool explores, std::uint64_t now_ns,
                                                             Mine mine) noexcept {
  ticket.type = i;
  ticket.resource = j;
  ticket.explores = explores;
  ticket.start_ns = now_ns;
  mine.add(mine.tally->open_starts, ticket.start_ns);
  mine.add(mine.tally->placed, 1);
  if (!by_slot) return;
  if (looks == Looks::kWork) ticket.expected_ns = expected_ns(i, j, mine);
  count_by_slot(ticket, 1, mine);
}

[[gnu::always_inline]] inline void Dispatcher::State::leave(const Ticket& ticket, Mine mine) noexcept {
  if (by_slot) {
    count_by_slot(ticket, -std::uint64_t{ticket.tasks}, mine);
  } else if (looks == Looks::kOwnCounts && ticket.tasks == 1) {
    counts.places.leave(ticket.type, ticket.resource, mine.slot);
  } else {
    counts.places.remove(ticket.type, ticket.resource, ticket.tasks);
  }
  mine.add(mine.tally->open_starts, -(ticket.tasks * ticket.start_ns));
}

/// Adds `more` tasks, modulo 2^64, so also to subtract.
inline void Dispatcher::State::count(const Ticket& ticket, std::uint64_t more, Mine mine) noexcept {
  if (by_slot) return count_by_slot(ticket, more, mine);
  counts.places.add(ticket.type, ticket.resource, static_cast<Count>(more));
}

[[gnu::always_inline]] inline void Dispatcher::State::count_by_slot(const Ticket& ticket, std::uint64_t more,
                                                                    Mine mine) noexcept {
  mine.add(mine.tally->pairs(ticket.type, ticket.resource).tasks, more);
  if (looks == Looks::kNothing) return;
  // The same whole number is added and subtracted, whatever the plans say meanwhile.
  if (looks == Looks::kWork) more *= static_cast<std::uint64_t>(ticket.expected_ns);
  mine.add(*mine.tally->loads(ticket.resource), more);
}

/// What a task of the pair adds to the work of the resource.
[[gnu::always_inline]] inline float Dispatcher::State::expected_ns(TaskType i, ResourceId j,
                                                                   Mine mine) noexcept {
  constexpr double kMost = 1e18;
  const Published<ActivePlan>::Reader plan(active, mine.slot);
  if (index(i) >= plan->types || index(j) >= plan->resources) return 0;
  return static_cast<float>(std::min(kMost, 1e9 * plan->plan->system.seconds_per_task(i, j)));
}

// ---- for every task

std::optional<Ticket> Dispatcher::place(TaskType i, Clock::time_point now) noexcept {
  State& state = *state_;
  std::optional<Ticket> ticket;
  if (index(i) >= state.counts.types.load(std::memory_order_acquire)) return ticket;
  const State::Mine mine(state);
  const std::uint64_t now_ns = state.since_made(now);
  ResourceId j = state.take_trial(i, mine);
  const bool explores = j != kNowhere;
  if (!explores) j = state.choose(i, now_ns, mine);
  if (j != kNowhere) state.placed(ticket.emplace(), i, j, explores, now_ns, mine);
  return ticket;
}

std::optional<Ticket> Dispatcher::place_trial(TaskType i, Clock::time_point now) noexcept {
  State& state = *state_;
  std::optional<Ticket> ticket;
  if (index(i) >= state.counts.types.load(std::memory_order_acquire)) return ticket;
  const State::Mine mine(state);
  const ResourceId trial = state.take_trial(i, mine);
  if (trial != kNowhere) state.placed(ticket.emplace(), i, trial, true, state.since_made(now), mine);
  return ticket;
}

Ticket Dispatcher::place_at(TaskType i, ResourceId j, Clock::time_point now) noexcept {
  Ticket ticket;
  state_->count_place(i, j);
  state_->placed(ticket, i, j, false, state_->since_made(now), State::Mine(*state_));
  return ticket;
}

void Dispatcher::complete(const Ticket& ticket, double busy_seconds, bool ok,
                          Clock::time_point now) noexcept {
  State& state = *state_;
  const State::Mine mine(state);
  const std::uint64_t end = state.since_made(now);
  const std::uint64_t tasks = ticket.tasks;
  state.leave(ticket, mine);
  mine.add(mine.tally->responses, tasks * (end - ticket.start_ns));
  if (ok) {
    mine.add(mine.tally->pairs(ticket.type, ticket.resource).completions, tasks);
  } else {
    state.counts.failures(ticket.type, ticket.resource).fetch_add(tasks, std::memory_order_relaxed);
  }
  if (state.counts.lost(ticket.resource).load(std::memory_order_relaxed)) return;
  if (!(busy_seconds >= 0 && busy_seconds <= std::numeric_limits<double>::max())) return;
  const double seconds = tasks == 1 ? busy_seconds : busy_seconds / static_cast<double>(tasks);
  const detail::Sample sample{ticket.type, ticket.resource, seconds, ticket.start_ns, end,
                              ok,          ticket.explores};
  if (!mine.tally->samples.put(sample, detail::is_own(mine.slot))) mine.add(mine.tally->unseen, 1);
}

void Dispatcher::resize(Ticket& ticket, std::uint32_t tasks) noexcept {
  const State::Mine mine(*state_);
  const std::uint64_t more = std::uint64_t{tasks} - ticket.tasks;
  state_->count(ticket, more, mine);
  mine.add(mine.tally->open_starts, more * ticket.start_ns);
  mine.add(mine.tally->placed, more);
  ticket.tasks = tasks;
}

Ticket Dispatcher::move(const Ticket& ticket, ResourceId to) noexcept {
  const State::Mine mine(*state_);
  Ticket moved = ticket;
  moved.resource = to;
  moved.explores = ticket.explores && ticket.resource == to;
  if (state_->looks == Looks::kWork) moved.expected_ns = state_->expected_ns(ticket.type, to, mine);
  state_->count(ticket, -std::uint64_t{ticket.tasks}, mine);
  state_->count(moved, ticket.tasks, mine);
  return moved;
}

void Dispatcher::cancel(const Ticket& ticket) noexcept {
  const State::Mine mine(*state_);
  state_->leave(ticket, mine);
  mine.add(mine.tally->placed, -std::uint64_t{ticket.tasks});
  if (ticket.explores) mine.add(mine.tally->explored, -std::uint64_t{1});
}

void Dispatcher::set_waiting(TaskType i, Count tasks) noexcept {
  if (index(i) < state_->counts.type_room())
    state_->counts.waiting(i).store(tasks, std::memory_order_relaxed);
}

bool Dispatcher::allows(TaskType i, ResourceId j) const noexcept {
  State& state = *state_;
  if (index(i) >= state.counts.types.load(std::memory_order_acquire)) return false;
  if (index(j) >= state.counts.resources.load(std::memory_order_acquire)) return false;
  return state.counts.access(i, j) == Access::kOpen;
}

// ---- the choice

/// The policy's answer; kNowhere if the pair has been closed since the plan was made.
[[gnu::always_inline]] inline ResourceId Dispatcher::State::ask(TaskType i, const ActivePlan& plan,
                                                                const Situation& situation,
                                                                PolicyMemory memory, Mine mine) noexcept {
  ResourceId j{};
  if (detail::is_own(mine.slot)) {
    j = plan.policy->place(i, situation, memory, mine.tally->random);
  } else {
    RandomStream random(options.seed, mine.slot, mine.add(mine.tally->draws, 1));
    j = plan.policy->place(i, situation, memory, random);
  }
  if (j == kLookFurther) return j;
  return counts.access(i, j) == Access::kOpen ? j : kNowhere;
}

/// Threads that decide at the same time do not overshoot a target together: see `Places`. `kLookFurther` if
/// the policy needs to see all counts.
[[gnu::always_inline]] inline ResourceId Dispatcher::State::choose_by_own_counts(TaskType i,
                                                                                 const ActivePlan& plan,
                                                                                 Count* tasks,
                                                                                 Mine mine) noexcept {
  Situation situation = nothing;
  situation.system = &plan.plan->system;
  situation.counts = {tasks, plan.types * plan.resources};
  return counts.places.take(
      i, {tasks + index(i) * plan.resources, plan.resources},
      mine.slot, [&]() __attribute__((always_inline)) { return ask(i, plan, situation, {}, mine); });
}

/// Adds what all other slots have counted.
[[gnu::noinline]] void Dispatcher::State::add_others(std::span<Count> loads, std::uint64_t now_ns,
                                                     Mine mine) noexcept {
  const auto add_present = [&](std::span<Count> to) {
    for (Tally& other : counts.tallies().others(mine.slot)) {
      const std::atomic<std::uint64_t>* const part = other.loads();
      for (std::size_t j = 0; j < to.size(); ++j)
        to[j] += static_cast<Count>(part[j].load(std::memory_order_relaxed));
    }
  };
  if (!detail::is_own(mine.slot)) return add_present(loads);
  Tally& tally = *mine.tally;
  if (now_ns - tally.others_read_ns >= kFreshNs || tally.decisions >= Tally::kMostUnread) {
    std::fill(tally.others.begin(), tally.others.end(), Count{0});
    add_present({tally.others.data(), loads.size()});
    tally.others_read_ns = now_ns;
    tally.decisions = 0;
  }
  ++tally.decisions;
  for (std::size_t j = 0; j < loads.size(); ++j) loads[j] += tally.others[j];
}

/// Decides by the counts of each resource in all slots.
[[gnu::always_inline]] inline ResourceId Dispatcher::State::choose_by_loads(TaskType i,
                                                                            const ActivePlan& plan,
                                                                            Count* loads, double* work,
                                                                            std::uint64_t now_ns,
                                                                            Mine mine) noexcept {
  const std::size_t resources = plan.resources;
  const std::atomic<std::uint64_t>* const own = mine.tally->loads();
#pragma GCC unroll 4
  for (std::size_t j = 0; j < resources; ++j)
    loads[j] = static_cast<Count>(own[j].load(std::memory_order_relaxed));
  if (!counts.tallies().is_alone(mine.slot)) add_others({loads, resources}, now_ns, mine);
  Situation situation = nothing;
  situation.system = &plan.plan->system;
  if (looks == Looks::kTotals) {
    situation.totals = {loads, resources};
  } else {
    for (std::size_t j = 0; j < resources; ++j) work[j] = 1e-9 * static_cast<double>(loads[j]);
    situation.remaining = {work, resources};
  }
  return ask(i, plan, situation, {}, mine);
}

[[gnu::always_inline]] inline ResourceId Dispatcher::State::choose(TaskType i, std::uint64_t now_ns,
                                                                   Mine mine) noexcept {
  const Published<ActivePlan>::Reader plan(active, mine.slot);
  // A type that is newer than the plan, or that could go nowhere then.
  if (index(i) >= plan->types || !plan->can_go[index(i)]) return shortest_open(i);
  ResourceId chosen = kLookFurther;
  if (plan->is_small) {
    std::array<Count, kOnStack> tasks;
    std::array<double, kOnStack / 4> work;
    if (looks == Looks::kOwnCounts) {
      chosen = choose_by_own_counts(i, *plan, tasks.data(), mine);
    } else if (looks == Looks::kTotals || looks == Looks::kWork) {
      chosen = choose_by_loads(i, *plan, tasks.data(), work.data(), now_ns, mine);
    }
    if (chosen == kLookFurther) {
      std::array<Count, kOnStack / 4> totals;
      std::array<std::uint32_t, kOnStack / 4> memory;
      chosen = choose(
          i, *plan,
          {tasks.data(), totals.data(), work.data(), memory.data(), memory.data() + plan->remembered}, mine);
    }
  } else {
    chosen = choose_in_large(i, *plan, now_ns, mine);
  }
  return chosen != kNowhere ? chosen : shortest_open(i);
}

[[gnu::noinline]] ResourceId Dispatcher::State::choose_in_large(TaskType i, ActivePlan& plan,
                                                                std::uint64_t now_ns, Mine mine) noexcept {
  thread_local std::vector<Count> tasks;
  thread_local std::vector<Count> totals;
  thread_local std::vector<double> work;
  thread_local std::vector<std::uint32_t> memory;
  tasks.resize(std::max(tasks.size(), plan.types * plan.resources));
  totals.resize(std::max(totals.size(), plan.resources));
  work.resize(std::max(work.size(), plan.resources));
  memory.resize(std::max(memory.size(), 2 * plan.remembered));
  ResourceId chosen = kLookFurther;
  if (looks == Looks::kOwnCounts) {
    chosen = choose_by_own_counts(i, plan, tasks.data(), mine);
  } else if (looks == Looks::kTotals || looks == Looks::kWork) {
    chosen = choose_by_loads(i, plan, totals.data(), work.data(), now_ns, mine);
  }
  if (chosen != kLookFurther) return chosen;
  return choose(i, plan,
                {tasks.data(), totals.data(), work.data(), memory.data(), memory.data() + plan.remembered},
                mine);
}

/// Collects the counts, asks the policy, and takes the place if no other thread has changed the policy's
/// memory or the count meanwhile. After some retries, takes the place anyway.
[[gnu::noinline]] ResourceId Dispatcher::State::choose(TaskType i, ActivePlan& plan, const Scratch& scratch,
                                                       Mine mine) noexcept {
  const std::size_t remembered = plan.remembered;
  const std::size_t first = policy.remembers_by_type ? index(i) : 0;
  const std::span used =
      std::span(plan.memory)
          .subspan(plan.memory_of(mine.slot) + first, policy.remembers_by_type ? 1 : remembered);
  Situation situation = nothing;
  situation.system = &plan.plan->system;
  situation.counts = {scratch.counts, plan.types * plan.resources};
  situation.totals = {scratch.totals, plan.resources};
  if (plan.shows_work) situation.remaining = {scratch.work, plan.resources};
  for (int attempt = 0;; ++attempt) {
    if (looks != Looks::kNothing) look(plan, scratch);
    for (std::size_t at = 0; at < used.size(); ++at) {
      scratch.before[first + at] = scratch.after[first + at] = used[at].load(std::memory_order_relaxed);
    }
    const ResourceId j = ask(i, plan, situation, {scratch.after, remembered}, mine);
    const bool last = attempt == kRetries;
    if (!put_back(used, scratch.before + first, scratch.after + first) && !last) continue;
    if (j == kNowhere || by_slot) return j;
    if (looks == Looks::kAll && remembered == 0 && !last) {
      if (!counts.places.add_to(i, j, situation.count(i, j))) continue;
    } else {
      counts.places.add(i, j);
    }
    return j;
  }
}

/// Collects the counts for a policy that looks at all of them.
void Dispatcher::State::look(const ActivePlan& plan, const Scratch& scratch) noexcept {
  const std::size_t resources = plan.resources;
  Count* to = scratch.counts;
  Count* const totals = scratch.totals;
  std::fill_n(totals, resources, Count{0});
  const bool some_are_held = looks == Looks::kOwnCounts;
  for (const TaskType l : IdRange<TaskType>(plan.types)) {
    for (const ResourceId j : IdRange<ResourceId>(resources)) {
      const auto& cell = counts.places.cell(l, j);
      *to = some_are_held ? counts.places.count(l, j) : cell.load(std::memory_order_relaxed);
      totals[index(j)] += *to++;
    }
  }
  if (!plan.shows_work) return;
  const System& system = plan.plan->system;
  const PairSpan tasks(std::span<const Count>(scratch.counts, plan.types * resources), resources);
  for (const ResourceId j : system.resource_ids()) {
    double seconds = 0;
    for (const TaskType l : system.types())
      seconds += static_cast<double>(tasks(l, j)) * system.seconds_per_task(l, j);
    scratch.work[index(j)] = seconds;
  }
}

/// Without a plan for the type: the fewest tasks per server among all resources that are open to it.
[[gnu::noinline]] ResourceId Dispatcher::State::shortest_open(TaskType i) noexcept {
  const std::size_t types = counts.types.load(std::memory_order_acquire);
  const std::size_t resources = counts.resources.load(std::memory_order_acquire);
  ResourceId best = kNowhere;
  double least = 0;
  for (const ResourceId j : IdRange<ResourceId>(resources)) {
    if (counts.access(i, j) != Access::kOpen) continue;
    Count tasks = 0;
    for (const TaskType l : IdRange<TaskType>(types)) {
      tasks += counts.count(l, j).load(std::memory_order_relaxed);
    }
    const double per_server =
        static_cast<double>(tasks) / static_cast<double>(counts.servers(j).load(std::memory_order_relaxed));
    if (best != kNowhere && per_server >= least) continue;
    best = j;
    least = per_server;
  }
  if (best != kNowhere) count_place(i, best);
  return best;
}

}  // namespace allot
