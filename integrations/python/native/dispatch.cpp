// The live dispatcher in Python, with its tickets and plans.
#include <pybind11/stl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "allot/dispatch/dispatcher.hpp"
#include "integrations/python/native/convert.hpp"
#include "integrations/python/native/directory.hpp"
#include "integrations/python/native/module.hpp"
#include "integrations/python/native/policy_options.hpp"

namespace allot::python {
namespace {

using RateMatrix = py::array_t<double, py::array::c_style | py::array::forcecast>;

/// Who may be meant by a name. Each dispatcher has one of its own, by which it knows its tickets.
struct Directories {
  Directory tasks;
  Directory resources;
};

/// A ticket that is given back once and to the dispatcher it is from.
struct LiveTicket {
  std::shared_ptr<const Directories> from;
  Ticket ticket;
  Clock::time_point began;
  bool open = true;
};

struct LivePlan {
  ScenarioPointer scenario;
  std::shared_ptr<const Plan> plan;
};

std::chrono::milliseconds milliseconds(const char* option, double seconds) {
  if (!(seconds >= 1e-3 && seconds <= 1e6)) raise_invalid(option, "must be from 0.001 to 1e6 seconds");
  return std::chrono::milliseconds(std::llround(1e3 * seconds));
}

/// Above 0: known. 0: cannot run. NaN: unknown.
RatePrior prior_of(double rate, double worth) {
  if (std::isnan(rate)) return RatePrior::unknown();
  if (!(rate >= 0 && rate <= kMaxNumber))
    raise_invalid("rates", "must be numbers from 0 to 1e100, or NaN where a rate is unknown");
  if (rate == 0) return RatePrior::cannot_run();
  return worth > 0 ? RatePrior::measured(rate, RatePrior().relative_deviation, worth) : RatePrior::unknown();
}

std::vector<RatePrior> priors_of(const RateMatrix& rates, std::size_t size, double worth) {
  if (static_cast<std::size_t>(rates.size()) != size)
    raise_invalid("rates",
                  "must have " + std::to_string(size) + " values, has " + std::to_string(rates.size()));
  if (!(worth >= 0 && worth <= 1e9)) raise_invalid("worth", "must be from 0 to 1e9 completions");
  std::vector<RatePrior> priors;
  for (std::size_t at = 0; at < size; ++at) priors.push_back(prior_of(rates.data()[at], worth));
  return priors;
}

/// A named tuple of the package.
py::object record(const char* kind) { return py::module_::import("allot._records").attr(kind); }

const char* word(Breaker breaker) {
  switch (breaker) {
    case Breaker::kClosed:
      return "closed";
    case Breaker::kOpen:
      return "open";
    case Breaker::kHalfOpen:
      return "half-open";
  }
  return "";
}

/// What Python has of a dispatcher. Whatever may wait or solves runs without the interpreter lock; the
/// planner's thread never wants it. Additions keep it, so that names and dispatcher grow together.
class LiveDispatcher {
 public:
  LiveDispatcher(const ScenarioPointer& scenario, const RateMatrix& rates, double worth,
                 DispatcherOptions options)
      : directories_(std::make_shared<Directories>()), worth_(worth), process_(getpid()) {
    const System& system = scenario->system;
    std::vector<DispatchType> types;
    for (const TaskClass& task : system.tasks()) {
      types.push_back({task.name, task.count, task.priority, task.floor, task.home});
      directories_->tasks.add(task.name);
    }
    for (const Resource& resource : system.resources()) directories_->resources.add(resource.name);
    std::vector<RatePrior> priors = priors_of(rates, types.size() * system.resource_count(), worth);
    const py::gil_scoped_release released;
    dispatcher_ = std::make_unique<Dispatcher>(system.resources(), std::move(types), std::move(priors),
                                               std::move(options));
  }

  ~LiveDispatcher() {
    // A fork has no planner to wait for, and perhaps its locks.
    if (getpid() != process_) {
      static_cast<void>(dispatcher_.release());
      return;
    }
    const py::gil_scoped_release released;
    dispatcher_.reset();
  }

