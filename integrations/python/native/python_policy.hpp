// A policy written in Python: a function of the state and the task type.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "allot/policy/policy.hpp"
#include "integrations/python/native/asking.hpp"
#include "integrations/python/native/convert.hpp"
#include "integrations/python/native/lifetime.hpp"

namespace allot::python {

/// The argument of the function: a copy of the situation in arrays that Python owns, so that keeping one does
/// no harm. Every call uses the same arrays.
class PolicyState {
 public:
  struct Wants {
    std::size_t memory_size = 0;
    bool looks_at_sizes = false;
    bool binds_late = false;
    bool may_draw = true;
  };
  PolicyState(ScenarioPointer scenario, const Wants& wants);

  void update(const Situation& situation, PolicyMemory memory, RandomStream& random);
  /// Stores the function's memory, and ends its right to draw random numbers.
  void finish(PolicyMemory memory);

  const ScenarioPointer& scenario() const noexcept { return scenario_; }
  const py::array_t<double>& rates() const noexcept { return rates_; }
  const py::array_t<Count>& counts() const noexcept { return counts_; }
  const py::array_t<Count>& totals() const noexcept { return totals_; }
  /// AttributeError if the policy has not requested it.
  const py::object& remaining() const { return asked_for(remaining_, "remaining", "looks_at_sizes"); }
  const py::object& waiting() const { return asked_for(waiting_, "waiting", "binds_late"); }
  double now() const noexcept { return now_; }
  const py::array_t<std::uint32_t>& memory() const noexcept { return memory_; }
  /// Uniform in (0, 1), from the stream of the policy. Raises RuntimeError outside of a decision, and is
  /// Invalid in the exact chain.
  double random();

 private:
  static const py::object& asked_for(const py::object& value, const char* name, const char* mark);

  ScenarioPointer scenario_;
  py::array_t<double> rates_;
  py::array_t<Count> counts_;
  py::array_t<Count> totals_;
  py::object remaining_ = py::none();
  py::object waiting_ = py::none();
  py::array_t<std::uint32_t> memory_;
  Count* counts_data_ = nullptr;
  Count* totals_data_ = nullptr;
  double* remaining_data_ = nullptr;
  Count* waiting_data_ = nullptr;
  double now_ = 0;
  bool may_draw_;
  RandomStream* random_ = nullptr;
};

/// The policy that a caller has chosen: a built-in one, or a function of the state and the task type.
struct ChosenPolicy {
  std::string name;
  const PolicyInfo* builtin = nullptr;  ///< null for a function
  py::object function;
};

/// The policy for a name or a function; Invalid, naming the option, for anything else.
ChosenPolicy chosen_policy(const char* option, const py::object& value);

/// Passes the keywords to a question about one policy. If it is a function, the caller hosts it.
template <typename Class>
ChosenPolicy set_policy_options(Class& question, const ScenarioPointer& scenario, const py::dict& keywords) {
  question.scenario = scenario;
  set_options(question, keywords, "policy");
  ChosenPolicy chosen = chosen_policy("policy", keywords["policy"]);
  question.policy.builtin = chosen.builtin;
  return chosen;
}
/// The same for a list of different policies. Functions with the same name are numbered.
std::vector<ChosenPolicy> chosen_policies(const py::object& values);

/// Runs a Python function for the calls of one simulation or analysis. The calling thread keeps the
/// interpreter lock, because most of the time is spent in Python; other Python threads get their turns there.
/// Not thread-safe: the simulation must use one thread.
class PythonHost {
 public:
  /// `may_draw`: whether the function may ask for random numbers.
  PythonHost(py::object function, std::string name, ScenarioPointer scenario, bool may_draw = true);

  /// Valid during the life of this object.
  NamedPolicy policy();
  /// For the stop limits of the simulation: set once the function has raised an exception.
  const StopFlag& stop() const noexcept { return stop_; }
  /// Calls Python from the work; after an exception, does nothing.
  void guarded(const std::function<void()>& call) noexcept;
  /// Throws the exception that was raised in the meantime, if any.
  void rethrow() const;

 private:
  friend class PythonPolicy;
  friend class PythonBinding;

  py::object function_;  ///< as given, with its attributes
  py::object called_;    ///< the function to call
  std::string name_;
  ScenarioPointer scenario_;
  bool may_draw_;
  StopFlag stop_{false};
  NativeCall call_{&stop_};
  std::exception_ptr raised_;
};

/// One decision for a live dispatcher; throws the exception of the function. `memory` gets the size that the
/// function requests. Invalid for a function that binds late.
ResourceId decide(const py::object& function, const ScenarioPointer& scenario, TaskType i,
                  const Situation& situation, std::vector<std::uint32_t>& memory, RandomStream& random);

void bind_policy_state(py::module_& module);

}  // namespace allot::python
