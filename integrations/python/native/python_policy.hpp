// A policy written in Python: a function of the state and the task type.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <exception>
#include <memory>
#include <string>

#include "allot/policy/policy.hpp"
#include "integrations/python/native/convert.hpp"

namespace allot::python {

/// What the function is given: a copy of the situation, in arrays that Python owns, so that keeping one is
/// harmless. They are the same arrays in every call.
class PolicyState {
 public:
  PolicyState(ScenarioPointer scenario, std::size_t memory_size, bool looks_at_sizes, bool may_draw);

  void update(const Situation& situation, PolicyMemory memory, RandomStream& random);
  /// Takes what the function remembers, and ends its right to draw.
  void finish(PolicyMemory memory);

  const ScenarioPointer& scenario() const noexcept { return scenario_; }
  const py::array_t<double>& rates() const noexcept { return rates_; }
  const py::array_t<Count>& counts() const noexcept { return counts_; }
  const py::array_t<Count>& totals() const noexcept { return totals_; }
  const py::object& remaining() const noexcept { return remaining_; }
  const py::array_t<std::uint32_t>& memory() const noexcept { return memory_; }
  /// Uniform in (0, 1), from the stream of the policy. Raises RuntimeError outside of a decision, and in the
  /// exact chain.
  double random();

 private:
  ScenarioPointer scenario_;
  py::array_t<double> rates_;
  py::array_t<Count> counts_;
  py::array_t<Count> totals_;
  py::object remaining_ = py::none();
  py::array_t<std::uint32_t> memory_;
  Count* counts_data_ = nullptr;
  Count* totals_data_ = nullptr;
  double* remaining_data_ = nullptr;
  bool may_draw_;
  RandomStream* random_ = nullptr;
};

/// Serves the calls of one simulation or analysis with a Python function. The interpreter lock stays with the
/// calling thread, as nearly all of the time is spent in Python; other Python threads get their turns there.
/// Not thread-safe: the host must use one thread.
class PythonHost {
 public:
  /// `may_draw`: whether the function may ask for random numbers.
  PythonHost(py::object function, ScenarioPointer scenario, bool may_draw = true);

  /// Valid as long as this is.
  NamedPolicy policy();
  /// For the host's stop limits: set once the function has raised an exception.
  const StopFlag& stop() const noexcept { return stop_; }
  /// Calls Python from the work; after an exception, nothing.
  void guarded(const std::function<void()>& call) noexcept;
  /// Throws what was raised meanwhile, if anything was.
  void rethrow() const;

 private:
  friend class PythonPolicy;

  py::object function_;
  ScenarioPointer scenario_;
  bool may_draw_;
  StopFlag stop_{false};
  std::exception_ptr raised_;
};

/// The name of a policy function: its attribute `policy_name`, its own name, or that of its class.
std::string policy_name(const py::object& function);

void bind_policy_state(py::module_& module);

}  // namespace allot::python
