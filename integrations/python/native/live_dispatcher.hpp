// A live dispatcher for Python: its methods, its tickets, and its rates.
#pragma once

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

#include "allot/base/quote.hpp"
#include "allot/dispatch/dispatcher.hpp"
#include "allot/model/fields.hpp"
#include "integrations/python/native/attend.hpp"
#include "integrations/python/native/convert.hpp"
#include "integrations/python/native/directory.hpp"
#include "integrations/python/native/lifetime.hpp"
#include "integrations/python/native/python_policy.hpp"
#include "integrations/python/native/rate_priors.hpp"
#include "integrations/python/native/values.hpp"

namespace allot::python {

/// The names that a caller may use. Each dispatcher has its own, by which it recognises its tickets.
struct Directories {
  explicit Directories(const System& system)
      : tasks(system.tasks()), resources(system.resources()), capacities(system.capacities()) {}
  Directory tasks;
  Directory resources;
  Directory capacities;  ///< without those that stand for servers
};

/// A ticket that is given back once, to its own dispatcher.
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

inline std::chrono::milliseconds milliseconds(const char* option, py::handle value) {
  const double seconds = number(
      option, value, [](double given) { return given >= 1e-3 && given <= 1e6; },
      "must be from 0.001 to 1e6 seconds");
  return std::chrono::milliseconds(std::llround(1e3 * seconds));
}

/// A named tuple of the package. Runs Python code, during which no thread may be ended.
template <typename... Values>
py::object record(const char* kind, Values&&... values) {
  const NativeCall call;
  return py::module_::import("allot._records").attr(kind)(std::forward<Values>(values)...);
}

inline const char* word(Breaker breaker) {
  constexpr const char* kWords[] = {"closed", "open", "half-open"};
  return kWords[static_cast<std::size_t>(breaker)];
}

/// A dispatcher for Python. Calls that may wait or solve run without the interpreter lock; the planner's
/// thread never needs it. Additions keep the lock, so that names and dispatcher grow together.
class LiveDispatcher {
 public:
  LiveDispatcher(const System& system, std::vector<RatePrior> priors, double worth, DispatcherOptions options)
      : directories_(std::make_shared<Directories>(system)),
        worth_(worth),
        process_(getpid()),
        random_(options.seed) {
    // The first plan may take long, and the caller may interrupt it.
    Attendant attendant;
    options.policy_options.solve.flag = &attendant.stop();
    options.capacities = system.capacities();
    dispatcher_ = attendant.run([&] {
      return std::make_shared<Dispatcher>(system.resources(), system.tasks(), std::move(priors),
                                          std::move(options));
    });
  }

  /// The dispatcher of another object, such as a feed, with the same names.
  LiveDispatcher(std::shared_ptr<Directories> directories, std::shared_ptr<Dispatcher> dispatcher,
                 double worth, std::uint64_t seed)
      : directories_(std::move(directories)),
        worth_(worth),
        process_(getpid()),
        random_(seed),
        dispatcher_(std::move(dispatcher)) {}

  ~LiveDispatcher() {
    // After a fork there is no planner to wait for, and its locks may be held.
    if (getpid() != process_) {
      static_cast<void>(new std::shared_ptr<Dispatcher>(std::move(dispatcher_)));
      return;
    }
    if (dispatcher_) end_without_lock(std::move(dispatcher_));  // else closed, or ended with the interpreter
  }

  /// Ends the planner once no other thread is in a call; later calls raise RuntimeError. May be called again.
  void close() {
    if (getpid() != process_ || !dispatcher_) return;
    is_closed_ = true;
    std::shared_ptr<Dispatcher> last = std::move(dispatcher_);
    const Unlocked released;
    last.reset();
  }
  bool is_closed() const noexcept { return is_closed_; }

  LiveDispatcher(const LiveDispatcher&) = delete;
  LiveDispatcher& operator=(const LiveDispatcher&) = delete;

  const Directories& directories() const noexcept { return *directories_; }

  // ---- for every task

  std::optional<LiveTicket> place(py::handle task) {
    const TaskType i = type(task);
    const Clock::time_point now = Clock::now();
    const std::optional<Ticket> ticket = live()->place(i, now);
    if (!ticket) return {};
    return LiveTicket{directories_, *ticket, now};
  }

