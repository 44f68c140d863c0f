// The native part of Python's executor.
#include <pybind11/stl.h>

#include <memory>
#include <utility>
#include <vector>

#include "allot/model/objective.hpp"
#include "integrations/python/native/live_feed.hpp"
#include "integrations/python/native/module.hpp"
#include "integrations/python/native/policy_options.hpp"

namespace allot::python {
namespace {

std::unique_ptr<LiveFeed> make_feed(const ScenarioPointer& scenario, const py::object& rates,
                                    const py::object& policy, const py::object& objective,
                                    const py::object& exploration, const py::object& room,
                                    const py::object& trace_tasks, const py::object& seed) {
  constexpr double kWorth = 10;  // weight of a rate known beforehand, in completions
  const System& given = scenario->system;
  std::vector<RatePrior> priors =
      priors_of(rates, Directory(given.tasks()), Directory(given.resources()), kWorth);
  const Scenario known = with_rates(*scenario, priors);
  FeedOptions options;
  options.dispatcher.policy = text("policy", policy);
  for (const ObjectiveInfo& info : objectives()) {
    if (info.name == text("objective", objective))
      options.dispatcher.policy_options.objective = info.objective;
  }
  options.dispatcher.exploration = number(
      "exploration", exploration, [](double part) { return part >= 0 && part <= 1; }, "must be from 0 to 1");
  options.dispatcher.more_types = whole("room", room, 0, 4096);
  options.dispatcher.seed = seed_of(seed);
  options.trace_tasks = whole("trace", trace_tasks, 0, 100'000'000);
  return std::make_unique<LiveFeed>(known.system, std::move(priors), kWorth, std::move(options));
}

}  // namespace

void bind_executor(py::module_& module) {
  py::class_<LiveFeed> bound(module, "Feed", "The native part of allot.Executor.");
  in_package(bound);
  bound.def(py::init(&make_feed), py::arg("scenario"), py::arg("rates"), py::arg("policy"),
            py::arg("objective"), py::arg("exploration"), py::arg("room"), py::arg("trace"), py::arg("seed"));
  bound.def("add_kind", &LiveFeed::add_kind, py::arg("rates"), py::arg("fields"));
  bound.def("put", &LiveFeed::put, py::arg("kind"), py::arg("work"));
  bound.def("next", &LiveFeed::next, py::arg("server"), py::arg("seconds"), py::arg("failed"));
  bound.def("cancel_waiting", &LiveFeed::cancel_waiting);
  bound.def("close", &LiveFeed::close);
  bound.def("statistics", &LiveFeed::statistics);
  bound.def("metrics", &LiveFeed::metrics);
  bound.def("trace", &LiveFeed::trace);
  bound.def_property_readonly("dispatcher", &LiveFeed::dispatcher);
}

}  // namespace allot::python
