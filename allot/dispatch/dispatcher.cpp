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

/// How often a decision is taken again because another thread was quicker.
constexpr int kRetries = 16;

/// A counter that is read, changed by the policy on a copy, and put back if nobody else has changed it.
bool put_back(std::vector<std::atomic<std::uint32_t>>& memory, const std::uint32_t* before,
              const std::uint32_t* after) noexcept {
  for (std::size_t at = 0; at < memory.size(); ++at) {
    if (before[at] == after[at]) continue;
    std::uint32_t expected = before[at];
    if (!memory[at].compare_exchange_strong(expected, after[at], std::memory_order_relaxed)) return false;
  }
  return true;
}

}  // namespace

/// The part of the state that the calling thread writes to.
struct Dispatcher::State::Mine {
  explicit Mine(State& of) noexcept : Mine(of, detail::this_slot()) {}
  Mine(State& of, std::size_t at) noexcept : state(of), tally(of.counts.tallies().of(at)), slot(at) {
    if (tally != nullptr) return;  // no memory
    slot = detail::kOwnSlots;
    tally = of.counts.tallies().of(slot);
  }

  std::uint64_t add(std::atomic<std::uint64_t>& counter, std::uint64_t by) const noexcept {
    return detail::add_to(counter, by, slot);
  }
  /// Where a trial of the type goes, if one was asked for.
  ResourceId take_trial(TaskType i) const noexcept {
    const ResourceId trial = state.counts.take_trial(i);
    if (trial == kNowhere) return trial;
    state.counts.places.add(i, trial);
    add(tally->explored, 1);
    return trial;
  }
  Ticket placed(TaskType i, ResourceId j, bool explores, Clock::time_point now) const noexcept {
    const std::uint64_t start = state.since_made(now);
    add(tally->open_starts, start);
    add(tally->placed, 1);
    return {i, j, explores, start};
  }
  void leave(const Ticket& ticket) const noexcept {
    if (state.policy.looks_at == Looks::kOwnCounts && ticket.tasks == 1) {
      state.counts.places.leave(ticket.type, ticket.resource, slot);
    } else {
      state.counts.places.remove(ticket.type, ticket.resource, ticket.tasks);
    }
    add(tally->open_starts, -(ticket.tasks * ticket.start_ns));
  }

  State& state;
  Tally* tally;
  std::size_t slot;
};

/// Room for what a decision looks at, left uninitialised: most of it is not needed.
struct Dispatcher::State::Scratch {
  Count* counts;
  Count* totals;
  double* work;
  std::uint32_t* before;  ///< the policy's memory
  std::uint32_t* after;
};

std::optional<Ticket> Dispatcher::place(TaskType i, Clock::time_point now) noexcept {
  State& state = *state_;
  if (index(i) >= state.counts.types.load(std::memory_order_acquire)) return std::nullopt;
  const State::Mine mine(state);
  if (const ResourceId trial = mine.take_trial(i); trial != kNowhere) return mine.placed(i, trial, true, now);
  const ResourceId j = state.choose(i, mine);
  if (j == kNowhere) return std::nullopt;
  return mine.placed(i, j, false, now);
}

std::optional<Ticket> Dispatcher::place_trial(TaskType i, Clock::time_point now) noexcept {
  State& state = *state_;
  if (index(i) >= state.counts.types.load(std::memory_order_acquire)) return std::nullopt;
  const State::Mine mine(state);
  const ResourceId trial = mine.take_trial(i);
  if (trial == kNowhere) return std::nullopt;
  return mine.placed(i, trial, true, now);
}

Ticket Dispatcher::place_at(TaskType i, ResourceId j, Clock::time_point now) noexcept {
  state_->counts.places.add(i, j);
  return State::Mine(*state_).placed(i, j, false, now);
}

void Dispatcher::complete(const Ticket& ticket, double busy_seconds, bool ok,
                          Clock::time_point now) noexcept {
  State& state = *state_;
  const State::Mine mine(state);
  const std::uint64_t end = state.since_made(now);
  const std::uint64_t tasks = ticket.tasks;
  mine.leave(ticket);
  mine.add(mine.tally->responses, tasks * (end - ticket.start_ns));
  if (ok) {
    mine.add(mine.tally->completions(ticket.type, ticket.resource), tasks);
  } else {
    state.counts.failures(ticket.type, ticket.resource).fetch_add(tasks, std::memory_order_relaxed);
  }
  if (state.counts.lost(ticket.resource).load(std::memory_order_relaxed)) return;
  if (!(busy_seconds >= 0 && busy_seconds <= std::numeric_limits<double>::max())) return;
  const double seconds = busy_seconds / static_cast<double>(tasks);
  const detail::Sample sample{ticket.type, ticket.resource, seconds, end, ok, ticket.explores};
  if (!mine.tally->samples.put(sample, detail::is_own(mine.slot))) mine.add(mine.tally->unseen, 1);
}

void Dispatcher::resize(Ticket& ticket, std::uint32_t tasks) noexcept {
  const State::Mine mine(*state_);
  const Count more = static_cast<Count>(tasks) - static_cast<Count>(ticket.tasks);
  state_->counts.places.add(ticket.type, ticket.resource, more);
  mine.add(mine.tally->open_starts, static_cast<std::uint64_t>(more) * ticket.start_ns);
  mine.add(mine.tally->placed, static_cast<std::uint64_t>(more));
  ticket.tasks = tasks;
}

Ticket Dispatcher::move(const Ticket& ticket, ResourceId to) noexcept {
  state_->counts.places.remove(ticket.type, ticket.resource, ticket.tasks);
  state_->counts.places.add(ticket.type, to, ticket.tasks);
  return {ticket.type, to, ticket.explores && ticket.resource == to, ticket.start_ns, ticket.tasks};
}

