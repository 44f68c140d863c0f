#include "allot/analyze/detail/network.hpp"

#include <algorithm>
#include <cmath>

#include "allot/base/error.hpp"

namespace allot::detail {

std::vector<TaskClassInChain> constant_classes(const System& system) {
  std::vector<TaskClassInChain> classes;
  for (const TaskType i : system.types()) {
    classes.push_back(
        {i, static_cast<std::uint32_t>(index(i)), system.count(i), system.count(i), system.worth(i)});
  }
  return classes;
}

std::vector<TaskClassInChain> changing_classes(const System& system, std::span<const ThreadGroup> threads) {
  std::vector<TaskClassInChain> classes;
  for (std::size_t group = 0; group < threads.size(); ++group) {
    const ThreadGroup& thread = threads[group];
    const std::string field = "threads[" + std::to_string(group) + "].sequence";
    if (thread.sequence.empty()) throw InvalidModel(field, "must name at least one task type");
    const auto first = static_cast<std::uint32_t>(classes.size());
    for (std::size_t step = 0; step < thread.sequence.size(); ++step) {
      const TaskType i = thread.sequence[step];
      if (index(i) >= system.type_count() || system.resources_for(i).empty())
        throw InvalidModel(field, "has a task type that can run nowhere");
      const auto next = first + static_cast<std::uint32_t>((step + 1) % thread.sequence.size());
      const bool ends_round = step + 1 == thread.sequence.size();
      classes.push_back(
          {i, next, step == 0 ? thread.count : 0, thread.count, ends_round ? thread.worth : 0.0});
    }
  }
  return classes;
}

Network::Network(const System& system, std::vector<TaskClassInChain> classes, ServiceWeights weights)
    : system_(&system),
      classes_(std::move(classes)),
      weights_(std::move(weights)),
      resources_(system.resource_count()),
      ordered_(resources_, false),
      classes_at_(resources_) {
  if (system.has_needs()) {
    require_even_sharing(system);
    if (!weights_.by_task.empty())
      throw InvalidModel("policy", "the exact chain supports time shares only if tasks need a single server");
    sharing_.emplace(system);
  }
  for (std::size_t j = 0; j < resources_; ++j) {
    for (std::uint32_t c = 0; c < classes_.size(); ++c) {
      if (classes_[c].most > 0 && rate_per_unit(c, j) > 0) classes_at_[j].push_back(c);
    }
    const Resource& resource = system.resource(resource_id(j));
    Count reach = 0;  // steps of one sequence share their threads, so this may be too high; then the order is
                      // kept needlessly
    for (const std::uint32_t c : classes_at_[j]) reach += classes_[c].most;
    ordered_[j] =
        resource.discipline == Discipline::kFcfs && classes_at_[j].size() > 1 && reach > resource.servers;
    if (ordered_[j] && !weights_.by_task.empty()) {
      throw InvalidModel("policy", "the exact chain supports time shares only under ps, and resource '" +
                                       resource.name + "' is fcfs with waiting tasks");
    }
  }
}

bool Network::has_order() const noexcept {
  return std::find(ordered_.begin(), ordered_.end(), true) != ordered_.end();
}

Count Network::population() const noexcept {
  Count all = 0;
  for (const TaskClassInChain& c : classes_) all += c.entering;
  return all;
}

double Network::count_states() const {
  // Each thread of a group is at one of the places of its steps: C(threads + places - 1, places - 1).
  double states = 1;
  std::vector<bool> seen(classes_.size(), false);
  for (std::uint32_t c = 0; c < classes_.size(); ++c) {
    if (seen[c]) continue;
    double places = 0;
    for (std::uint32_t step = c; !seen[step]; step = classes_[step].successor) {
      seen[step] = true;
      places += static_cast<double>(system_->resources_for(classes_[step].type).size());
    }
    const auto threads = static_cast<double>(classes_[c].most);
    if (threads == 0) continue;
    double ways = 1;
    for (double k = 1; k < places && std::isfinite(ways); ++k) ways = ways * (threads + k) / k;
    states *= std::round(ways);
  }
  return states;
}

Content Network::empty() const {
  Content content;
  content.by_class.assign(classes_.size() * resources_, 0);
  content.by_type.assign(system_->type_count() * resources_, 0);
  content.totals.assign(resources_, 0);
  content.served.assign(classes_.size() * resources_, 0);
  content.queues.assign(resources_, {});
  return content;
}

void Network::pack(const Content& content, std::span<const Word> memory, std::vector<Word>& words) const {
  words.clear();
  for (std::size_t j = 0; j < resources_; ++j) {
    const std::vector<Count>& counts = ordered_[j] ? content.served : content.by_class;
    for (const std::uint32_t c : classes_at_[j]) words.push_back(static_cast<Word>(counts[at(c, j)]));
    if (!ordered_[j]) continue;
    words.push_back(static_cast<Word>(content.queues[j].size()));
    words.insert(words.end(), content.queues[j].begin(), content.queues[j].end());
  }
  words.insert(words.end(), memory.begin(), memory.end());
}

std::span<const Word> Network::unpack(std::span<const Word> words, Content& content) const {
  std::fill(content.by_type.begin(), content.by_type.end(), 0);
  std::fill(content.totals.begin(), content.totals.end(), 0);
  std::fill(content.by_class.begin(), content.by_class.end(), 0);
  std::size_t next = 0;
  for (std::size_t j = 0; j < resources_; ++j) {
    content.queues[j].clear();
    for (const std::uint32_t c : classes_at_[j]) {
      const auto here = static_cast<Count>(words[next++]);
      content.served[at(c, j)] = here;
      count(content, c, j, here);
    }
    if (!ordered_[j]) continue;
    for (std::size_t waiting = words[next++]; waiting > 0; --waiting) {
      const Word c = words[next++];
      content.queues[j].push_back(c);
      count(content, c, j, 1);
    }
  }
  return words.subspan(next);
}

void Network::count(Content& content, std::uint32_t c, std::size_t j, Count change) const {
  content.by_class[at(c, j)] += change;
  content.by_type[index(classes_[c].type) * resources_ + j] += change;
  content.totals[j] += change;
}

void Network::add(Content& content, std::uint32_t c, std::size_t j) const {
  if (ordered_[j]) {
    if (content.totals[j] < system_->resource(resource_id(j)).servers) {
      ++content.served[at(c, j)];
    } else {
      content.queues[j].push_back(c);
    }
  }
  count(content, c, j, 1);
}

void Network::undo_add(Content& content, std::uint32_t c, std::size_t j) const {
  if (ordered_[j]) {
    if (content.queues[j].empty()) {
      --content.served[at(c, j)];
    } else {
      content.queues[j].pop_back();
    }
  }
  count(content, c, j, -1);
}

void Network::remove(Content& content, std::uint32_t c, std::size_t j) const {
  if (ordered_[j]) {
    --content.served[at(c, j)];
    if (!content.queues[j].empty()) {
      ++content.served[at(content.queues[j].front(), j)];
      content.queues[j].erase(content.queues[j].begin());
    }
  }
  count(content, c, j, -1);
}

std::span<const double> Network::speeds(const Content& content) const {
  speeds_.assign(content.by_type.begin(), content.by_type.end());
  for (std::size_t pair = 0; pair < speeds_.size(); ++pair) {
    if (system_->resource(resource_id(pair % resources_)).discipline == Discipline::kFcfs) speeds_[pair] = 0;
  }
  const std::span<const double> served = (*sharing_)(speeds_).at_full_speed;
  for (std::size_t pair = 0; pair < speeds_.size(); ++pair) {
    if (speeds_[pair] > 0) speeds_[pair] = served[pair] / speeds_[pair];
  }
  return speeds_;
}

void Network::completions(const Content& content, std::vector<Completion>& out) const {
  out.clear();
  const std::span<const double> speeds_here = sharing_ ? speeds(content) : std::span<const double>();
  for (std::size_t j = 0; j < resources_; ++j) {
    if (content.totals[j] == 0) continue;
    if (!weights_.by_task.empty()) {
      weighted_completions(content, j, out);
      continue;
    }
    const Count busy = std::min(content.totals[j], system_->resource(resource_id(j)).servers);
    const double unit =
        ordered_[j] ? 1.0 : static_cast<double>(busy) / static_cast<double>(content.totals[j]);
    const std::vector<Count>& working = ordered_[j] ? content.served : content.by_class;
    for (const std::uint32_t c : classes_at_[j]) {
      const Count n = working[at(c, j)];
      if (n == 0) continue;
      const bool is_filled =
          !speeds_here.empty() && system_->resource(resource_id(j)).discipline == Discipline::kPs;
      const double each = is_filled ? speeds_here[at(index(classes_[c].type), j)] : unit;
      out.push_back({c, resource_id(j), each * static_cast<double>(n) * rate_per_unit(c, j)});
    }
  }
}

/// Each task receives min(1, theta * weight) servers, with theta chosen so that they sum to the servers that
/// should work.
void Network::weighted_completions(const Content& content, std::size_t j,
                                   std::vector<Completion>& out) const {
  struct Share {
    std::uint32_t task_class;
    double weight;
    double tasks;
    double rest = 0;  ///< total weight of this share and all lighter ones
  };
  std::vector<Share> shares;
  for (const std::uint32_t c : classes_at_[j]) {
    const double weight = weights_.by_task[index(classes_[c].type) * resources_ + j];
    const auto tasks = static_cast<double>(content.by_class[at(c, j)]);
    if (tasks > 0 && weight > 0) shares.push_back({c, weight, tasks});
  }
  // The heaviest tasks are the first to have a whole server.
  std::sort(shares.begin(), shares.end(), [](const Share& a, const Share& b) { return a.weight > b.weight; });
  double rest = 0;
  for (auto share = shares.rbegin(); share != shares.rend(); ++share) {
    share->rest = rest += share->weight * share->tasks;
  }
  auto units = static_cast<double>(std::min(content.totals[j], system_->resource(resource_id(j)).servers));
  if (!weights_.units.empty()) units = std::min(units, weights_.units[j]);
  const std::size_t first = out.size();
  for (const Share& share : shares) {
    const double each = std::min(1.0, units * share.weight / share.rest);
    units -= each * share.tasks;
    if (!(each > 0)) continue;
    out.push_back(
        {share.task_class, resource_id(j), each * share.tasks * rate_per_unit(share.task_class, j)});
  }
  std::sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
            [](const Completion& a, const Completion& b) { return a.task_class < b.task_class; });
}

}  // namespace allot::detail
