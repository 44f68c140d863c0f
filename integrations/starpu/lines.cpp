#include "integrations/starpu/lines.hpp"

#include <limits>

namespace allot::starpu {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

void Lines::resize(std::size_t types, std::size_t resources) {
  types = std::max(types, types_);
  resources = std::max(resources, columns_.size());
  cells_.grow(types, resources);
  while (columns_.size() < resources) columns_.push_back({ServiceOrder(types, when_ahead_)});
  types_ = types;
  rows_.resize(types);
  offer_.resize(types);
  candidates_.resize(types);
  weigh();
}

/// Newcomers get a part of each resource before a plan says which: if none ever comes, they go on.
void Lines::weigh() {
  std::vector<double> weights(types_);
  for (const ResourceId j : resource_ids()) {
    for (const TaskType i : type_ids()) weights[index(i)] = cell(i, j).weight.value_or(1.0);
    columns_[index(j)].order.set_weights(weights);
  }
}

void Lines::count(const Job& job, Count change) {
  const auto [i, j] = std::pair(job.ticket.type, job.ticket.resource);
  cell(i, j).in_flight += change;
  Row& row = rows_[index(i)];
  row.in_flight += change;
  row.peak = std::max(row.peak, row.in_flight);
  columns_[index(j)].tasks += change;
}

void Lines::count_waiting(const Job& job, Count change) {
  rows_[index(job.ticket.type)].waiting += change;
  waiting_ += change;
  for (const ResourceId j : resource_ids()) {
    if (holds(job.able, j)) cell(job.ticket.type, j).could_run += change;
  }
}

void Lines::put(Job& job) {
  if (job.arrival == 0) job.arrival = ++arrivals_;
  job.placed = job.ticket.resource;
  Cell& at = cell(job.ticket.type, job.ticket.resource);
  ++at.placed;
  if (!job.bound) {
    at.queue.put(job);
    count_waiting(job, 1);
  }
  count(job, 1);
}

void Lines::take_out(Job& job) {
  cell(job.ticket.type, job.ticket.resource).queue.remove(job);
  --cell(job.ticket.type, job.placed).placed;
  count_waiting(job, -1);
  count(job, -1);
}

void Lines::set_able(Job& job, ResourceSet able) {
  count_waiting(job, -1);
  job.able = able;
  count_waiting(job, 1);
}

void Lines::put_back(Job& job) {
  columns_[index(job.ticket.resource)].order.given_back(job.ticket.type);
  cell(job.ticket.type, job.ticket.resource).queue.put(job);
  count_waiting(job, 1);
}

void Lines::move(Job& job, ResourceId to, Dispatcher& dispatcher) {
  Cell& from = cell(job.ticket.type, job.ticket.resource);
  from.queue.remove(job);
  --from.in_flight;
  --columns_[index(job.ticket.resource)].tasks;
  job.ticket = dispatcher.move(job.ticket, to);
  Cell& now = cell(job.ticket.type, to);
  now.queue.put(job);
  ++now.in_flight;
  ++columns_[index(to)].tasks;
  ++moved_;
}

// ---- the next one

/// Seconds until all that is there has ended, by the mean times. Where nobody works nothing ends.
double Lines::backlog(ResourceId j) const {
  if (columns_[index(j)].servers == 0) return kNever;
  double seconds = 0;
  for (const TaskType i : type_ids()) {
    seconds += static_cast<double>(cell(i, j).in_flight) * expected_seconds(i, j);
  }
  return seconds / columns_[index(j)].servers;
}

/// A quarter more or fewer is as planned, and so is one task, which may just have ended.
bool Lines::fits(const Row& row, Count more) noexcept {
  const Count tasks = row.in_flight + more;
  const Count slack = std::max<Count>(1, row.planned / 4);
  return row.has_target && tasks >= row.planned - slack && tasks <= row.planned + slack;
}

/// Whether a resource that has never run the type gets one more to find out.
bool Lines::may_try(TaskType i, ResourceId j) const noexcept {
  return static_cast<double>(cell(i, j).in_flight) < columns_[index(j)].servers;
}

/// Whether resource j may take a task of type i that waits at another one.
bool Lines::may_take(TaskType i, ResourceId j, ResourceId from) const {
  const Cell& here = cell(i, j);
  if (fits(rows_[index(i)], 0)) return here.in_flight < here.target;
  return here.seconds == 0 ? may_try(i, j) : here.seconds < backlog(from);
}

/// Whether a task of type i that waits at resource j, where the plan has no place for it, had better wait for
/// resource k, where it has. What j leaves to k for this reason k may take: else nobody would.
bool Lines::better_at(ResourceId k, TaskType i, ResourceId j) const {
  const Cell& here = cell(i, j);
  const Cell& there = cell(i, k);
  if (!rows_[index(i)].has_target || here.target > 0 || here.seconds == 0) return false;
  return there.target > 0 && backlog(k) + there.seconds < here.seconds;
}

bool Lines::better_elsewhere(const Job& job, ResourceId j) const {
  for (const ResourceId k : resource_ids()) {
    if (holds(job.able, k) && better_at(k, job.ticket.type, j)) return true;
  }
  return false;
}

/// The job of type i that resource j would run now, or null.
Job* Lines::candidate(TaskType i, ResourceId j, const Accepts& accepts) const {
  if (cell(i, j).could_run == 0) return nullptr;  // however many wait for others
  const auto accepted = [&](const Job& job) { return !job.choosy || accepts(job); };
  if (Job* const own = cell(i, j).queue.first(accepted)) {
    if (own->ticket.explores || !better_elsewhere(*own, j)) return own;
  }
  Job* best = nullptr;
  Count most = 0;
  for (const ResourceId k : resource_ids()) {
    const Cell& there = cell(i, k);
    if (k == j || there.queue.empty()) continue;
    const Count surplus = there.in_flight - there.target;
    if (best != nullptr && surplus <= most) continue;
    if (!may_take(i, j, k) && !better_at(j, i, k)) continue;
    Job* const job = there.queue.first([&](const Job& waiting) {
      return holds(waiting.able, j) && !waiting.ticket.explores && accepted(waiting);
    });
    if (job == nullptr) continue;
    best = job;
    most = surplus;
  }
  return best;
}

Job* Lines::take(ResourceId j, double now, Dispatcher& dispatcher, const Accepts& accepts) {
  Column& column = columns_[index(j)];
  column.idle_until.reset();
  bool any = false;
  // Shares are of the work that was planned for. Where there is other work, as in a task graph, a worker that
  // waits for it keeps nobody's share.
  bool as_planned = true;
  for (const TaskType i : type_ids()) {
    as_planned &= rows_[index(i)].in_flight == 0 ? rows_[index(i)].planned == 0 : fits(rows_[index(i)], 0);
    Job* const job = candidate(i, j, accepts);
    candidates_[index(i)] = job;
    offer_[index(i)] = job == nullptr ? 0 : 1;
    any |= job != nullptr;
  }
  if (!any) return nullptr;
  const std::optional<TaskType> next = column.order.next(offer_, now, as_planned);
  if (!next) {
    column.idle_until = column.order.idle_until();
    return nullptr;
  }
  Job& job = *candidates_[index(*next)];
  if (job.ticket.resource != j) move(job, j, dispatcher);
  cell(*next, j).queue.remove(job);
  count_waiting(job, -1);
  return &job;
}

void Lines::end(const Job& job, std::optional<double> seconds) {
  count(job, -1);
  const auto [i, j] = std::pair(job.ticket.type, job.ticket.resource);
  columns_[index(j)].order.served(i, seconds.value_or(expected_seconds(i, j)));
}

Count Lines::in_flight() const noexcept {
  Count all = 0;
  for (const Column& column : columns_) all += column.tasks;
  return all;
}

std::vector<Job*> Lines::waiting_jobs() const {
  std::vector<Job*> jobs;
  for (const Cell& cell : cells_.values()) {
    cell.queue.for_each([&](Job& job) { jobs.push_back(&job); });
  }
  std::sort(jobs.begin(), jobs.end(), [](const Job* a, const Job* b) { return a->arrival < b->arrival; });
  return jobs;
}

// ---- plans

std::vector<Count> Lines::take_peaks() {
  std::vector<Count> peaks;
  for (Row& row : rows_) {
    peaks.push_back(row.peak);
    row.peak = row.in_flight;
  }
  return peaks;
}

void Lines::follow(const Plan& plan, Dispatcher& dispatcher) {
  // The plan may be older than the latest types and resources, whose cells keep what they have.
  const System& system = plan.system;
  for (const TaskType i : system.types()) {
    Row& row = rows_[index(i)];
    row.has_target = plan.target.has_value() && system.count(i) > 0;
    row.planned = system.count(i);
    row.fastest = 0;
    for (const ResourceId j : system.resource_ids()) {
      Cell& now = cell(i, j);
      now.target = plan.target ? (*plan.target)(i, j) : 0;
      now.seconds = system.seconds_per_task(i, j);
      if (now.seconds > 0 && (row.fastest == 0 || now.seconds < row.fastest)) row.fastest = now.seconds;
      if (!row.has_target) {
        now.weight = when_ahead_ == ServiceOrder::WhenAhead::kServe ? 1.0 : 0.0;
      } else if (plan.time_shares.empty()) {
        now.weight = static_cast<double>(now.target);
      } else {
        now.weight = PairSpan(plan.time_shares, system.resource_count())(i, j);
      }
    }
  }
  weigh();
  for (const TaskType i : system.types()) {
    const Row& row = rows_[index(i)];
    if (row.waiting == 0 || !fits(row, 0)) continue;
    for (const ResourceId to : system.resource_ids()) {
      for (const ResourceId from : system.resource_ids()) {
        Cell& there = cell(i, from);
        while (!there.queue.empty() && there.in_flight > there.target &&
               cell(i, to).in_flight < cell(i, to).target) {
          Job& job = there.queue.last();
          if (!holds(job.able, to) || job.choosy || job.ticket.explores) break;
          move(job, to, dispatcher);
        }
      }
    }
  }
}

ResourceId Lines::soonest(TaskType i, ResourceSet able, std::span<const double> transfers) const {
  ResourceId best{};
  double least = kNever;
  bool within = false;  // what may be tried there, or known times
  for (const ResourceId j : resource_ids()) {
    const Column& column = columns_[index(j)];
    if (!holds(able, j) || column.servers == 0) continue;
    const bool fine = cell(i, j).seconds > 0 || may_try(i, j);
    if (within && !fine) continue;
    double end = backlog(j) + expected_seconds(i, j) + (transfers.empty() ? 0.0 : transfers[index(j)]);
    // Tasks of which no time is known are weighed by their number alone, below every time that is known.
    end += 1e-9 * static_cast<double>(column.tasks) / column.servers;
    if (fine == within && end >= least) continue;
    best = j;
    least = end;
    within = fine;
  }
  return best;
}

}  // namespace allot::starpu
