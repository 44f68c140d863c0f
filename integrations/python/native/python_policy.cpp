#include "integrations/python/native/python_policy.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "integrations/python/native/module.hpp"
#include "integrations/python/native/values.hpp"

namespace allot::python {
namespace {

/// Decisions between two looks at the signals, for functions that are not Python bytecode themselves.
constexpr std::uint32_t kDecisions = 4096;

std::size_t size_attribute(const py::object& function, const char* name) {
  if (!py::hasattr(function, name)) return 0;
  return whole(name, function.attr(name), 0, 1'000'000);
}

bool flag_attribute(const py::object& function, const char* name) {
  return py::hasattr(function, name) && flag(name, function.attr(name));
}

/// The name of a policy function: its attribute `policy_name`, its own name, that of the function that a
/// functools.partial is of, or that of its class.
std::string policy_name(const py::object& function) {
  for (const char* attribute : {"policy_name", "__name__"}) {
    if (py::hasattr(function, attribute)) return text("policy", py::str(function.attr(attribute)));
  }
  if (py::hasattr(function, "func") && PyCallable_Check(function.attr("func").ptr()) != 0)
    return policy_name(function.attr("func"));
  return text("policy", py::str(py::type::of(function).attr("__name__")));
}

/// What a mark of `allot.policy` is on, or the function itself.
py::object called(const py::object& function) {
  if (!py::hasattr(function, "policy_function")) return function;
  return function.attr("policy_function");
}

}  // namespace

PolicyState::PolicyState(ScenarioPointer scenario, std::size_t memory_size, bool looks_at_sizes,
                         bool may_draw)
    : scenario_(std::move(scenario)), memory_(static_cast<py::ssize_t>(memory_size)), may_draw_(may_draw) {
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
  if (looks_at_sizes) {
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
  if (!memory.empty()) std::copy(memory.begin(), memory.end(), memory_.mutable_data());
  random_ = &random;
}

void PolicyState::finish(PolicyMemory memory) {
  random_ = nullptr;
  if (!memory.empty()) std::copy_n(memory_.data(), memory.size(), memory.begin());
}

double PolicyState::random() {
  if (!may_draw_)
    raise_invalid("policy", "the exact chain needs one that draws no random numbers; simulate this one");
  if (random_ == nullptr) throw std::runtime_error("random numbers are there during a decision only");
  return random_->uniform();
}

/// Asks the function of its host for every decision.
class PythonPolicy final : public Policy {
 public:
  PythonPolicy(PythonHost& host, std::size_t memory_size, bool looks_at_sizes)
      : host_(host),
        memory_size_(memory_size),
        looks_at_sizes_(looks_at_sizes),
        state_(std::make_shared<PolicyState>(host.scenario_, memory_size, looks_at_sizes, host.may_draw_)),
        state_object_(py::cast(state_)) {
    for (std::size_t i = 0; i < host.scenario_->system.type_count(); ++i) tasks_.emplace_back(py::int_(i));
  }

  void set_population(std::span<const Count> threads_by_type) override {
    if (py::hasattr(host_.function_, "set_population"))
      host_.function_.attr("set_population")(to_array(threads_by_type));
  }
  bool looks_at_sizes() const noexcept override { return looks_at_sizes_; }
  std::size_t memory_size() const noexcept override { return memory_size_; }

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
  static void look_around() {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    const Unlocked others;
  }

  /// By index or by name.
  ResourceId resource_of(const py::object& answer, TaskType i) const {
    const System& system = host_.scenario_->system;
    std::size_t j = system.resource_count();
    if (PyLong_Check(answer.ptr())) {
      j = PyLong_AsSize_t(answer.ptr());
      if (PyErr_Occurred() != nullptr) PyErr_Clear();
    } else if (py::isinstance<py::str>(answer)) {
      const auto& resources = system.resources();
      const auto found = std::find_if(resources.begin(), resources.end(), [&](const Resource& resource) {
        return PyUnicode_CompareWithASCIIString(answer.ptr(), resource.name.c_str()) == 0 ||
               answer.equal(py::str(resource.name));
      });
      j = static_cast<std::size_t>(found - resources.begin());
    } else if (PyIndex_Check(answer.ptr()) != 0) {
      const py::object number = py::reinterpret_steal<py::object>(PyNumber_Index(answer.ptr()));
      if (!number) throw py::error_already_set();
      j = PyLong_AsSize_t(number.ptr());
      if (PyErr_Occurred() != nullptr) PyErr_Clear();
    } else {
      raise_invalid("policy", "must return a resource, by index or by name, not " + shown(answer));
    }
    if (j < system.resource_count() && system.can_run(i, resource_id(j))) return resource_id(j);
    raise_invalid("policy",
                  "places '" + system.task(i).name + "' on " + shown(answer) +
                      (j < system.resource_count() ? ", where it cannot run" : ", which is no resource"));
  }

  PythonHost& host_;
  std::size_t memory_size_;
  bool looks_at_sizes_;
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
            return std::make_unique<PythonPolicy>(*this, size_attribute(function_, "memory_size"),
                                                  flag_attribute(function_, "looks_at_sizes"));
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
  for (const PolicyInfo* known : builtin_policies())
    names += (names.empty() ? "'" : ", '") + std::string(known->name) + "'";
  raise_invalid(option, "there is no '" + name + "'; there are " + names + ", and functions of your own");
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
  std::set<std::string> taken;  // by the built-in ones first
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
      "Seconds of work left at each resource, for a policy with looks_at_sizes; else None.");
  state.def_property_readonly(
      "memory", &PolicyState::memory,
      "What the policy remembers: as many whole numbers as its memory_size, at first 0. "
      "Write into it.");
  state.def("random", &PolicyState::random,
            signed_doc("random(self)", "A number from (0, 1), the same for the same seed.").c_str());
}

}  // namespace allot::python
