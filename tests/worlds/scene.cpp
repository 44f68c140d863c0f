#include "tests/worlds/scene.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "allot/base/random.hpp"
#include "allot/jobs/stages.hpp"

namespace allot::worlds {
namespace {

class Draw {
 public:
  explicit Draw(std::uint64_t seed, std::uint64_t stream = 0x5ce4e) : random_(seed, stream) {}

  bool chance(double p) { return random_.uniform() < p; }
  std::size_t below(std::size_t n) { return random_.below(n); }
  std::size_t from(std::size_t low, std::size_t high) { return low + below(high - low + 1); }
  double uniform(double low, double high) { return random_.uniform(low, high); }
  double log_uniform(double low, double high) { return low * std::pow(high / low, random_.uniform()); }
  template <typename T>
  T one_of(std::initializer_list<T> all) {
    return *(all.begin() + static_cast<std::ptrdiff_t>(below(all.size())));
  }

 private:
  RandomStream random_;
};

void draw_resources(Draw& draw, Scene& scene, double trouble) {
  const std::size_t count = draw.chance(0.2) ? 1 : draw.from(2, 4);
  for (std::size_t j = 0; j < count; ++j) {
    JobResource& resource = scene.job.resources.emplace_back();
    resource.name = "r" + std::to_string(j);
    resource.servers = static_cast<Count>(draw.chance(0.05) ? draw.from(5, 12) : draw.from(1, 4));
    resource.discipline = draw.chance(0.3) ? Discipline::kFcfs : Discipline::kPs;
    if (draw.chance(0.15)) resource.min_depth = static_cast<Count>(draw.from(2, 4));
    if (draw.chance(0.35)) resource.launch = {"launcher", std::to_string(j)};
    LaneManner& lane = scene.lanes.emplace_back();
    lane.opens_after = draw.log_uniform(0.001, draw.chance(0.2) ? 20 : 0.5);
    if (!draw.chance(trouble)) continue;
    switch (draw.below(5)) {
      case 0:
        lane.fails_to_open = static_cast<int>(draw.from(1, 12));
        break;
      case 1:
        lane.never_opens = !resource.launch.empty();
        break;
      case 2:
        lane.not_found = !resource.launch.empty();
        break;
      case 3:
        lane.lives_for = draw.log_uniform(0.1, 100);
        break;
      default:
        lane.deaf = !resource.launch.empty() && draw.chance(0.5);
        break;
    }
  }
}

Manner draw_manner(Draw& draw, double trouble) {
  if (!draw.chance(trouble)) return Manner::kWell;
  return draw.one_of({Manner::kFails, Manner::kFails, Manner::kFailsAtFirst, Manner::kFailsAtFirst,
                      Manner::kFailsAtFirst, Manner::kSlow, Manner::kHangs, Manner::kStubborn,
                      Manner::kUnkillable, Manner::kKillsWorker, Manner::kClaimsKilled, Manner::kTooLarge});
}

void draw_types(Draw& draw, Scene& scene, double trouble) {
  Job& job = scene.job;
  const std::size_t resources = job.resources.size();
  const std::size_t types = draw.from(1, 4);
  const bool priorities = draw.chance(0.3);
  const TemplateScope scope{{""}, true, false};
  std::vector<std::string> problems;
  const CommandTemplate command = CommandTemplate::from_words({"work", "{}"}, scope, problems);
  for (std::size_t i = 0; i < types; ++i) {
    JobTask& task = job.tasks.emplace_back();
    task.name = "t" + std::to_string(i);
    const std::size_t rows = draw.chance(0.03) ? draw.from(60, 150) : draw.chance(0.3) ? 1 : draw.from(1, 16);
    task.inputs = inputs_by_counting(rows);
    task.commands.resize(resources);
    task.rates.resize(resources);
    const double base = draw.log_uniform(0.002, 8);
    bool any = false;
    for (std::size_t j = 0; j < resources; ++j) {
      const bool possible = draw.chance(0.75) || (!any && j + 1 == resources);
      any |= possible;
      const double seconds = base * draw.log_uniform(0.1, 10);
      scene.seconds.push_back(possible ? seconds : 0);
      scene.not_found.push_back(possible && draw.chance(0.1 * trouble));
      scene.fails.push_back(draw.chance(0.15 * trouble) ? draw.one_of({0.1, 0.5, 1.0, 1.0}) : 0.0);
      if (!possible) continue;
      task.commands[j] = command;
      if (!draw.chance(0.4)) continue;
      // What is known beforehand may be far from true.
      task.rates[j] = 1 / (seconds * (draw.chance(0.15) ? draw.log_uniform(1e-3, 1e3) : 1.0));
    }
    if (draw.chance(0.35)) task.timeout_s = base * draw.log_uniform(1, 100);
    if (draw.chance(0.4)) task.retries = static_cast<int>(draw.below(4));
    if (draw.chance(0.2)) task.count = static_cast<Count>(draw.from(1, 4));
    if (priorities) task.priority = draw.chance(0.1) ? 0.0 : draw.uniform(0.05, 1);
    if (draw.chance(0.1)) task.floor = draw.log_uniform(0.01, 10);
    for (std::size_t row = 0; row < rows; ++row) scene.manners.push_back(draw_manner(draw, 0.25 * trouble));
  }
  if (priorities) job.tasks.front().priority = 0.5;  // not all of them zero
}

/// Limits the outputs of a type, unless some tasks would wait for each other for ever.
void draw_limit(Draw& draw, Job& job, JobTask& task) {
  task.at_most = static_cast<Count>(draw.chance(0.3) ? 1 : draw.from(1, 8));
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    for (const TaskType before : job.tasks[i].after) {
      if (!way_of_waiting(job, before, task_type(i), true).empty()) task.at_most.reset();
    }
  }
}

/// Some worlds are pipelines. Drawn apart, so that the others are what they were.
void draw_stages(Scene& scene, double trouble) {
  Draw draw(scene.seed, 0x57a6e);
  Job& job = scene.job;
  if (job.tasks.size() < 2 || !draw.chance(0.5)) return;
  std::vector<std::vector<Manner>> manners;
  std::size_t at = 0;
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    JobTask& task = job.tasks[i];
    const std::size_t rows = task.inputs.rows();
    std::vector<Manner>& own =
        manners.emplace_back(scene.manners.begin() + static_cast<std::ptrdiff_t>(at),
                             scene.manners.begin() + static_cast<std::ptrdiff_t>(at + rows));
    at += rows;
    std::vector<std::string> problems;
    task.output = Template::parse("t" + std::to_string(i) + "/{#}", {{""}, false, false}, problems);
    if (i == 0) continue;
    if (draw.chance(0.65)) {
      task.from = task_type(draw.below(i));
      const JobTask& before = job.tasks[index(*task.from)];
      task.inputs = {columns_from(before.inputs.columns), {}};
      own.resize(manners[index(*task.from)].size(), Manner::kWell);
      for (Manner& manner : own) manner = draw_manner(draw, 0.15 * trouble);
    }
    if (draw.chance(0.2)) task.after = {task_type(draw.below(i))};
  }
  const std::vector<std::vector<TaskType>> takers = allot::takers(job);
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    if (takers[i].empty()) continue;
    job.tasks[i].keep = draw.chance(0.5);
    if (draw.chance(0.4)) draw_limit(draw, job, job.tasks[i]);
    // Nobody has the command.
    const bool is_missing = draw.chance(0.05 * trouble);
    for (std::size_t j = 0; is_missing && j < job.resources.size(); ++j)
      scene.not_found[i * job.resources.size() + j] = job.tasks[i].commands[j].has_value();
  }
  for (std::size_t n = draw.chance(0.4 * trouble) ? draw.from(1, 8) : 0; n > 0; --n)
    scene.kills.push_back(draw.log_uniform(0.02, 20));
  fill_stages(job);
  scene.manners.clear();
  for (const std::vector<Manner>& own : manners)
    scene.manners.insert(scene.manners.end(), own.begin(), own.end());
}