  LiveDispatcher(const LiveDispatcher&) = delete;
  LiveDispatcher& operator=(const LiveDispatcher&) = delete;

  const Directories& directories() const noexcept { return *directories_; }

  // ---- for every task

  std::optional<LiveTicket> place(py::handle task) {
    const TaskType i = type(task);
    const Clock::time_point now = Clock::now();
    const std::optional<Ticket> ticket = dispatcher_->place(i, now);
    if (!ticket) return {};
    return LiveTicket{directories_, *ticket, now};
  }

  LiveTicket place_at(py::handle task, py::handle resource) {
    const Clock::time_point now = Clock::now();
    return {directories_, dispatcher_->place_at(type(task), this->resource(resource), now), now};
  }

  void complete(LiveTicket& ticket, std::optional<double> seconds, bool ok) {
    const Clock::time_point now = Clock::now();
    const double busy =
        seconds ? *seconds : std::max(0.0, std::chrono::duration<double>(now - ticket.began).count());
    if (!(busy >= 0) || !std::isfinite(busy))
      raise_invalid("seconds", "must be a number >= 0, is " + py::repr(py::float_(busy)).cast<std::string>());
    take_back(ticket);
    dispatcher_->complete(ticket.ticket, busy, ok, now);
  }

  void cancel(LiveTicket& ticket) {
    take_back(ticket);
    dispatcher_->cancel(ticket.ticket);
  }

  bool allows(py::handle task, py::handle resource) const {
    return dispatcher_->allows(type(task), this->resource(resource));
  }

  // ---- what changes

  void set_counts(const py::object& counts) {
    const std::vector<std::pair<std::size_t, py::object>> values =
        directories_->tasks.values("counts", counts, false);
    std::vector<std::pair<TaskType, Count>> changes;
    for (const auto& [at, value] : values)
      changes.emplace_back(task_type(at), static_cast<Count>(whole("counts", value, 0, kMaxCount)));
    const py::gil_scoped_release released;
    for (const auto& [i, count] : changes) dispatcher_->set_count(i, count);
  }

  void set_priorities(const py::object& priorities) {
    std::vector<double> values(directories_->tasks.size());
    for (const auto& [at, value] : directories_->tasks.values("priorities", priorities, true))
      values[at] = number("priorities", value);
    const py::gil_scoped_release released;
    dispatcher_->set_priorities(values);
  }

  void add_task(const std::string& name, const py::object& count, const RateMatrix& rates,
                std::optional<double> priority, std::optional<double> floor, const py::object& home) {
    DispatchType added{name, static_cast<Count>(whole("count", count, 0, kMaxCount)), priority, floor, {}};
    if (!home.is_none()) added.home = resource(home);
    const std::vector<RatePrior> priors = priors_of(rates, directories_->resources.size(), worth_);
    dispatcher_->add_type(added, priors);
    directories_->tasks.add(name);
  }

  void add_resource(const std::string& name, const py::object& servers, const RateMatrix& rates,
                    const std::string& kind, const std::string& discipline, const py::object& min_depth) {
    Resource added;
    added.name = name;
    added.servers = static_cast<Count>(whole("servers", servers, 1, kMaxCount));
    added.kind = choice<Kind>("kind", kind, {{"gp", Kind::kGeneral}, {"sa", Kind::kSpecialized}});
    added.discipline =
        choice<Discipline>("discipline", discipline, {{"ps", Discipline::kPs}, {"fcfs", Discipline::kFcfs}});
    added.min_depth = static_cast<Count>(whole("min_depth", min_depth, 1, kMaxCount));
    const std::vector<RatePrior> priors = priors_of(rates, directories_->tasks.size(), worth_);
    dispatcher_->add_resource(added, priors);
    directories_->resources.add(name);
  }

  void remove_task(py::handle task) {
    const TaskType i = type(task);
    const py::gil_scoped_release released;
    dispatcher_->remove_type(i);
  }

