// ServiceOrder in Python: which of its waiting tasks a resource takes next.
#include "allot/policy/service_order.hpp"

#include <pybind11/stl.h>

#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "allot/base/stop.hpp"
#include "integrations/python/native/convert.hpp"
#include "integrations/python/native/directory.hpp"
#include "integrations/python/native/module.hpp"
#include "integrations/python/native/values.hpp"

namespace allot::python {
namespace {

struct NamedOrder {
  Directory tasks;
  ServiceOrder order;
};

NamedOrder make_order(const py::object& names, const py::object& when_ahead) {
  using WhenAhead = ServiceOrder::WhenAhead;
  const std::vector<std::string> tasks = names_from("tasks", names);
  NamedOrder made{{},
                  ServiceOrder(tasks.size(), choice<WhenAhead>("when_ahead", when_ahead,
                                                               {{"serve", WhenAhead::kServe},
                                                                {"idle", WhenAhead::kIdle}}))};
  for (const std::string& task : tasks) made.tasks.add(task);
  return made;
}

bool is_amount(double value) { return value >= 0 && std::isfinite(value); }

void set_weights(NamedOrder& self, const py::object& weights) {
  std::vector<double> values(self.tasks.size());
  for (const auto& [at, value] : self.tasks.values("weights", weights, true)) {
    values[at] = number("weights", value, is_amount, "must be numbers >= 0");
  }
  self.order.set_weights(values);
}

/// Any clock that never goes back can be used; the default is that of time.monotonic().
double seconds_of(const py::object& now) {
  if (now.is_none()) return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
  return number(
      "now", now, [](double value) { return std::isfinite(value); }, "must be a finite number of seconds");
}

std::optional<py::str> next(NamedOrder& self, const py::object& waiting, const py::object& now) {
  std::vector<Count> counts(self.tasks.size());
  for (const auto& [at, value] : self.tasks.values("waiting", waiting, false))
    counts[at] = static_cast<Count>(whole("waiting", value, 0, kMaxCount));
  const std::optional<TaskType> i = self.order.next(counts, seconds_of(now));
  if (!i) return {};
  return self.tasks.name(index(*i));
}

void served(NamedOrder& self, const py::object& task, const py::object& seconds) {
  const double busy = number("seconds", seconds, is_amount, "must be a number >= 0");
  self.order.served(task_type(self.tasks.at("task", task)), busy);
}

}  // namespace

void bind_service_order(py::module_& module) {
  py::class_<NamedOrder> bound(
      module, "ServiceOrder",
      "Which of the waiting tasks a resource takes next: the type with the least (service received / "
      "weight).\n\n"
      "With the counts of a plan's target at the resource as weights, a device that runs one task after the "
      "other\ncompletes at the rate of processor sharing; with the time shares of 'weighted', every type "
      "gets "
      "its share. One for\neach resource. when_ahead: 'serve', a unit never idles while a task waits; "
      "'idle', "
      "a type that has had its share\nwaits, and `idle_until` says when to ask again.\n\n"
      ">>> import allot\n"
      ">>> order = allot.ServiceOrder(['decode', 'fft'])\n"
      ">>> order.set_weights([3, 1])\n"
      ">>> taken = []\n"
      ">>> for now in range(8):\n"
      "...     taken.append(order.next({'decode': 5, 'fft': 5}, now))\n"
      "...     order.served(taken[-1], 1.0)\n"
      ">>> taken.count('decode'), taken.count('fft')\n"
      "(6, 2)\n");
  in_package(bound);
  bound.def(
      py::init(&make_order), py::arg("tasks"), py::arg("when_ahead") = "serve",
      signed_doc("__init__(self, tasks, when_ahead='serve')", "For task types of these names.").c_str());
  add_method(bound, "set_weights(self, weights)", &set_weights, "One for each type: a sequence or a dict.",
             py::arg("weights"));
  add_method(bound, "next(self, waiting, now=None)", &next,
             "The type to start now, or None: nothing waits, or all that wait are ahead. waiting: how many "
             "tasks of each type wait, a sequence or a dict. now: seconds of a clock that never goes back; "
             "None: time.monotonic().",
             py::arg("waiting"), py::arg("now") = py::none());
  add_method(bound, "served(self, task, seconds)", &served,
             "A task started by `next` has ended, after this many seconds of service.", py::arg("task"),
             py::arg("seconds"));
  bound.def_property_readonly(
      "idle_until", [](const NamedOrder& self) { return self.order.idle_until(); },
      "With 'idle', after `next` answered None although tasks wait: when to ask again; else None.");
}

}  // namespace allot::python