void draw_options(Draw& draw, Scene& scene) {
  RunOptions& options = scene.options;
  const bool priorities = scene.job.tasks.front().priority.has_value();
  options.objective = draw.chance(0.6)                 ? RunObjective::kFinish
                      : priorities && draw.chance(0.7) ? RunObjective::kPriority
                                                       : RunObjective::kThroughput;
  if (draw.chance(0.15)) {
    options.policy = draw.one_of<std::string>({"jsq", "best-fit", "random", "round-robin", "fastest-free",
                                               "min-completion-time", "load-balance", "power-of-two", "map"});
  }
  options.shares = draw.chance(0.5) ? ShareReading::kExact : ShareReading::kFloor;
  options.retries = static_cast<int>(draw.below(4));
  options.requeues = static_cast<int>(draw.below(5));
  options.tick_s = draw.one_of({0.25, 1.0, 5.0});
  options.run_id = "world";
  // Looking on costs more than all the rest, and changes nothing.
  scene.watched = draw.chance(0.05);
  if (!scene.watched) options.note_s = 1e6;
  options.seed = scene.seed;
  if (draw.chance(0.1)) {
    options.halt.emplace();
    options.halt->now = draw.chance(0.5);
    options.halt->fail = draw.from(1, 5);
  }
  scene.plan_delay = draw.chance(0.4) ? 0 : draw.log_uniform(0.005, 2);
  scene.commit_delay = draw.log_uniform(0.001, draw.chance(0.1) ? 5 : 0.1);
}