  void change(py::handle resource, void (Dispatcher::*method)(ResourceId)) {
    const ResourceId j = this->resource(resource);
    const py::gil_scoped_release released;
    (*dispatcher_.*method)(j);
  }

  void disable(py::handle task, py::handle resource) {
    const TaskType i = type(task);
    const ResourceId j = this->resource(resource);
    const py::gil_scoped_release released;
    dispatcher_->disable(i, j);
  }

  void report_running(py::handle task, py::handle resource, const std::vector<double>& seconds) {
    const TaskType i = type(task);
    const ResourceId j = this->resource(resource);
    for (const double busy : seconds) {
      if (!(busy >= 0) || !std::isfinite(busy)) raise_invalid("seconds", "must be numbers >= 0");
    }
    const py::gil_scoped_release released;
    dispatcher_->report_running(i, j, seconds);
  }

  // ---- what is known

  LivePlan plan() const {
    const py::gil_scoped_release released;
    std::shared_ptr<const Plan> plan = dispatcher_->plan();
    auto scenario = std::make_shared<Scenario>(Scenario{"", plan->system, {}, {}, {}, {}});
    return {std::move(scenario), std::move(plan)};
  }

  py::object estimate(py::handle task, py::handle resource) const {
    const TaskType i = type(task);
    const ResourceId j = this->resource(resource);
    RateEstimate known;
    {
      const py::gil_scoped_release released;
      known = dispatcher_->estimate(i, j);
    }
    return record("RateEstimate")(known.seconds, known.seconds_low, known.seconds_high, known.rate,
                                  known.rate_low, known.rate_high, known.weight, known.completions,
                                  known.failures, known.outliers, known.resets, word(known.breaker));
  }

  py::object estimates() const {
    const std::size_t types = directories_->tasks.size();
    const std::size_t resources = directories_->resources.size();
    std::vector<RateEstimate> known;
    {
      const py::gil_scoped_release released;
      for (const TaskType i : IdRange<TaskType>(types)) {
        for (const ResourceId j : IdRange<ResourceId>(resources))
          known.push_back(dispatcher_->estimate(i, j));
      }
    }
    const auto matrix = [&](auto get) {
      py::array_t<decltype(get(known[0]))> array({types, resources});
      auto* out = array.mutable_data();
      for (const RateEstimate& estimate : known) *out++ = get(estimate);
      return array;
    };
    const auto numbers = [&](double RateEstimate::*member) {
      return matrix([member](const RateEstimate& estimate) { return estimate.*member; });
    };
    const auto counts = [&](std::uint64_t RateEstimate::*member) {
      return matrix([member](const RateEstimate& estimate) { return static_cast<Count>(estimate.*member); });
    };
    py::list breakers;
    for (const RateEstimate& estimate : known) breakers.append(word(estimate.breaker));
    return record("RateEstimates")(
        directories_->tasks.names(), directories_->resources.names(), numbers(&RateEstimate::seconds),
        numbers(&RateEstimate::seconds_low), numbers(&RateEstimate::seconds_high),
        numbers(&RateEstimate::rate), numbers(&RateEstimate::rate_low), numbers(&RateEstimate::rate_high),
        numbers(&RateEstimate::weight), counts(&RateEstimate::completions), counts(&RateEstimate::failures),
        counts(&RateEstimate::outliers), counts(&RateEstimate::resets),
        py::module_::import("numpy").attr("array")(breakers).attr("reshape")(types, resources));
  }

  py::object statistics() const {
    const DispatchStatistics seen = dispatcher_->statistics();
    const std::size_t resources = directories_->resources.size();
    const auto matrix = [&](const auto& values) {
      py::array_t<Count> array({values.size() / resources, resources});
      Count* out = array.mutable_data();
      for (const auto value : values) *out++ = static_cast<Count>(value);
      return array;
    };
    return record("DispatchStatistics")(matrix(seen.completions), matrix(seen.failures),
                                        matrix(seen.in_flight), seen.placed, seen.ended, seen.explored,
                                        seen.unseen, seen.seconds, seen.throughput, seen.departures,
                                        seen.mean_response, seen.mean_in_flight, seen.little);
  }