  /// Places a task with a function of the state and the task type; None if it cannot go anywhere now. The
  /// function sees the rates of the latest plan, and the expected work as remaining work. The caller admits
  /// one thread at a time, because of the function's memory.
  std::optional<LiveTicket> place_by(const py::object& function, py::handle task) {
    const TaskType i = type(task);
    const Clock::time_point now = Clock::now();
    const std::shared_ptr<Dispatcher> dispatcher = live();
    if (const std::optional<Ticket> trial = dispatcher->place_trial(i, now))
      return LiveTicket{directories_, *trial, now};
    const LivePlan latest = plan();
    const System& system = latest.plan->system;
    // A type that the plan does not know yet is placed by the dispatcher, and so is a task that must leave
    // the place that was chosen for it.
    if (index(i) >= system.type_count() || system.resources_for(i).empty()) return place(task);
    const std::vector<Count> in_flight = dispatcher->statistics().in_flight;
    std::vector<Count> counts;
    std::vector<Count> totals(system.resource_count());
    std::vector<double> remaining(totals.size());
    for (const TaskType k : system.types()) {
      for (const ResourceId j : system.resource_ids()) {
        counts.push_back(in_flight[index(k) * directories_->resources.size() + index(j)]);
        totals[index(j)] += counts.back();
        if (system.can_run(k, j))
          remaining[index(j)] += static_cast<double>(counts.back()) / system.rate(k, j);
      }
    }
    const Situation situation{.system = &system, .counts = counts, .totals = totals, .remaining = remaining};
    const ResourceId j = decide(function, latest.scenario, i, situation, memory_, random_);
    if (!dispatcher->allows(i, j)) return place(task);
    return LiveTicket{directories_, dispatcher->place_at(i, j, now), now};
  }

  LiveTicket place_at(py::handle task, py::handle resource) {
    const Clock::time_point now = Clock::now();
    return {directories_, live()->place_at(type(task), this->resource(resource), now), now};
  }

  void complete(py::handle given_back, const py::object& seconds, const py::object& ok) {
    LiveTicket& ticket = ticket_of(given_back);
    const Clock::time_point now = Clock::now();
    const double busy = seconds.is_none()
                            ? std::max(0.0, std::chrono::duration<double>(now - ticket.began).count())
                            : number("seconds", seconds, is_amount, "must be a number >= 0");
    const bool succeeded = flag("ok", ok);
    take_back(ticket);
    live()->complete(ticket.ticket, busy, succeeded, now);
  }

  void cancel(py::handle given_back) {
    LiveTicket& ticket = ticket_of(given_back);
    take_back(ticket);
    live()->cancel(ticket.ticket);
  }

  bool allows(py::handle task, py::handle resource) const {
    return live()->allows(type(task), this->resource(resource));
  }

  // ---- changes

  void set_counts(const py::object& counts) {
    const std::vector<std::pair<std::size_t, py::object>> values =
        directories_->tasks.values("counts", counts, false);
    std::vector<std::pair<TaskType, Count>> changes;
    for (const auto& [at, value] : values)
      changes.emplace_back(task_type(at), static_cast<Count>(whole("counts", value, 0, kMaxCount)));
    const Unlocked released;
    for (const auto& [i, count] : changes) live()->set_count(i, count);
  }

  void set_priorities(const py::object& priorities) {
    std::vector<double> values(directories_->tasks.size());
    for (const auto& [at, value] : directories_->tasks.values("priorities", priorities, true))
      values[at] = number("priorities", value);
    const Unlocked released;
    live()->set_priorities(values);
  }

  void add_task(const py::object& rates, const py::dict& fields) {
    TaskClass added;
    set_fields(task_fields(), fields, added);
    const std::vector<RatePrior> priors = priors_of(rates, directories_->resources, worth_);
    live()->add_type(added, priors);
    directories_->tasks.add(added.name);
  }

  void add_resource(const py::object& rates, const py::dict& fields) {
    Resource added;
    set_fields(resource_fields(), fields, added);
    const std::vector<RatePrior> priors = priors_of(rates, directories_->tasks, worth_);
    live()->add_resource(added, priors);
    directories_->resources.add(added.name);
  }

  /// Sets the values that a caller gives, by the keys of the table of fields. None: not given.
  template <typename Owner>
  void set_fields(std::span<const Field<Owner>> fields, const py::dict& given, Owner& owner) const {
    for (const auto& [key, value] : given) {
      const auto word = py::cast<std::string>(key);
      const auto field = std::find_if(fields.begin(), fields.end(), [&](const Field<Owner>& candidate) {
        return candidate.key == word && !std::holds_alternative<Special>(candidate.member);
      });
      if (field == fields.end()) throw py::type_error("got an unexpected keyword argument '" + word + "'");
      if (value.is_none()) continue;
      std::visit([&, given_value = value](auto member) { set(*field, member, given_value, owner); },
                 field->member);
    }
  }

