#include "integrations/python/native/python_policy.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "integrations/python/native/module.hpp"

namespace allot::python {
namespace {

/// Decisions between two looks at the signals, for functions that are not Python bytecode themselves.
constexpr std::uint32_t kDecisions = 4096;

template <typename Value>
py::array_t<Value> read_only(py::array_t<Value> array) {
  array.attr("flags").attr("writeable") = false;
  return array;
}

std::size_t size_attribute(const py::object& function, const char* name) {
  if (!py::hasattr(function, name)) return 0;
  return whole(name, function.attr(name), 0, 1'000'000);
}

bool flag_attribute(const py::object& function, const char* name) {
  return py::hasattr(function, name) && py::bool_(function.attr(name));
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
    throw std::runtime_error("the exact chain needs a policy without random numbers; simulate this one");
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
          host_.function_.ptr(), state_object_.ptr(), tasks_[index(i)].ptr(), nullptr));
      state_->finish(memory);
      if (!result) throw py::error_already_set();
      answer = resource_of(result, i);
    });
    return answer;
  }

 private:
  static void look_around() {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    const py::gil_scoped_release others;
  }

  /// By index or by name.
  ResourceId resource_of(const py::object& answer, TaskType i) const {
    const System& system = host_.scenario_->system;
    std::size_t j = system.resource_count();
    if (PyLong_Check(answer.ptr())) {
      j = PyLong_AsSize_t(answer.ptr());
      if (PyErr_Occurred() != nullptr) PyErr_Clear();
    } else if (py::isinstance<py::str>(answer)) {
      const auto name = answer.cast<std::string>();
      const auto& resources = system.resources();
      const auto found = std::find_if(resources.begin(), resources.end(),
                                      [&](const Resource& resource) { return resource.name == name; });
      j = static_cast<std::size_t>(found - resources.begin());
    } else if (PyIndex_Check(answer.ptr()) != 0) {
      const py::object number = py::reinterpret_steal<py::object>(PyNumber_Index(answer.ptr()));
      if (!number) throw py::error_already_set();
      j = PyLong_AsSize_t(number.ptr());
      if (PyErr_Occurred() != nullptr) PyErr_Clear();
    } else {
      throw py::type_error("a policy must return a resource, by index or by name, not " +
                           py::repr(answer).cast<std::string>());
    }
    if (j < system.resource_count() && system.can_run(i, resource_id(j))) return resource_id(j);
    throw py::value_error("the policy places '" + system.task(i).name + "' on " +
                          py::repr(answer).cast<std::string>() +
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

PythonHost::PythonHost(py::object function, ScenarioPointer scenario, bool may_draw)
    : function_(std::move(function)), scenario_(std::move(scenario)), may_draw_(may_draw) {}

NamedPolicy PythonHost::policy() {
  return {policy_name(function_), [this](const System&, const PolicyOptions&) -> std::unique_ptr<Policy> {
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
}

std::string policy_name(const py::object& function) {
  for (const char* attribute : {"policy_name", "__name__"}) {
    if (py::hasattr(function, attribute)) return py::str(function.attr(attribute));
  }
  return py::str(py::type::of(function).attr("__name__"));
}

void bind_policy_state(py::module_& module) {
  py::class_<PolicyState, std::shared_ptr<PolicyState>> state(
      module, "State",
      "What a policy may look at when it places a task. The task itself is not counted yet, and the task "
      "whose "
      "place it takes has left already. The arrays are the same in every call, and change with it.");
  in_package(state);
  state.def_property_readonly("scenario", &PolicyState::scenario);
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
  state.def("random", &PolicyState::random, "A number from (0, 1), the same for the same seed.");
}

}  // namespace allot::python