  py::object doubt(const py::object& draws) const {
    const std::uint64_t tries = whole("draws", draws, 1, 1'000'000);
    PlanDoubt doubt;
    {
      const py::gil_scoped_release released;
      doubt = dispatcher_->doubt(tries);
    }
    return record("PlanDoubt")(doubt.draws, doubt.would_change, doubt.at_stake);
  }

  bool solve(bool always) {
    const py::gil_scoped_release released;
    return dispatcher_->solve(Clock::now(), always);
  }

 private:
  TaskType type(py::handle task) const { return task_type(directories_->tasks.at("task", task)); }
  ResourceId resource(py::handle resource) const {
    return resource_id(directories_->resources.at("resource", resource));
  }

  void take_back(LiveTicket& ticket) const {
    if (ticket.from != directories_) raise_invalid("ticket", "is of another dispatcher");
    if (!ticket.open) raise_invalid("ticket", "has been given back before");
    ticket.open = false;
  }

  std::shared_ptr<Directories> directories_;
  double worth_;
  pid_t process_;
  std::unique_ptr<Dispatcher> dispatcher_;
};

std::unique_ptr<LiveDispatcher> make_dispatcher(
    const ScenarioPointer& scenario, const RateMatrix& rates, double worth, const std::string& policy,
    const py::object& assignment, const py::object& probabilities, const std::string& shares, bool background,
    double solve_limit, double look_every, double exploration, double memory,
    const py::object& breaker_failures, double breaker_hold, const py::object& room, const py::object& seed) {
  constexpr std::uint64_t kMostRoom = 4096;
  require_constant_work(*scenario, "Dispatcher");
  DispatcherOptions options;
  options.policy = policy;
  options.policy_options = policy_options(*scenario, assignment, probabilities, shares);
  if (policy == "fixed" && assignment.is_none())
    raise_invalid("assignment", "the policy 'fixed' needs one to hold");
  options.planning = background ? Planning::kBackground : Planning::kDeferred;
  options.solve_limit = milliseconds("solve_limit", solve_limit);
  options.look_every = milliseconds("look_every", look_every);
  if (!(exploration >= 0 && exploration <= 1)) raise_invalid("exploration", "must be from 0 to 1");
  options.exploration = exploration;
  if (!(memory >= 2 && memory <= 1e9)) raise_invalid("memory", "must be from 2 to 1e9 completions");
  options.estimator.memory = memory;
  options.estimator.breaker_failures =
      static_cast<std::uint32_t>(whole("breaker_failures", breaker_failures, 1, 1'000'000'000));
  if (!(breaker_hold > 0 && breaker_hold <= 1e6))
    raise_invalid("breaker_hold", "must be above 0 and at most 1e6 seconds");
  options.estimator.breaker_hold_seconds = breaker_hold;
  options.more_types = options.more_resources = whole("room", room, 0, kMostRoom);
  options.seed = whole("seed", seed, 0, std::numeric_limits<std::uint64_t>::max());
  return std::make_unique<LiveDispatcher>(scenario, rates, worth, std::move(options));
}

void bind_ticket(py::module_& module) {
  py::class_<LiveTicket> bound(module, "Ticket",
                               "A task that has been placed: give it back to `complete` or `cancel` once.");
  in_package(bound);
  bound.def_property_readonly(
      "task", [](const LiveTicket& self) { return self.from->tasks.name(index(self.ticket.type)); },
      "The name of its type.");
  bound.def_property_readonly(
      "resource",
      [](const LiveTicket& self) { return self.from->resources.name(index(self.ticket.resource)); },
      "The name of the resource where it is to run.");
  bound.def_property_readonly("task_index", [](const LiveTicket& self) { return index(self.ticket.type); });
  bound.def_property_readonly("resource_index",
                              [](const LiveTicket& self) { return index(self.ticket.resource); });
  bound.def_property_readonly(
      "explores", [](const LiveTicket& self) { return self.ticket.explores; },
      "Whether it is sent there to learn its rate rather than by the policy.");
  bound.def_property_readonly(
      "open", [](const LiveTicket& self) { return self.open; }, "Whether it is yet to be given back.");
  bound.def(
      "start", [](LiveTicket& self) { self.began = Clock::now(); },
      "The task has a unit of the resource to itself from now on; until now it has waited, which counts in "
      "no rate.");
  bound.def("__repr__", [](const LiveTicket& self) {
    return "Ticket(" + py::repr(self.from->tasks.name(index(self.ticket.type))).cast<std::string>() + " on " +
           py::repr(self.from->resources.name(index(self.ticket.resource))).cast<std::string>() +
           (self.ticket.explores ? ", explores" : "") + (self.open ? "" : ", given back") + ")";
  });
}

void bind_plan(py::module_& module) {
  py::class_<LivePlan> bound(
      module, "Plan", "What a dispatcher holds to at a time. Arrays are copies, the caller's to change.");
  in_package(bound);
  bound.def_property_readonly(
      "number", [](const LivePlan& self) { return self.plan->number; }, "Counts up from 1.");
  bound.def_property_readonly(
      "scenario", [](const LivePlan& self) { return self.scenario; },
      "With the rates and counts it was made for. A pair that is not in use now (drained, lost, failing, or "
      "not tried yet while others are known) has rate 0, and a type that can go nowhere now has count 0.");
  bound.def_property_readonly(
      "target",
      [](const LivePlan& self) -> py::object {
        if (!self.plan->target) return py::none();
        return to_matrix(*self.plan->target);
      },
      "Tasks of each type (rows) to keep at each resource (columns); None for a policy that holds none.");
  bound.def_property_readonly(
      "time_shares",
      [](const LivePlan& self) -> py::object {
        if (self.plan->time_shares.empty()) return py::none();
        return to_matrix(self.plan->time_shares, self.plan->system.resource_count());
      },
      "Of the policy 'weighted': the units of each resource (columns) that each type (rows) is to have.");
  bound.def_property_readonly(
      "predicted",
      [](const LivePlan& self) -> py::object {
        if (!self.plan->predicted) return py::none();
        const Performance& predicted = *self.plan->predicted;
        return record("Prediction")(
            predicted.throughput, to_array(predicted.throughput_by_task),
            to_array(predicted.throughput_by_resource), predicted.response_time,
            to_array(predicted.response_time_by_task),
            predicted.shares.empty() ? py::object(py::none()) : py::object(to_array(predicted.shares)),
            predicted.priority_error);
      },
      "The model's prediction for the target, an allot.Prediction, or None without a target.");
  bound.def_property_readonly(
      "note", [](const LivePlan& self) { return self.plan->note; }, "The policy's; mostly empty.");
  bound.def_property_readonly("solve_seconds", [](const LivePlan& self) { return self.plan->solve_seconds; });
}

}  // namespace

void bind_dispatch(py::module_& module) {
  bind_ticket(module);
  bind_plan(module);
  py::class_<LiveDispatcher> bound(module, "Dispatcher", "The native part of allot.Dispatcher.");
  in_package(bound);
  bound.def(py::init(&make_dispatcher), py::arg("scenario"), py::arg("rates"), py::arg("worth"),
            py::arg("policy"), py::arg("assignment"), py::arg("probabilities"), py::arg("shares"),
            py::arg("background"), py::arg("solve_limit"), py::arg("look_every"), py::arg("exploration"),
            py::arg("memory"), py::arg("breaker_failures"), py::arg("breaker_hold"), py::arg("room"),
            py::arg("seed"));
  bound.def_property_readonly(
      "tasks", [](const LiveDispatcher& self) { return self.directories().tasks.names(); },
      "The names of the types.");
  bound.def_property_readonly(
      "resources", [](const LiveDispatcher& self) { return self.directories().resources.names(); },
      "The names of the resources.");

  bound.def("place", &LiveDispatcher::place, py::arg("task"),
            "Where the next task of a type goes, as a ticket to be given back. None when it can go nowhere "
            "now: everything that could run it is drained, lost or disabled.");
  bound.def("place_at", &LiveDispatcher::place_at, py::arg("task"), py::arg("resource"),
            "A ticket for a place of your own choice; it counts like any other. Whether the pair is open is "
            "for you to ask: see `allows`.");
  bound.def("complete", &LiveDispatcher::complete, py::arg("ticket"), py::arg("seconds") = py::none(),
            py::arg("ok") = true,
            "The task has ended. seconds: how long it had a unit of the resource to itself, waiting not "
            "included; None: since the ticket's `start()`, or since it was placed where that was never "
            "called.");
  bound.def("cancel", &LiveDispatcher::cancel, py::arg("ticket"),
            "The task has left without having run: as if it had never been placed.");
  bound.def("allows", &LiveDispatcher::allows, py::arg("task"), py::arg("resource"),
            "Whether tasks of the type may be sent there now.");

  bound.def("set_counts", &LiveDispatcher::set_counts, py::arg("counts"),
            "How many tasks of each type are kept in flight: one number per type, or a dict of those that "
            "change. The plan follows.");
  bound.def("set_priorities", &LiveDispatcher::set_priorities, py::arg("priorities"),
            "One number per type, or a dict of all types.");
  bound.def("_add_task_type", &LiveDispatcher::add_task, py::arg("name"), py::arg("count"), py::arg("rates"),
            py::arg("priority"), py::arg("floor"), py::arg("home"));
  bound.def("_add_resource", &LiveDispatcher::add_resource, py::arg("name"), py::arg("servers"),
            py::arg("rates"), py::arg("kind"), py::arg("discipline"), py::arg("min_depth"));
  bound.def("remove_task_type", &LiveDispatcher::remove_task, py::arg("task"),
            "Nothing of the type is placed any more. Its name is not used again.");
  const auto change = [&](const char* name, void (Dispatcher::*method)(ResourceId), const char* doc) {
    bound.def(
        name, [method](LiveDispatcher& self, const py::object& resource) { self.change(resource, method); },
        py::arg("resource"), doc);
  };
  change("drain", &Dispatcher::drain,
         "Nothing new goes there. What is there goes on, and counts in the rates.");
  change("lose", &Dispatcher::lose,
         "As `drain`, and what is there counts in no rate any more. Its tickets are to be given back all the "
         "same.");
  change("restore", &Dispatcher::restore, "The resource is there again.");
  bound.def("disable", &LiveDispatcher::disable, py::arg("task"), py::arg("resource"),
            "The pair does not work, as when a program is not there. For good.");
  bound.def("report_running", &LiveDispatcher::report_running, py::arg("task"), py::arg("resource"),
            py::arg("seconds"),
            "How long each of the tasks of a pair that run now has been busy; replaces what was said before. "
            "A task that hangs makes its pair look slower before it ends.");

  bound.def("plan", &LiveDispatcher::plan, "The latest plan, an allot.Plan.");
  bound.def("estimate", &LiveDispatcher::estimate, py::arg("task"), py::arg("resource"),
            "What is known about a pair: an allot.RateEstimate, with 95% intervals.");
  bound.def(
      "estimates", &LiveDispatcher::estimates,
      "What is known about all pairs: an allot.RateEstimates of arrays, a row per task type and a column "
      "per resource.");
  bound.def("statistics", &LiveDispatcher::statistics,
            "What has happened since the dispatcher was made: an allot.DispatchStatistics.");
  bound.def("doubt", &LiveDispatcher::doubt, py::arg("draws") = 8,
            "Whether other rates inside their intervals would have led to another plan: an allot.PlanDoubt. "
            "Solves once for each draw.");
  bound.def(
      "solve", &LiveDispatcher::solve, py::arg("always") = false,
      "Takes in what has completed, and plans anew if rates have moved by more than their uncertainty or "
      "anything else has changed, or in any case if `always`. Returns whether there is a new plan.");
}

}  // namespace allot::python
