// The setup of an executor: resources, the state of their servers, and kinds of task with a function for each
// resource.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "allot/base/ids.hpp"
#include "allot/dispatch/rate_estimator.hpp"
#include "allot/model/system.hpp"

namespace allot {

class Executor;

/// A resource of an executor. Each of its servers keeps a `State`; void: no state.
template <typename State>
struct Place {
  ResourceId id{};
};

/// A function of a kind on a resource. It is called with the server's state, if any, and the arguments of the
/// task.
template <typename State, typename Function>
struct FunctionAt {
  Place<State> place;
  Function function;
  RatePrior rate;
};

/// `rate`: tasks per second of one server, if known; otherwise it is learned.
template <typename State, typename Function>
FunctionAt<State, Function> on(Place<State> place, Function function, RatePrior rate = RatePrior::unknown()) {
  return {place, std::move(function), rate};
}

/// A kind of task, called like a function. A handle: cheap to copy.
template <typename Signature>
class TaskKind;
template <typename Result, typename... Arguments>
class TaskKind<Result(Arguments...)> {
  static_assert(!std::is_rvalue_reference_v<Result>, "a task cannot return a reference to what ends with it");

 public:
  TaskType id() const noexcept { return id_; }
  /// Whether a function can be called so: with the state of the server, if any, and the arguments.
  template <typename State, typename Call>
  static constexpr bool fits() {
    if constexpr (std::is_void_v<State>)
      return std::is_invocable_r_v<Result, const Call&, Arguments...>;
    else
      return std::is_invocable_r_v<Result, const Call&, State&, Arguments...>;
  }

 private:
  friend class ExecutorSetup;
  friend class Executor;
  using Values = std::tuple<std::decay_t<Arguments>...>;
  using Function = std::function<Result(void* state, Values&)>;

  /// Calls with the values of a task, which are used once.
  template <typename Call, typename... Before>
  static Result apply(const Call& call, Values& values, Before&... before) {
    return std::apply(
        [&](auto&... value) -> Result { return call(before..., static_cast<Arguments&&>(value)...); },
        values);
  }

  TaskType id_{};
  std::shared_ptr<const std::vector<Function>> functions_;  ///< by resource; empty where it cannot run
};

/// Not thread-safe. Errors in the setup as a whole are found by the constructor of Executor.
class ExecutorSetup {
 public:
  /// A capacity that tasks use besides servers.
  struct CapacityHandle {
    std::size_t at = 0;
  };

  /// `cores`: the thread of the k-th server stays on the k-th core, cyclically, if the operating system
  /// allows it. Empty or negative: any core.
  Place<void> resource(Resource resource, std::vector<int> cores = {}) {
    return {add(std::move(resource), nullptr, std::move(cores))};
  }
  /// `make(server)` or `make()` is called once for each server, on its thread. It returns the state that is
  /// passed to the functions, such as a stream or a buffer. The state is destroyed on that thread when the
  /// executor ends.
  template <typename Make>
  requires std::is_invocable_v<Make&, std::size_t> || std::is_invocable_v<Make&>
  auto resource(Resource resource, Make make, std::vector<int> cores = {}) {
    auto call = [make = std::move(make)](std::size_t server) mutable {
      if constexpr (std::is_invocable_v<Make&, std::size_t>) {
        return make(server);
      } else {
        (void)server;
        return make();
      }
    };
    using State = decltype(call(std::size_t{}));
    return Place<State>{add(
        std::move(resource),
        [call](std::size_t server) mutable -> std::shared_ptr<void> {
          return std::shared_ptr<void>(new State(call(server)),
                                       [](void* state) { delete static_cast<State*>(state); });
        },
        std::move(cores))};
  }

