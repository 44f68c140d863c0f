#include "integrations/python/native/python_policy.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "allot/base/words.hpp"
#include "integrations/python/native/module.hpp"
#include "integrations/python/native/values.hpp"

namespace allot::python {
namespace {

/// Decisions between two checks of signals, for functions that are not Python bytecode themselves.
constexpr std::uint32_t kDecisions = 4096;

std::size_t size_attribute(const py::object& function, const char* name) {
  if (!py::hasattr(function, name)) return 0;
  return whole(name, function.attr(name), 0, 1'000'000);
}

bool flag_attribute(const py::object& function, const char* name) {
  return py::hasattr(function, name) && flag(name, function.attr(name));
}

/// The name of a policy function: its attribute `policy_name`, its own name, the name of the function in a
/// functools.partial, or the name of its class.
std::string policy_name(const py::object& function) {
  for (const char* attribute : {"policy_name", "__name__"}) {
    if (py::hasattr(function, attribute)) return text("policy", py::str(function.attr(attribute)));
  }
  if (py::hasattr(function, "func") && PyCallable_Check(function.attr("func").ptr()) != 0)
    return policy_name(function.attr("func"));
  return text("policy", py::str(py::type::of(function).attr("__name__")));
}

/// The function inside a mark of `allot.policy`, or the function itself.
py::object called(const py::object& function) {
  if (!py::hasattr(function, "policy_function")) return function;
  return function.attr("policy_function");
}

}  // namespace

PolicyState::PolicyState(ScenarioPointer scenario, const Wants& wants)
    : scenario_(std::move(scenario)),
      memory_(static_cast<py::ssize_t>(wants.memory_size)),
      may_draw_(wants.may_draw) {
  std::fill_n(memory_.mutable_data(), wants.memory_size, 0);
  const System& system = scenario_->system;
  const std::size_t types = system.type_count();
  const std::size_t resources = system.resource_count();
  rates_ = read_only(to_matrix(system.rates().values(), resources));
  counts_ = py::array_t<Count>({types, resources});
  totals_ = py::array_t<Count>(static_cast<py::ssize_t>(resources));
  counts_data_ = counts_.mutable_data();
  totals_data_ = totals_.mutable_data();
  read_only(counts_);
  read_only(totals_);
  if (wants.binds_late) {
    py::array_t<Count> waiting(static_cast<py::ssize_t>(types));
    waiting_data_ = waiting.mutable_data();
    waiting_ = read_only(waiting);
  }
  if (wants.looks_at_sizes) {
    py::array_t<double> remaining(static_cast<py::ssize_t>(resources));
    remaining_data_ = remaining.mutable_data();
    remaining_ = read_only(remaining);
  }
}

void PolicyState::update(const Situation& situation, PolicyMemory memory, RandomStream& random) {
  std::copy(situation.counts.begin(), situation.counts.end(), counts_data_);
  std::copy(situation.totals.begin(), situation.totals.end(), totals_data_);
  if (remaining_data_ != nullptr)
    std::copy(situation.remaining.begin(), situation.remaining.end(), remaining_data_);
  if (waiting_data_ != nullptr) std::copy(situation.waiting.begin(), situation.waiting.end(), waiting_data_);
  now_ = situation.now;
  if (!memory.empty()) std::copy(memory.begin(), memory.end(), memory_.mutable_data());
  random_ = &random;
}

void PolicyState::finish(PolicyMemory memory) {
  random_ = nullptr;
  if (!memory.empty()) std::copy_n(memory_.data(), memory.size(), memory.begin());
}

const py::object& PolicyState::asked_for(const py::object& value, const char* name, const char* mark) {
  if (!value.is_none()) return value;
  throw py::attribute_error(std::string("state.") + name +
                            " is there for a policy marked with @allot.policy(" + mark + "=True)");
}

double PolicyState::random() {
  if (!may_draw_)
    raise_invalid("policy", "the exact chain needs one that draws no random numbers; simulate this one");
  if (random_ == nullptr) throw std::runtime_error("random numbers are there during a decision only");
  return random_->uniform();
}

/// The meaning of a Python decision: the index or the name of one of `named`; past the end for anything else.
/// Raises if it is neither a number nor text.
template <typename Named>
std::size_t chosen_of(const py::object& answer, const std::vector<Named>& named, const char* what) {
  if (PyLong_Check(answer.ptr()) || PyIndex_Check(answer.ptr()) != 0) {
    const py::object number = py::reinterpret_steal<py::object>(PyNumber_Index(answer.ptr()));
    if (!number) throw py::error_already_set();
    const std::size_t at = PyLong_AsSize_t(number.ptr());
    if (PyErr_Occurred() != nullptr) PyErr_Clear();
    return at;
  }
  if (!py::isinstance<py::str>(answer))
    raise_invalid("policy",
                  "must return " + std::string(what) + ", by index or by name, not " + shown(answer));
  const auto found = std::find_if(named.begin(), named.end(), [&](const Named& one) {
    return PyUnicode_CompareWithASCIIString(answer.ptr(), one.name.c_str()) == 0 ||
           answer.equal(py::str(one.name));
  });
  return static_cast<std::size_t>(found - named.begin());
}

void look_around() {
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  const Unlocked others;
}

/// Asks the Python function which type a free server takes.
class PythonBinding final : public LateBinding {
 public:
  PythonBinding(PythonHost& host, std::size_t memory_size)
      : host_(host),
        state_(std::make_shared<PolicyState>(host.scenario_,
                                             PolicyState::Wants{memory_size, false, true, host.may_draw_})),
        state_object_(py::cast(state_)) {}