void Dispatcher::cancel(const Ticket& ticket) noexcept {
  const State::Mine mine(*state_);
  mine.leave(ticket);
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

/// What the policy says. Nowhere if the pair was closed since the plan was made.
[[gnu::always_inline]] inline ResourceId Dispatcher::State::ask(TaskType i, const ActivePlan& plan,
                                                                const Situation& situation,
                                                                PolicyMemory memory,
                                                                const Mine& mine) noexcept {
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

/// Threads that decide at the same time do not overshoot a target together: see `Places`. `kLookFurther`
/// where the policy wants to see all counts.
[[gnu::always_inline]] inline ResourceId Dispatcher::State::choose_by_own_counts(TaskType i,
                                                                                 const ActivePlan& plan,
                                                                                 Count* tasks,
                                                                                 const Mine& mine) noexcept {
  const Situation situation{&plan.plan->system, {tasks, plan.types * plan.resources}, {}, {}};
  return counts.places.take(i, {tasks + index(i) * plan.resources, plan.resources}, mine.slot,
                            [&] { return ask(i, plan, situation, {}, mine); });
}

[[gnu::always_inline]] inline ResourceId Dispatcher::State::choose(TaskType i, const Mine& mine) noexcept {
  const Published<ActivePlan>::Reader plan(active, mine.slot);
  // A type that came later than the plan, or that could go nowhere then.
  if (index(i) >= plan->types || plan->plan->system.resources_for(i).empty()) return shortest_open(i);
  ResourceId chosen = kLookFurther;
  if (plan->is_small) {
    std::array<Count, kOnStack> tasks;
    if (policy.looks_at == Looks::kOwnCounts) chosen = choose_by_own_counts(i, *plan, tasks.data(), mine);
    if (chosen == kLookFurther) {
      std::array<Count, kOnStack / 4> totals;
      std::array<double, kOnStack / 4> work;
      std::array<std::uint32_t, kOnStack / 4> memory;
      chosen = choose(
          i, *plan,
          {tasks.data(), totals.data(), work.data(), memory.data(), memory.data() + plan->memory.size()},
          mine);
    }
  } else {
    chosen = choose_in_large(i, *plan, mine);
  }
  return chosen != kNowhere ? chosen : shortest_open(i);
}

[[gnu::noinline]] ResourceId Dispatcher::State::choose_in_large(TaskType i, ActivePlan& plan,
                                                                const Mine& mine) noexcept {
  thread_local std::vector<Count> tasks;
  thread_local std::vector<Count> totals;
  thread_local std::vector<double> work;
  thread_local std::vector<std::uint32_t> memory;
  tasks.resize(std::max(tasks.size(), plan.types * plan.resources));
  if (policy.looks_at == Looks::kOwnCounts) {
    const ResourceId chosen = choose_by_own_counts(i, plan, tasks.data(), mine);
    if (chosen != kLookFurther) return chosen;
  }
  totals.resize(std::max(totals.size(), plan.resources));
  work.resize(std::max(work.size(), plan.resources));
  memory.resize(std::max(memory.size(), 2 * plan.memory.size()));
  return choose(i, plan,
                {tasks.data(), totals.data(), work.data(), memory.data(), memory.data() + plan.memory.size()},
                mine);
}

/// Looks, asks the policy, and takes the place if nobody has taken the policy's turn meanwhile, or changed
/// the count that it saw. After some tries the place is taken as it is.
[[gnu::noinline]] ResourceId Dispatcher::State::choose(TaskType i, ActivePlan& plan, const Scratch& scratch,
                                                       const Mine& mine) noexcept {
  const std::size_t remembered = plan.memory.size();
  Situation situation{&plan.plan->system,
                      {scratch.counts, plan.types * plan.resources},
                      {scratch.totals, plan.resources},
                      {scratch.work, plan.shows_work ? plan.resources : 0}};
  for (int attempt = 0;; ++attempt) {
    if (policy.looks_at != Looks::kNothing) look(plan, scratch);
    for (std::size_t at = 0; at < remembered; ++at) {
      scratch.before[at] = scratch.after[at] = plan.memory[at].load(std::memory_order_relaxed);
    }
    const ResourceId j = ask(i, plan, situation, {scratch.after, remembered}, mine);
    const bool last = attempt == kRetries;
    if (!put_back(plan.memory, scratch.before, scratch.after) && !last) continue;
    if (j == kNowhere) return j;
    if (policy.looks_at == Looks::kAll && remembered == 0 && !last) {
      if (!counts.places.add_to(i, j, situation.count(i, j))) continue;
    } else {
      counts.places.add(i, j);
    }
    return j;
  }
}

/// Collects the counts that the policy looks at.
void Dispatcher::State::look(const ActivePlan& plan, const Scratch& scratch) noexcept {
  const std::size_t resources = plan.resources;
  Count* to = scratch.counts;
  Count* const totals = scratch.totals;
  std::fill_n(totals, resources, Count{0});
  if (policy.looks_at == Looks::kTotals) {
    for (const TaskType l : IdRange<TaskType>(plan.types)) {
      const std::atomic<Count>* row = &counts.places.cell(l, resource_id(0));
      for (Count* total = totals; total < totals + resources; ++total, ++row)
        *total += row->load(std::memory_order_relaxed);
    }
    return;
  }
  const bool some_are_held = policy.looks_at == Looks::kOwnCounts;
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

/// Where no plan says: the fewest tasks per server, among all that are open to the type.
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
  if (best != kNowhere) counts.places.add(i, best);
  return best;
}

}  // namespace allot