  template <typename Owner, typename Member>
  void set(const Field<Owner>& field, Member member, py::handle value, Owner& owner) const {
    const char* const option = field.key.data();
    if constexpr (std::is_same_v<Member, std::string Owner::*>) {
      owner.*member = text(option, value);
    } else if constexpr (std::is_same_v<Member, Count Owner::*>) {
      owner.*member = static_cast<Count>(whole(option, value, static_cast<std::uint64_t>(field.least),
                                               static_cast<std::uint64_t>(field.most)));
    } else if constexpr (std::is_same_v<Member, double Owner::*> ||
                         std::is_same_v<Member, std::optional<double> Owner::*>) {
      owner.*member = number(option, value);
    } else if constexpr (std::is_same_v<Member, bool Owner::*>) {
      owner.*member = flag(option, value);
    } else if constexpr (std::is_same_v<Member, std::optional<ResourceId> Owner::*>) {
      owner.*member = resource(value);
    } else if constexpr (std::is_same_v<Member, Kind Owner::*> ||
                         std::is_same_v<Member, Discipline Owner::*>) {
      const std::string word = py::isinstance<py::str>(value) ? text(option, value) : std::string();
      const auto at = std::find(field.words.begin(), field.words.end(), word);
      if (at == field.words.end())
        raise_invalid(option, "must be one of " + quote::names(field.words) + ", is " + shown(value));
      owner.*member = static_cast<std::decay_t<decltype(owner.*member)>>(at - field.words.begin());
    } else if constexpr (std::is_same_v<Member, std::vector<ResourceNumber> Owner::*>) {
      for (const auto& [at, watts] : by_resource(option, value))
        (owner.*member).push_back({resource_id(at), number(option, watts)});
    } else if constexpr (std::is_same_v<Member, std::vector<Need> Owner::*>) {
      owner.*member = needs_from(option, value);
    }
  }

  std::vector<std::pair<std::size_t, py::object>> by_resource(const char* option, py::handle value) const {
    if (!py::isinstance<py::dict>(value))
      raise_invalid(option, "must be a dict by resource, is " + shown(value));
    return directories_->resources.values(option, py::reinterpret_borrow<py::object>(value), false);
  }

  /// {resource: {capacity: amount}}; the name of a resource stands for its servers.
  std::vector<Need> needs_from(const char* option, py::handle value) const {
    Directory capacities;  // in the order in which they are numbered
    for (const Directory* const named : {&directories_->resources, &directories_->capacities}) {
      for (std::size_t at = 0; at < named->size(); ++at) capacities.add(named->name(at));
    }
    std::vector<Need> needs;
    for (const auto& [at, draws] : by_resource(option, value)) {
      if (!py::isinstance<py::dict>(draws))
        raise_invalid(option, "must be a dict by capacity for each resource, is " + shown(draws));
      for (const auto& [capacity, amount] : capacities.values(option, draws, false))
        needs.push_back({resource_id(at), capacity_id(capacity), number(option, amount)});
    }
    return needs;
  }

  void remove_task(py::handle task) {
    const TaskType i = type(task);
    const Unlocked released;
    live()->remove_type(i);
  }

  void change(py::handle resource, void (Dispatcher::*method)(ResourceId)) {
    const ResourceId j = this->resource(resource);
    const Unlocked released;
    (live().get()->*method)(j);
  }

  void disable(py::handle task, py::handle resource) {
    const TaskType i = type(task);
    const ResourceId j = this->resource(resource);
    const Unlocked released;
    live()->disable(i, j);
  }

  void report_running(py::handle task, py::handle resource, const py::object& seconds) {
    const TaskType i = type(task);
    const ResourceId j = this->resource(resource);
    if (!py::isinstance<py::iterable>(seconds))
      raise_invalid("seconds", "must be a list of numbers, is " + shown(seconds));
    std::vector<double> busy;
    for (const py::handle value : seconds)
      busy.push_back(number("seconds", value, is_amount, "must be numbers >= 0"));
    const Unlocked released;
    live()->report_running(i, j, busy);
  }

  // ---- reports

  LivePlan plan() const {
    const Unlocked released;
    std::shared_ptr<const Plan> plan = live()->plan();
    auto scenario = std::make_shared<Scenario>(Scenario{"", plan->system, {}, {}, {}, {}});
    return {std::move(scenario), std::move(plan)};
  }

  py::object estimate(py::handle task, py::handle resource) const {
    const TaskType i = type(task);
    const ResourceId j = this->resource(resource);
    RateEstimate known;
    {
      const Unlocked released;
      known = live()->estimate(i, j);
    }
    return record("RateEstimate", known.seconds, known.seconds_low, known.seconds_high, known.rate,
                  known.rate_low, known.rate_high, known.weight, known.completions, known.failures,
                  known.outliers, known.resets, word(known.breaker));
  }