  std::optional<TaskType> next(ResourceId j, const Situation& situation,
                               RandomStream& random) noexcept override {
    std::optional<TaskType> answer;
    host_.guarded([&] {
      if (++decisions_ % kDecisions == 0) look_around();
      state_->update(situation, {}, random);
      const py::object result = host_.called_(state_object_, index(j));
      state_->finish({});
      if (!result.is_none()) answer = type_of(result, j, situation);
    });
    return answer;
  }

 private:
  TaskType type_of(const py::object& answer, ResourceId j, const Situation& situation) const {
    const System& system = *situation.system;
    const std::size_t i = chosen_of(answer, system.tasks(), "a task type or None");
    const std::string who = "takes " + shown(answer) + " for '" + system.resource(j).name + "'";
    if (i >= system.type_count()) raise_invalid("policy", who + ", which is not a task type");
    if (!system.can_run(task_type(i), j)) raise_invalid("policy", who + ", where it cannot run");
    if (situation.waiting[i] == 0) raise_invalid("policy", who + ", of which no task waits");
    return task_type(i);
  }

  PythonHost& host_;
  std::shared_ptr<PolicyState> state_;
  py::object state_object_;
  std::uint32_t decisions_ = 0;
};

/// Asks the Python function for every decision.
class PythonPolicy final : public Policy {
 public:
  PythonPolicy(PythonHost& host, const PolicyState::Wants& wants)
      : host_(host),
        wants_(wants),
        state_(std::make_shared<PolicyState>(host.scenario_, wants)),
        state_object_(py::cast(state_)) {
    for (std::size_t i = 0; i < host.scenario_->system.type_count(); ++i) tasks_.emplace_back(py::int_(i));
  }

  void set_population(std::span<const Count> threads_by_type) override {
    if (py::hasattr(host_.function_, "set_population"))
      host_.function_.attr("set_population")(to_array(threads_by_type));
  }
  bool looks_at_sizes() const noexcept override { return wants_.looks_at_sizes; }
  std::size_t memory_size() const noexcept override { return wants_.binds_late ? 0 : wants_.memory_size; }
  std::unique_ptr<LateBinding> bind_late() const override {
    return wants_.binds_late ? std::make_unique<PythonBinding>(host_, wants_.memory_size) : nullptr;
  }

  ResourceId place(TaskType i, const Situation& situation, PolicyMemory memory,
                   RandomStream& random) const noexcept override {
    ResourceId answer = situation.system->resources_for(i)[0];
    host_.guarded([&] {
      if (++decisions_ % kDecisions == 0) look_around();
      state_->update(situation, memory, random);
      const py::object result = py::reinterpret_steal<py::object>(PyObject_CallFunctionObjArgs(
          host_.called_.ptr(), state_object_.ptr(), tasks_[index(i)].ptr(), nullptr));
      state_->finish(memory);
      if (!result) throw py::error_already_set();
      answer = resource_of(result, i);
    });
    return answer;
  }

 private:
  /// By index or by name.
  ResourceId resource_of(const py::object& answer, TaskType i) const {
    const System& system = host_.scenario_->system;
    const std::size_t j = chosen_of(answer, system.resources(), "a resource");
    if (j < system.resource_count() && system.can_run(i, resource_id(j))) return resource_id(j);
    std::string resources;
    for (const Resource& known : system.resources())
      resources += (resources.empty() ? "'" : ", '") + known.name + "'";
    raise_invalid("policy",
                  "places '" + system.task(i).name + "' on " + shown(answer) +
                      (j < system.resource_count() ? std::string(", where it cannot run")
                                                   : ", which is no resource. There are " + resources));
  }