  /// A kind with a function for each resource that can run it, `on(place, function)`. Its `count` is the
  /// expected number of tasks in flight until some have been seen; if no kind has one, one of each is
  /// expected.
  template <typename Signature, typename... Functions>
  TaskKind<Signature> kind(TaskClass kind, Functions... functions) {
    static_assert(sizeof...(Functions) > 0, "a kind needs a function, on(place, function)");
    return add_kind<Signature>(std::move(kind), [&](auto& table, auto& rates) {
      (add_function<Signature>(table, rates, std::move(functions)), ...);
    });
  }
  /// The same if the places are known only when the program runs.
  template <typename Signature, typename State, typename Function>
  TaskKind<Signature> kind(TaskClass kind, std::vector<FunctionAt<State, Function>> functions) {
    return add_kind<Signature>(std::move(kind), [&](auto& table, auto& rates) {
      for (auto& one : functions) add_function<Signature>(table, rates, std::move(one));
    });
  }

  CapacityHandle capacity(Capacity capacity) {
    capacities_.push_back(std::move(capacity));
    return {capacities_.size() - 1};
  }
  /// A task of the kind needs this much of the capacity while it runs on the resource.
  template <typename Signature, typename State>
  void needs(const TaskKind<Signature>& kind, Place<State> place, CapacityHandle capacity, double amount) {
    kinds_[index(kind.id())].capacity_needs.push_back({place.id, capacity.at, amount});
  }
  /// The same for servers, of this resource or of another.
  template <typename Signature, typename State, typename Other>
  void needs(const TaskKind<Signature>& kind, Place<State> place, Place<Other> servers, double amount) {
    kinds_[index(kind.id())].type.needs.push_back({place.id, servers_of(servers.id), amount});
  }

 private:
  friend class Executor;
  using MakeState = std::function<std::shared_ptr<void>(std::size_t server)>;
  struct OneResource {
    Resource resource;
    MakeState make;
    std::vector<int> cores;
  };
  struct CapacityNeed {
    ResourceId resource{};
    std::size_t capacity = 0;
    double amount = 0;
  };
  struct OneKind {
    TaskClass type;
    std::vector<std::pair<ResourceId, RatePrior>> rates;
    std::vector<CapacityNeed> capacity_needs;
    std::shared_ptr<const void> functions;  ///< owns the functions that tasks point to
  };

  ResourceId add(Resource resource, MakeState make, std::vector<int> cores) {
    resources_.push_back({std::move(resource), std::move(make), std::move(cores)});
    return resource_id(resources_.size() - 1);
  }

  template <typename Signature, typename AddFunctions>
  TaskKind<Signature> add_kind(TaskClass kind, const AddFunctions& add_functions) {
    using Functions = std::vector<typename TaskKind<Signature>::Function>;
    TaskKind<Signature> made;
    Functions table;
    std::vector<std::pair<ResourceId, RatePrior>> rates;
    add_functions(table, rates);
    made.id_ = task_type(kinds_.size());
    made.functions_ = std::make_shared<const Functions>(std::move(table));
    kinds_.push_back({std::move(kind), std::move(rates), {}, made.functions_});
    return made;
  }

  template <typename Signature, typename State, typename Function>
  static void add_function(std::vector<typename TaskKind<Signature>::Function>& table,
                           std::vector<std::pair<ResourceId, RatePrior>>& rates,
                           FunctionAt<State, Function> one) {
    using Values = typename TaskKind<Signature>::Values;
    table.resize(std::max(table.size(), index(one.place.id) + 1));
    rates.emplace_back(one.place.id, one.rate);
    constexpr bool fits = TaskKind<Signature>::template fits<State, Function>();
    static_assert(
        fits,
        "on(place, function): the function must take the arguments of the kind's signature, after a "
        "reference to the state of the place if it has one, return the signature's result, and be "
        "callable when const (a lambda that is not mutable)");
    if constexpr (fits) {
      table[index(one.place.id)] = [call = std::move(one.function)](void* state,
                                                                    Values& values) -> decltype(auto) {
        if constexpr (std::is_void_v<State>) {
          (void)state;
          return TaskKind<Signature>::apply(call, values);
        } else {
          return TaskKind<Signature>::apply(call, values, *static_cast<State*>(state));
        }
      };
    }
  }

  std::vector<OneResource> resources_;
  std::vector<OneKind> kinds_;
  std::vector<Capacity> capacities_;
};

}  // namespace allot
