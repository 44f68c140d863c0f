// The live dispatcher in Python, with its tickets and plans.
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "allot/policy/policy.hpp"
#include "integrations/python/native/archive.hpp"
#include "integrations/python/native/live_dispatcher.hpp"
#include "integrations/python/native/module.hpp"
#include "integrations/python/native/policy_options.hpp"

namespace allot::python {
namespace {

std::shared_ptr<LiveDispatcher> make_dispatcher(const ScenarioPointer& scenario, const py::object& rates,
                                                const py::object& worth, const py::object& policy,
                                                const py::object& assignment, const py::object& probabilities,
                                                const py::object& shares, const py::object& background,
                                                const py::object& solve_limit, const py::object& look_every,
                                                const py::object& exploration, const py::object& memory,
                                                const py::object& breaker_failures,
                                                const py::object& breaker_hold, const py::object& room,
                                                const py::object& seed) {
  constexpr std::uint64_t kMostRoom = 4096;
  require_constant_work(*scenario, "Dispatcher");
  const System& given = scenario->system;
  const double worth_value = worth_of(worth);
  std::vector<RatePrior> priors(given.type_count() * given.resource_count());
  if (!rates.is_none())
    priors = priors_of(rates, Directory(given.tasks()), Directory(given.resources()), worth_value);
  const Scenario known = with_rates(*scenario, priors);
  DispatcherOptions options;
  options.policy = text("policy", policy);
  options.policy_options = policy_options(known, assignment, probabilities, shares);
  const PolicyInfo* const chosen = find_policy(options.policy);
  if (chosen != nullptr && chosen->needs_assignment && assignment.is_none())
    raise_invalid("assignment", "the policy '" + options.policy + "' needs one to hold");
  options.planning = flag("background", background) ? Planning::kBackground : Planning::kDeferred;
  options.solve_limit = milliseconds("solve_limit", solve_limit);
  options.look_every = milliseconds("look_every", look_every);
  options.exploration = number(
      "exploration", exploration, [](double part) { return part >= 0 && part <= 1; }, "must be from 0 to 1");
  options.estimator.memory = number(
      "memory", memory, [](double count) { return count >= 2 && count <= 1e9; },
      "must be from 2 to 1e9 completions");
  options.estimator.breaker_failures =
      static_cast<std::uint32_t>(whole("breaker_failures", breaker_failures, 1, 1'000'000'000));
  options.estimator.breaker_hold_seconds = number(
      "breaker_hold", breaker_hold, [](double seconds) { return seconds > 0 && seconds <= 1e6; },
      "must be above 0 and at most 1e6 seconds");
  options.more_types = options.more_resources = whole("room", room, 0, kMostRoom);
  options.seed = seed_of(seed);
  return std::make_shared<LiveDispatcher>(known.system, std::move(priors), worth_value, std::move(options));
}

void bind_ticket(py::module_& module) {
  py::class_<LiveTicket> bound(module, "Ticket",
                               "A task that has been placed: give it back to `complete` or `cancel` once.\n\n"
                               ">>> import allot\n"
                               ">>> dispatcher = allot.Dispatcher(resources=['cpu'], tasks=['sort'])\n"
                               ">>> ticket = dispatcher.place('sort')\n"
                               ">>> ticket.resource, ticket.open\n"
                               "('cpu', True)\n"
                               ">>> dispatcher.complete(ticket, seconds=0.01)\n"
                               ">>> ticket.open\n"
                               "False\n");
  in_package(bound);
  bound.def_property_readonly(
      "task", [](const LiveTicket& self) { return self.from->tasks.name(index(self.ticket.type)); },
      "The name of its type.");
  bound.def_property_readonly(
      "resource",
      [](const LiveTicket& self) { return self.from->resources.name(index(self.ticket.resource)); },
      "The name of the resource where it is to run.");
  bound.def_property_readonly(
      "task_index", [](const LiveTicket& self) { return index(self.ticket.type); }, "The index of its type.");
  bound.def_property_readonly(
      "resource_index", [](const LiveTicket& self) { return index(self.ticket.resource); },
      "The index of that resource.");
  bound.def_property_readonly(
      "explores", [](const LiveTicket& self) { return self.ticket.explores; },
      "Whether it is sent there to learn its rate rather than by the policy.");
  bound.def_property_readonly(
      "open", [](const LiveTicket& self) { return self.open; }, "Whether it has not been given back yet.");
  add_method(
      bound, "start(self)", [](LiveTicket& self) { self.began = Clock::now(); },
      "The task has a server of the resource to itself from now on. The time before was waiting and counts "
      "in no rate.");
  add_method(
      bound, "__repr__(self, /)",
      [](const LiveTicket& self) {
        return "Ticket(" + shown(self.from->tasks.name(index(self.ticket.type))) + " on " +
               shown(self.from->resources.name(index(self.ticket.resource))) +
               (self.ticket.explores ? ", explores" : "") + (self.open ? "" : ", given back") + ")";
      },
      "The task, its resource, and whether it was given back.");
}

void bind_plan(py::module_& module) {
  py::class_<LivePlan> bound(module, "Plan",
                             "A plan of a dispatcher.\n\n"
                             ">>> import allot\n"
                             ">>> machine = allot.Scenario([[8.0, 7.5], [2.0, 6.0]], [4, 4])\n"
                             ">>> plan = allot.Dispatcher(machine, background=False).plan()\n"
                             ">>> plan.number, plan.target.tolist(), round(plan.predicted.throughput, 2)\n"
                             "(1, [[1, 3], [0, 4]], 14.64)\n");
  in_package(bound);
  bound.def_property_readonly(
      "number", [](const LivePlan& self) { return self.plan->number; }, "The number of the plan, from 1.");
  bound.def_property_readonly(
      "scenario", [](const LivePlan& self) { return self.scenario; },
      "The scenario with the rates and counts of the plan. A pair that is not in use now (drained, lost, "
      "failing, or "
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
        const Plan& plan = *self.plan;
        const std::vector<double>& shares = plan.service.empty() ? plan.time_shares : plan.service;
        if (shares.empty()) return py::none();
        return to_matrix(shares, plan.system.resource_count());
      },
      "Policies 'planned' and 'weighted': the servers of each resource (columns) for each type (rows), on "
      "average.");
  bound.def_property_readonly(
      "predicted",
      [](const LivePlan& self) -> py::object {
        if (!self.plan->predicted) return py::none();
        const Performance& predicted = *self.plan->predicted;
        return record(
            "Prediction", predicted.throughput, to_array(predicted.throughput_by_task),
            to_array(predicted.throughput_by_resource), predicted.response_time,
            to_array(predicted.response_time_by_task),
            predicted.shares.empty() ? py::object(py::none()) : py::object(to_array(predicted.shares)),
            predicted.priority_error);
      },
      "The model's prediction for the target or the time shares, an allot.Prediction; None without either.");
  bound.def_property_readonly(
      "note", [](const LivePlan& self) { return self.plan->note; }, "A note of the policy; usually empty.");
  bound.def_property_readonly(
      "solve_seconds", [](const LivePlan& self) { return self.plan->solve_seconds; },
      "Seconds that it took to make the plan.");
  bound.def_property_readonly(
      "stale", [](const LivePlan& self) { return self.plan->stale; },
      "Whether it is the previous plan, because no new one could be made: the note says why.");
  bound.def(py::pickle([](const LivePlan& self) { return py::make_tuple(self.scenario, packed(*self.plan)); },
                       [](const py::tuple& state) {
                         auto scenario = state[0].cast<ScenarioPointer>();
                         auto plan = std::make_shared<Plan>(Plan{0, scenario->system, {}, {}, {}, {}, 0});
                         unpack(state[1].cast<py::bytes>(), *plan);
                         return LivePlan{std::move(scenario), std::move(plan)};
                       }));
  add_equality(bound, [](const LivePlan& self) { return *self.plan; });
}

using DispatcherClass = py::class_<LiveDispatcher, std::shared_ptr<LiveDispatcher>>;

/// Placing and ending tasks.
void add_placing(DispatcherClass& bound) {
  add_method(bound, "place(self, task)", &LiveDispatcher::place,
             "Where the next task of a type goes, as a ticket to be given back. None when it can go nowhere "
             "now: everything that could run it is drained, lost or disabled.",
             py::arg("task"));
  bound.def("_place_by", &LiveDispatcher::place_by, py::arg("function"), py::arg("task"));
  add_method(bound, "place_at(self, task, resource)", &LiveDispatcher::place_at,
             "A ticket for a place of your own choice; it counts like any other. Whether the pair is open is "
             "for you to ask: see `allows`.",
             py::arg("task"), py::arg("resource"));
  add_method(bound, "complete(self, ticket, seconds=None, ok=True)", &LiveDispatcher::complete,
             "The task has ended. seconds: how long it had a unit of the resource to itself, waiting not "
             "included; None: since the ticket's `start()`, or since it was placed where that was never "
             "called.",
             py::arg("ticket"), py::arg("seconds") = py::none(), py::arg("ok") = true);
  add_method(bound, "cancel(self, ticket)", &LiveDispatcher::cancel,
             "The task has left without running, as if it had never been placed.", py::arg("ticket"));
  add_method(bound, "allows(self, task, resource)", &LiveDispatcher::allows,
             "Whether tasks of the type may be sent there now.", py::arg("task"), py::arg("resource"));
}

/// Changes of the system and of the demands on it.
void add_changes(DispatcherClass& bound) {
  add_method(bound, "set_counts(self, counts)", &LiveDispatcher::set_counts,
             "How many tasks of each type are kept in flight: one number per type, or a dict of those that "
             "change. The plan follows.",
             py::arg("counts"));
  add_method(bound, "set_priorities(self, priorities)", &LiveDispatcher::set_priorities,
             "One number per type, or a dict of all types.", py::arg("priorities"));
  bound.def("_add_task_type", &LiveDispatcher::add_task, py::arg("rates"), py::arg("fields"));
  bound.def("_add_resource", &LiveDispatcher::add_resource, py::arg("rates"), py::arg("fields"));
  add_method(bound, "remove_task_type(self, task)", &LiveDispatcher::remove_task,
             "No task of the type is placed any more. Its name is not used again.", py::arg("task"));
  const auto change = [&](const char* name, void (Dispatcher::*method)(ResourceId), const char* doc) {
    add_method(
        bound, std::string(name) + "(self, resource)",
        [method](LiveDispatcher& self, const py::object& resource) { self.change(resource, method); }, doc,
        py::arg("resource"));
  };
  change("drain", &Dispatcher::drain,
         "The resource gets no new tasks. Its present tasks continue and count in the rates.");
  change("lose", &Dispatcher::lose,
         "As `drain`, and what is there counts in no rate any more. Its tickets are to be given back all the "
         "same.");
  change("restore", &Dispatcher::restore, "The resource is available again.");
  add_method(bound, "disable(self, task, resource)", &LiveDispatcher::disable,
             "The pair does not work, for example because a program is missing. It stays disabled.",
             py::arg("task"), py::arg("resource"));
  add_method(
      bound, "report_running(self, task, resource, seconds)", &LiveDispatcher::report_running,
      "How long each of the tasks of a pair that run now has been busy; replaces what was said before. "
      "A task that hangs makes its pair look slower before it ends.",
      py::arg("task"), py::arg("resource"), py::arg("seconds"));
}

/// Plans and estimates.
void add_plans(DispatcherClass& bound) {
  add_method(bound, "plan(self)", &LiveDispatcher::plan, "The latest plan, an allot.Plan.");
  add_method(bound, "estimate(self, task, resource)", &LiveDispatcher::estimate,
             "What is known about a pair: an allot.RateEstimate, with 95% intervals.", py::arg("task"),
             py::arg("resource"));
  add_method(
      bound, "estimates(self)", &LiveDispatcher::estimates,
      "What is known about all pairs: an allot.RateEstimates of arrays, a row per task type and a column "
      "per resource.");
  add_method(bound, "statistics(self)", &LiveDispatcher::statistics,
             "What has happened since the dispatcher was made: an allot.DispatchStatistics.");
  add_method(bound, "doubt(self, draws=8)", &LiveDispatcher::doubt,
             "Whether other rates inside their intervals would have led to another plan: an allot.PlanDoubt. "
             "Solves once for each draw.",
             py::arg("draws") = 8);
  add_method(
      bound, "solve(self, always=False)", &LiveDispatcher::solve,
      "Takes in what has completed, and plans anew if rates have moved by more than their uncertainty or "
      "anything else has changed, or in any case if `always`. Returns whether there is a new plan.",
      py::arg("always") = false);
}

}  // namespace

void bind_dispatch(py::module_& module) {
  bind_ticket(module);
  bind_plan(module);
  DispatcherClass bound(module, "Dispatcher", "The native part of allot.Dispatcher.");
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
  bound.def_property_readonly("closed", &LiveDispatcher::is_closed, "Whether it has been closed.");
  add_method(bound, "close(self)", &LiveDispatcher::close,
             "Ends the planner. Every call after it raises RuntimeError; a second close does nothing.");
  add_placing(bound);
  add_changes(bound);
  add_plans(bound);
}

}  // namespace allot::python