  PythonHost& host_;
  PolicyState::Wants wants_;
  std::shared_ptr<PolicyState> state_;
  py::object state_object_;
  std::vector<py::object> tasks_;
  mutable std::uint32_t decisions_ = 0;
};

PythonHost::PythonHost(py::object function, std::string name, ScenarioPointer scenario, bool may_draw)
    : function_(std::move(function)),
      called_(called(function_)),
      name_(std::move(name)),
      scenario_(std::move(scenario)),
      may_draw_(may_draw) {}

NamedPolicy PythonHost::policy() {
  return {name_, [this](const System&, const PolicyOptions&) -> std::unique_ptr<Policy> {
            return std::make_unique<PythonPolicy>(
                *this, PolicyState::Wants{size_attribute(function_, "memory_size"),
                                          flag_attribute(function_, "looks_at_sizes"),
                                          flag_attribute(function_, "binds_late"), may_draw_});
          }};
}

void PythonHost::guarded(const std::function<void()>& call) noexcept {
  if (raised_) return;
  try {
    call();
  } catch (...) {
    raised_ = std::current_exception();
    stop_ = true;
  }
}

void PythonHost::rethrow() const {
  if (raised_) std::rethrow_exception(raised_);
  call_.check_ending();
}

ChosenPolicy chosen_policy(const char* option, const py::object& value) {
  if (PyCallable_Check(value.ptr()) != 0) return {policy_name(value), nullptr, value};
  if (!py::isinstance<py::str>(value))
    raise_invalid(option, "must be a name or a function of the state and the task type, is " + shown(value));
  const std::string name = text(option, value);
  if (const PolicyInfo* const policy = find_policy(name)) return {name, policy, py::none()};
  std::string names;
  std::vector<std::string_view> all;
  for (const PolicyInfo* known : builtin_policies()) {
    names += (names.empty() ? "'" : ", '") + std::string(known->name) + "'";
    all.push_back(known->name);
  }
  raise_invalid(option, "there is no policy '" + name + "'." + did_you_mean(name, all) + " There are " +
                            names + ", and functions of your own.");
}

std::vector<ChosenPolicy> chosen_policies(const py::object& values) {
  const bool is_one = py::isinstance<py::str>(values) || PyCallable_Check(values.ptr()) != 0;
  if (is_one || !py::isinstance<py::iterable>(values)) {
    raise_invalid("policies", "must be a list of names and functions, is " + shown(values) +
                                  (is_one ? "; 'simulate' runs a single one" : ""));
  }
  std::vector<ChosenPolicy> chosen;
  for (const py::handle value : values) {
    ChosenPolicy policy = chosen_policy("policies", py::reinterpret_borrow<py::object>(value));
    for (const ChosenPolicy& other : chosen) {
      if (other.builtin == policy.builtin && other.function.equal(policy.function))
        raise_invalid("policies", "'" + policy.name + "' is there twice");
    }
    chosen.push_back(std::move(policy));
  }
  std::set<std::string> taken;  // first by the built-in ones
  for (const ChosenPolicy& policy : chosen) {
    if (policy.builtin != nullptr) taken.insert(policy.name);
  }
  for (ChosenPolicy& policy : chosen) {
    if (policy.builtin != nullptr) continue;
    const std::string name = policy.name;
    for (int number = 2; !taken.insert(policy.name).second; ++number)
      policy.name = name + " (" + std::to_string(number) + ")";
  }
  if (chosen.empty()) raise_invalid("policies", "must name at least one");
  return chosen;
}

ResourceId decide(const py::object& function, const ScenarioPointer& scenario, TaskType i,
                  const Situation& situation, std::vector<std::uint32_t>& memory, RandomStream& random) {
  if (flag_attribute(function, "binds_late"))
    raise_invalid("policy", "a dispatcher places tasks; a function that binds late is for simulations");
  PythonHost host(function, "", scenario);
  const std::unique_ptr<Policy> policy = host.policy().make(scenario->system, {});
  memory.resize(policy->memory_size());
  const ResourceId chosen = policy->place(i, situation, memory, random);
  host.rethrow();
  return chosen;
}

void bind_policy_state(py::module_& module) {
  module.def(
      "policy_name",
      [](const py::object& function) {
        if (PyCallable_Check(function.ptr()) == 0)
          raise_invalid("policy", "must be a function of the state and the task type, is " + shown(function));
        return policy_name(function);
      },
      py::arg("function"));
  py::class_<PolicyState, std::shared_ptr<PolicyState>> state(
      module, "State",
      "What a policy may look at when it places a task. The task itself is not counted yet, and the task "
      "whose\nplace it takes has left already. The arrays are the same in every call, and change with it.\n\n"
      ">>> import allot\n"
      ">>> def shortest(state, task):\n"
      "...     return int(state.totals.argmin())\n"
      ">>> allot.simulate(allot.Scenario([[8.0, 2.0]], [2]), shortest, completions=100).policy\n"
      "'shortest'\n");
  in_package(state);
  state.def_property_readonly("scenario", &PolicyState::scenario, "The machine and its work.");
  state.def_property_readonly("rates", &PolicyState::rates, "Tasks per second, by type and resource.");
  state.def_property_readonly("counts", &PolicyState::counts,
                              "Tasks of each type (rows) at each resource (columns).");
  state.def_property_readonly("totals", &PolicyState::totals, "Tasks at each resource.");
  state.def_property_readonly(
      "remaining", &PolicyState::remaining,
      "Seconds of work left at each resource, for a policy with looks_at_sizes; AttributeError for others.");
  state.def_property_readonly(
      "waiting", &PolicyState::waiting,
      "Tasks of each type that wait for no resource in particular, for a policy with binds_late; "
      "AttributeError for others.");
  state.def_property_readonly("now", &PolicyState::now,
                              "Seconds since the start of the run, for a policy with binds_late.");
  state.def_property_readonly(
      "memory", &PolicyState::memory,
      "What the policy remembers: as many whole numbers as its memory_size, at first 0. "
      "Write into it.");
  add_method(state, "random(self)", &PolicyState::random,
             "A random number from (0, 1); the same seed gives the same numbers.");
}

}  // namespace allot::python
