#include "allot/dispatch/dispatcher.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "allot/base/random.hpp"
#include "allot/dispatch/detail/dispatcher_state.hpp"

namespace allot {
namespace {

using detail::Access;
using detail::ActivePlan;
using detail::kOnStack;
using detail::Published;
using detail::Tally;

/// How often a decision is taken again because another thread was quicker.
constexpr int kRetries = 16;

/// A counter that is read, changed by the policy on a copy, and put back if nobody else has changed it.
bool put_back(std::vector<std::atomic<std::uint32_t>>& memory, std::span<const std::uint32_t> before,
              std::span<const std::uint32_t> after) noexcept {
  for (std::size_t at = 0; at < memory.size(); ++at) {
    if (before[at] == after[at]) continue;
    std::uint32_t expected = before[at];
    if (!memory[at].compare_exchange_strong(expected, after[at], std::memory_order_relaxed)) return false;
  }
  return true;
}

/// Whether a trial of the ticket's type was asked for: then the ticket is for it.
bool take_trial(detail::SharedCounts& counts, Tally& tally, Ticket& ticket) noexcept {
  const std::optional<ResourceId> trial = counts.take_trial(ticket.type);
  if (!trial) return false;
  ticket.resource = *trial;
  ticket.explores = true;
  counts.count(ticket.type, *trial).fetch_add(1, std::memory_order_relaxed);
  tally.explored.fetch_add(1, std::memory_order_relaxed);
  return true;
}

}  // namespace

/// Room for what a decision looks at: counts, totals and work for each resource, and the policy's memory.
struct Dispatcher::State::Scratch {
  std::span<Count> counts;
  std::span<Count> totals;
  std::span<double> work;
  std::span<std::uint32_t> memory;
};

std::optional<Ticket> Dispatcher::place(TaskType i, Clock::time_point now) noexcept {
  State& state = *state_;
  if (index(i) >= state.counts.types.load(std::memory_order_acquire)) return std::nullopt;
  Tally& tally = state.counts.tally();
  Ticket ticket{i, {}, false, state.since_made(now)};
  if (!take_trial(state.counts, tally, ticket)) {
    const std::optional<ResourceId> chosen = state.choose(i, tally);
    if (!chosen) return std::nullopt;
    ticket.resource = *chosen;
  }
  tally.starts.fetch_add(ticket.start_ns, std::memory_order_relaxed);
  tally.placed.fetch_add(1, std::memory_order_relaxed);
  return ticket;
}

std::optional<Ticket> Dispatcher::place_trial(TaskType i, Clock::time_point now) noexcept {
  State& state = *state_;
  if (index(i) >= state.counts.types.load(std::memory_order_acquire)) return std::nullopt;
  Tally& tally = state.counts.tally();
  Ticket ticket{i, {}, false, state.since_made(now)};
  if (!take_trial(state.counts, tally, ticket)) return std::nullopt;
  tally.starts.fetch_add(ticket.start_ns, std::memory_order_relaxed);
  tally.placed.fetch_add(1, std::memory_order_relaxed);
  return ticket;
}

Ticket Dispatcher::place_at(TaskType i, ResourceId j, Clock::time_point now) noexcept {
  State& state = *state_;
  Tally& tally = state.counts.tally();
  const Ticket ticket{i, j, false, state.since_made(now)};
  state.counts.count(i, j).fetch_add(1, std::memory_order_relaxed);
  tally.starts.fetch_add(ticket.start_ns, std::memory_order_relaxed);
  tally.placed.fetch_add(1, std::memory_order_relaxed);
  return ticket;
}

void Dispatcher::complete(const Ticket& ticket, double busy_seconds, bool ok,
                          Clock::time_point now) noexcept {
  State& state = *state_;
  Tally& tally = state.counts.tally();
  const std::uint64_t end = state.since_made(now);
  const std::uint64_t tasks = ticket.tasks;
  state.counts.count(ticket.type, ticket.resource).fetch_sub(ticket.tasks, std::memory_order_relaxed);
  auto& ended = ok ? state.counts.completions(ticket.type, ticket.resource)
                   : state.counts.failures(ticket.type, ticket.resource);
  ended.fetch_add(tasks, std::memory_order_relaxed);
  tally.ended_starts.fetch_add(tasks * ticket.start_ns, std::memory_order_relaxed);
  tally.ends.fetch_add(tasks * end, std::memory_order_relaxed);
  tally.ended.fetch_add(tasks, std::memory_order_relaxed);
  if (state.counts.lost(ticket.resource).load(std::memory_order_relaxed)) return;
  if (!(busy_seconds >= 0) || !std::isfinite(busy_seconds)) return;
  const double seconds = busy_seconds / static_cast<double>(tasks);
  if (!tally.samples.put({ticket.type, ticket.resource, seconds, end, ok, ticket.explores})) {
    tally.unseen.fetch_add(1, std::memory_order_relaxed);
  }
}

void Dispatcher::resize(Ticket& ticket, std::uint32_t tasks) noexcept {
  const Count more = static_cast<Count>(tasks) - static_cast<Count>(ticket.tasks);
  Tally& tally = state_->counts.tally();
  state_->counts.count(ticket.type, ticket.resource).fetch_add(more, std::memory_order_relaxed);
  tally.starts.fetch_add(static_cast<std::uint64_t>(more) * ticket.start_ns, std::memory_order_relaxed);
  tally.placed.fetch_add(static_cast<std::uint64_t>(more), std::memory_order_relaxed);
  ticket.tasks = tasks;
}

Ticket Dispatcher::move(const Ticket& ticket, ResourceId to) noexcept {
  state_->counts.count(ticket.type, ticket.resource).fetch_sub(ticket.tasks, std::memory_order_relaxed);
  state_->counts.count(ticket.type, to).fetch_add(ticket.tasks, std::memory_order_relaxed);
  return {ticket.type, to, ticket.explores && ticket.resource == to, ticket.start_ns, ticket.tasks};
}

void Dispatcher::cancel(const Ticket& ticket) noexcept {
  Tally& tally = state_->counts.tally();
  state_->counts.count(ticket.type, ticket.resource).fetch_sub(ticket.tasks, std::memory_order_relaxed);
  tally.starts.fetch_sub(ticket.tasks * ticket.start_ns, std::memory_order_relaxed);
  tally.placed.fetch_sub(ticket.tasks, std::memory_order_relaxed);
  if (ticket.explores) tally.explored.fetch_sub(1, std::memory_order_relaxed);
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

std::optional<ResourceId> Dispatcher::State::choose(TaskType i, Tally& tally) noexcept {
  const Published<ActivePlan>::Reader plan(active);
  const System& system = plan->plan->system;
  // A type that came later than the plan, or that could go nowhere then.
  if (index(i) >= system.type_count() || system.resources_for(i).empty()) return shortest_open(i);

  const std::size_t types = system.type_count();
  const std::size_t resources = system.resource_count();
  const std::size_t pairs = types * resources;
  const std::size_t memory = 2 * plan->memory.size();
  if (plan->is_small) {
    // Left uninitialised: most of it is not needed.
    std::array<Count, kOnStack> tasks;
    std::array<Count, kOnStack / 4> totals;
    std::array<double, kOnStack / 4> work;
    std::array<std::uint32_t, kOnStack / 4> remembered;
    return choose(i, *plan,
                  {std::span(tasks).first(pairs), std::span(totals).first(resources),
                   std::span(work).first(resources), std::span(remembered).first(memory)},
                  tally);
  }
  thread_local std::vector<Count> tasks;
  thread_local std::vector<Count> totals;
  thread_local std::vector<double> work;
  thread_local std::vector<std::uint32_t> remembered;
  tasks.resize(std::max(tasks.size(), pairs));
  totals.resize(std::max(totals.size(), resources));
  work.resize(std::max(work.size(), resources));
  remembered.resize(std::max(remembered.size(), memory));
  return choose(i, *plan,
                {std::span(tasks).first(pairs), std::span(totals).first(resources),
                 std::span(work).first(resources), std::span(remembered).first(memory)},
                tally);
}

/// Looks, asks the policy, and takes the place if nobody has changed it meanwhile, so that threads that
/// decide at the same time do not overshoot a target together. After some tries the place is taken as it is.
std::optional<ResourceId> Dispatcher::State::choose(TaskType i, ActivePlan& plan, const Scratch& scratch,
                                                    Tally& tally) noexcept {
  const System& system = plan.plan->system;
  const std::size_t resources = system.resource_count();
  const std::size_t remembered = plan.memory.size();
  const std::span<std::uint32_t> before = scratch.memory.first(remembered);
  const std::span<std::uint32_t> after = scratch.memory.subspan(remembered);
  RandomStream random(options.seed, detail::this_stripe(),
                      tally.draws.fetch_add(1, std::memory_order_relaxed));

  for (int attempt = 0;; ++attempt) {
    std::fill(scratch.totals.begin(), scratch.totals.end(), Count{0});
    Count* to = scratch.counts.data();
    for (const TaskType l : system.types()) {
      const std::atomic<Count>* const row = &counts.count(l, resource_id(0));
      for (std::size_t j = 0; j < resources; ++j) {
        const Count n = row[j].load(std::memory_order_relaxed);
        *to++ = n;
        scratch.totals[j] += n;
      }
    }
    Situation situation{&system, scratch.counts, scratch.totals, {}};
    if (plan.shows_work) {
      for (const ResourceId j : system.resource_ids()) {
        double seconds = 0;
        for (const TaskType l : system.types()) {
          seconds += static_cast<double>(situation.count(l, j)) * system.seconds_per_task(l, j);
        }
        scratch.work[index(j)] = seconds;
      }
      situation.remaining = scratch.work;
    }
    for (std::size_t at = 0; at < remembered; ++at) {
      before[at] = after[at] = plan.memory[at].load(std::memory_order_relaxed);
    }
    const ResourceId j = plan.policy->place(i, situation, after, random);
    const bool last = attempt == kRetries;
    if (!put_back(plan.memory, before, after) && !last) continue;
    if (counts.access(i, j) != Access::kOpen) return shortest_open(i);  // closed since the plan was made
    Count expected = situation.count(i, j);
    if (last) {
      counts.count(i, j).fetch_add(1, std::memory_order_relaxed);
      return j;
    }
    if (counts.count(i, j).compare_exchange_strong(expected, expected + 1, std::memory_order_relaxed))
      return j;
    if (remembered > 0) {  // its turn is taken
      counts.count(i, j).fetch_add(1, std::memory_order_relaxed);
      return j;
    }
  }
}

/// Where no plan says: the fewest tasks per server, among all that are open to the type.
std::optional<ResourceId> Dispatcher::State::shortest_open(TaskType i) noexcept {
  const std::size_t types = counts.types.load(std::memory_order_acquire);
  const std::size_t resources = counts.resources.load(std::memory_order_acquire);
  std::optional<ResourceId> best;
  double least = 0;
  for (const ResourceId j : IdRange<ResourceId>(resources)) {
    if (counts.access(i, j) != Access::kOpen) continue;
    Count tasks = 0;
    for (const TaskType l : IdRange<TaskType>(types)) {
      tasks += counts.count(l, j).load(std::memory_order_relaxed);
    }
    const double per_server =
        static_cast<double>(tasks) / static_cast<double>(counts.servers(j).load(std::memory_order_relaxed));
    if (best && per_server >= least) continue;
    best = j;
    least = per_server;
  }
  if (best) counts.count(i, *best).fetch_add(1, std::memory_order_relaxed);
  return best;
}

}  // namespace allot