/// Whether nobody but a person would end it.
bool may_never_end(const Scene& scene) {
  for (const LaneManner& lane : scene.lanes) {
    if (lane.never_opens || lane.deaf) return true;
  }
  std::size_t at = 0;
  for (const JobTask& task : scene.job.tasks) {
    for (std::size_t row = 0; row < task.inputs.rows(); ++row, ++at) {
      const Manner manner = scene.manners[at];
      const bool waits =
          manner == Manner::kHangs || manner == Manner::kStubborn || manner == Manner::kUnkillable;
      if (waits && !task.timeout_s) return true;
      // Every server may come to be taken by one that cannot be killed.
      if (manner == Manner::kUnkillable) return true;
    }
  }
  return false;
}

void draw_events(Draw& draw, Scene& scene, double trouble) {
  const double scale = draw.log_uniform(0.05, 60);
  if (draw.chance(0.25 * trouble)) {
    for (std::size_t n = draw.from(1, 3); n > 0; --n) {
      scene.freezes.push_back({draw.uniform(0, scale), draw.log_uniform(0.5, 300), draw.chance(0.6)});
    }
  }
  if (draw.chance(0.2 * trouble)) {
    for (std::size_t n = draw.from(1, 4); n > 0; --n) scene.kills.push_back(draw.uniform(0, scale));
  }
  if (draw.chance(0.06 * trouble)) scene.disk_full = draw.uniform(0, scale);
  if (draw.chance(0.15 * trouble)) {
    scene.signals.push_back({draw.uniform(0, scale), Signal::Kind::kPause, draw.log_uniform(0.1, 100)});
  }
  if (draw.chance(0.2 * trouble)) {
    const auto kind = draw.one_of({Signal::Kind::kDrain, Signal::Kind::kTerminate, Signal::Kind::kKill});
    scene.signals.push_back({draw.uniform(0, scale), kind});
  }
  if (may_never_end(scene)) scene.signals.push_back({draw.uniform(100, 500), Signal::Kind::kTerminate});
  if (draw.chance(0.05)) scene.signals.push_back({draw.uniform(0, scale), Signal::Kind::kTimeIsUp});
  const auto sooner = [](const auto& a, const auto& b) { return a.at < b.at; };
  std::sort(scene.signals.begin(), scene.signals.end(), sooner);
  std::sort(scene.freezes.begin(), scene.freezes.end(), sooner);
}