  py::object estimates() const {
    const std::size_t types = directories_->tasks.size();
    const std::size_t resources = directories_->resources.size();
    std::vector<RateEstimate> known;
    {
      const Unlocked released;
      for (const TaskType i : IdRange<TaskType>(types)) {
        for (const ResourceId j : IdRange<ResourceId>(resources)) known.push_back(live()->estimate(i, j));
      }
    }
    const auto matrix = [&](auto get) {
      py::array_t<decltype(get(known[0]))> array({types, resources});
      auto* out = array.mutable_data();
      for (const RateEstimate& estimate : known) *out++ = get(estimate);
      return read_only(std::move(array));
    };
    const auto numbers = [&](double RateEstimate::*member) {
      return matrix([member](const RateEstimate& estimate) { return estimate.*member; });
    };
    const auto counts = [&](std::uint64_t RateEstimate::*member) {
      return matrix([member](const RateEstimate& estimate) { return static_cast<Count>(estimate.*member); });
    };
    py::list breakers;
    for (const RateEstimate& estimate : known) breakers.append(word(estimate.breaker));
    return record(
        "RateEstimates", directories_->tasks.names(), directories_->resources.names(),
        numbers(&RateEstimate::seconds), numbers(&RateEstimate::seconds_low),
        numbers(&RateEstimate::seconds_high), numbers(&RateEstimate::rate), numbers(&RateEstimate::rate_low),
        numbers(&RateEstimate::rate_high), numbers(&RateEstimate::weight), counts(&RateEstimate::completions),
        counts(&RateEstimate::failures), counts(&RateEstimate::outliers), counts(&RateEstimate::resets),
        py::module_::import("numpy").attr("array")(breakers).attr("reshape")(types, resources));
  }

  py::object statistics() const {
    const DispatchStatistics seen = live()->statistics();
    const std::size_t resources = directories_->resources.size();
    const auto matrix = [&](const auto& values) {
      py::array_t<Count> array({values.size() / resources, resources});
      Count* out = array.mutable_data();
      for (const auto value : values) *out++ = static_cast<Count>(value);
      return read_only(std::move(array));
    };
    return record("DispatchStatistics", matrix(seen.completions), matrix(seen.failures),
                  matrix(seen.in_flight), seen.placed, seen.ended, seen.explored, seen.unseen, seen.seconds,
                  seen.throughput, seen.departures, seen.mean_response, seen.mean_in_flight, seen.little);
  }

  py::object doubt(const py::object& draws) const {
    const std::uint64_t tries = whole("draws", draws, 1, 1'000'000);
    PlanDoubt doubt;
    {
      const Unlocked released;
      doubt = live()->doubt(tries);
    }
    return record("PlanDoubt", doubt.draws, doubt.would_change, doubt.at_stake);
  }

  bool solve(const py::object& always) {
    const bool in_any_case = flag("always", always);
    const Unlocked released;
    return live()->solve(Clock::now(), in_any_case);
  }

 private:
  /// Throws RuntimeError if there is none: in a fork, once closed, and at the interpreter's end.
  std::shared_ptr<Dispatcher> live() const {
    if (getpid() != process_) raise_forked("this dispatcher", "make a new one in the child");
    if (is_closed_) throw std::runtime_error("this dispatcher is closed");
    if (!dispatcher_) raise_ending();
    return dispatcher_;
  }

  TaskType type(py::handle task) const { return task_type(directories_->tasks.at("task", task)); }
  ResourceId resource(py::handle resource) const {
    return resource_id(directories_->resources.at("resource", resource));
  }

  static LiveTicket& ticket_of(py::handle value) {
    if (!py::isinstance<LiveTicket>(value))
      raise_invalid("ticket", "must be one that `place` gave, is " + shown(value));
    return value.cast<LiveTicket&>();
  }

  void take_back(LiveTicket& ticket) const {
    if (ticket.from != directories_) raise_invalid("ticket", "is of another dispatcher");
    if (!ticket.open) raise_invalid("ticket", "has been given back before");
    ticket.open = false;
  }

  std::shared_ptr<Directories> directories_;
  double worth_;
  pid_t process_;
  std::vector<std::uint32_t> memory_;  ///< for a policy that is a function
  RandomStream random_;
  std::shared_ptr<Dispatcher> dispatcher_;
  bool is_closed_ = false;
  EndedInTime ended_in_time_{[this] { return std::shared_ptr<void>(std::move(dispatcher_)); }};
};

}  // namespace allot::python