/// What tasks take besides a slot, all kinds together, and extreme values.
void draw_needs(Draw& draw, Scene& scene) {
  Job& job = scene.job;
  const std::size_t resources = job.resources.size();
  const bool extreme = draw.chance(0.15);
  for (std::size_t n = draw.below(4); n > 0; --n) {
    JobCapacity& capacity = job.capacities.emplace_back();
    capacity.name = "c" + std::to_string(n);
    capacity.amount = extreme ? draw.log_uniform(1e-6, 1e6) : draw.uniform(0.5, 8);
    capacity.shared = draw.chance(0.25);
    if (draw.chance(0.3)) capacity.per = JobCapacity::Per::kMachine;
  }
  for (JobTask& task : job.tasks) {
    if (draw.chance(0.3)) task.worth = draw.chance(0.1) ? 0 : draw.log_uniform(0.1, 10);
    for (std::size_t j = 0; j < resources; ++j) {
      if (!task.commands[j]) continue;
      const auto need = [&](CapacityId r, double amount) {
        task.needs.push_back({resource_id(j), r, amount});
      };
      for (std::size_t k = 0; k < resources; ++k) {
        if (!draw.chance(k == j ? 0.5 : 0.15)) continue;
        const auto servers = static_cast<std::size_t>(job.resources[k].servers);
        const bool in_parts = job.resources[k].launch.empty() && draw.chance(0.2);
        need(servers_of(resource_id(k)), in_parts ? draw.uniform(0.1, 1) * static_cast<double>(servers)
                                                  : static_cast<double>(draw.from(1, servers)));
      }
      for (std::size_t c = 0; c < job.capacities.size(); ++c) {
        if (draw.chance(0.4)) continue;
        const double amount = job.capacities[c].amount;
        need(capacity_id(resources + c), draw.chance(0.3) ? amount / static_cast<double>(draw.from(1, 4))
                                                          : amount * draw.uniform(0.05, 1));
      }
    }
  }
}

}  // namespace

Scene draw_scene(std::uint64_t seed) {
  Draw draw(seed);
  Scene scene;
  scene.seed = seed;
  scene.job.path = "world.toml";
  scene.job.folder = ".";
  // One in ten is a world in which nothing goes wrong; in others more or less does.
  const double trouble = draw.chance(0.1) ? 0 : draw.uniform(0.1, 1);
  draw_resources(draw, scene, 0.3 * trouble);
  draw_types(draw, scene, trouble);
  draw_stages(scene, trouble);
  draw_options(draw, scene);
  draw_events(draw, scene, trouble);
  // Drawn last, and apart: what is drawn before is what it was without needs.
  Draw needs(seed, 0x4eed5);
  if (needs.chance(0.1)) scene.options.policy = "planned";
  if (needs.chance(0.3)) draw_needs(needs, scene);
  return scene;
}

std::string Scene::text() const {
  std::ostringstream out;
  out << "seed " << seed << ": " << job.resources.size() << " resources (";
  for (std::size_t j = 0; j < job.resources.size(); ++j) {
    const LaneManner& lane = lanes[j];
    out << (j > 0 ? ", " : "") << job.resources[j].servers
        << (job.resources[j].launch.empty() ? "" : " behind a launcher");
    if (lane.fails_to_open > 0) out << " that fails " << lane.fails_to_open << " times";
    if (lane.never_opens) out << " that never opens";
    if (lane.not_found) out << " that is not there";
    if (lane.lives_for < 1e9) out << " that lives for " << lane.lives_for << " s";
    if (lane.deaf) out << " that is deaf";
  }
  out << "), " << job.tasks.size() << " types, " << manners.size() << " tasks, "
      << to_string(options.objective) << (options.policy.empty() ? "" : " by " + options.policy) << ", "
      << std::count_if(manners.begin(), manners.end(), [](Manner m) { return m != Manner::kWell; })
      << " ill-mannered, " << signals.size() << " signals, " << freezes.size() << " freezes, " << kills.size()
      << " kills" << (disk_full ? ", a full disk" : "") << (needs_of(job).any ? ", needs" : "");
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    const JobTask& task = job.tasks[i];
    if (task.from) out << ", t" << i << " from t" << index(*task.from);
    for (const TaskType before : task.after) out << ", t" << i << " after t" << index(before);
    if (task.at_most) out << ", at most " << *task.at_most << " of t" << i;
    if (!task.keep) out << ", t" << i << " not kept";
  }
  return out.str();
}

}  // namespace allot::worlds
