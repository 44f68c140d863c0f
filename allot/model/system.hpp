// The machine and its work: resources, task types, and how fast each runs on each.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allot/base/per.hpp"
#include "allot/model/assignment.hpp"
#include "allot/model/rates.hpp"

namespace allot {

enum class Kind { kGeneral, kSpecialized };  ///< GP: any type it has a rate for. SA: its own type only.
enum class Discipline { kPs, kFcfs };        ///< even processor sharing, or first come first served

struct Resource {
  std::string name;
  Kind kind = Kind::kGeneral;
  Count servers = 1;  ///< identical servers with one queue
  Discipline discipline = Discipline::kPs;
  Count min_depth = 1;      ///< holds no task, or at least this many
  double power = 1.0;       ///< watts of one busy server
  double idle_power = 0.0;  ///< watts of one idle server
  friend bool operator==(const Resource&, const Resource&) = default;
};

/// What tasks use besides the servers of the resource where they run: cores that feed a GPU, memory, a
/// bus.
struct Capacity {
  std::string name;
  double amount = 1.0;
  bool shared = false;  ///< true: when overdrawn, all tasks slow down; false: tasks wait for it
  friend bool operator==(const Capacity&, const Capacity&) = default;
};

/// What a task takes of a capacity while it is in service at a resource.
struct Need {
  ResourceId resource{};
  CapacityId capacity{};
  double amount = 1.0;
  friend bool operator==(const Need&, const Need&) = default;
};

/// What a task in service takes of a capacity.
struct Draw {
  CapacityId capacity{};
  double amount = 1.0;
  friend bool operator==(const Draw&, const Draw&) = default;
};

/// A number for one resource.
struct ResourceNumber {
  ResourceId resource{};
  double value = 0;
  friend bool operator==(const ResourceNumber&, const ResourceNumber&) = default;
};

/// One task type and the threads that run it. Job files and dispatchers use the same struct, so every new
/// member exists there, too.
struct TaskClass {
  std::string name;
  Count count = 0;                     ///< threads whose tasks are of this type: N_i
  std::optional<ResourceId> home;      ///< absent: the fastest resource
  std::optional<double> priority;      ///< weight of the desired share; for all types or for none
  std::optional<double> floor;         ///< minimum completions per second
  double worth = 1.0;                  ///< value of one completion
  std::optional<double> max_response;  ///< maximum mean seconds from ready to done
  std::vector<ResourceNumber> power;   ///< power of a server that runs this type, if not the resource's
  std::vector<Need> needs;             ///< if not just one server of the resource
  friend bool operator==(const TaskClass&, const TaskClass&) = default;
};

/// A closed queueing network of resources and task types (paper section 3.1, for any numbers of each).
/// Immutable and validated, so all code may trust it. Ties are broken towards the lowest index.
class System {
 public:
  /// Throws InvalidModel naming the first invalid field: see docs/reference/scenario.md for the rules.
  System(std::vector<Resource> resources, std::vector<TaskClass> tasks, Rates rates,
         std::vector<Capacity> capacities = {});

  std::size_t type_count() const noexcept { return tasks_.size(); }
  std::size_t resource_count() const noexcept { return resources_.size(); }
  IdRange<TaskType> types() const noexcept { return IdRange<TaskType>(tasks_.size()); }
  IdRange<ResourceId> resource_ids() const noexcept { return IdRange<ResourceId>(resources_.size()); }

  const Resource& resource(ResourceId j) const noexcept { return resources_[index(j)]; }
  const TaskClass& task(TaskType i) const noexcept { return tasks_[index(i)]; }
  const std::vector<Resource>& resources() const noexcept { return resources_; }
  const std::vector<TaskClass>& tasks() const noexcept { return tasks_; }
  const Rates& rates() const noexcept { return rates_; }

  /// The servers of every resource are also capacities; they come first.
  const std::vector<Capacity>& capacities() const noexcept { return capacities_; }
  std::size_t capacity_count() const noexcept { return resources_.size() + capacities_.size(); }
  IdRange<CapacityId> capacity_ids() const noexcept { return IdRange<CapacityId>(capacity_count()); }
  double amount(CapacityId r) const noexcept {
    return is_servers(r) ? static_cast<double>(resources_[index(r)].servers) : other(r).amount;
  }
  bool is_servers(CapacityId r) const noexcept { return index(r) < resources_.size(); }
  bool is_shared(CapacityId r) const noexcept { return !is_servers(r) && other(r).shared; }
  const std::string& capacity_name(CapacityId r) const noexcept {
    return is_servers(r) ? resources_[index(r)].name : other(r).name;
  }
  /// Everything that a task takes while it is in service, its servers first; empty if it cannot run there.
  std::span<const Draw> needs(TaskType i, ResourceId j) const noexcept {
    const std::size_t pair = index(i) * resource_count() + index(j);
    return std::span(draws_).subspan(draws_begin_[pair], draws_begin_[pair + 1] - draws_begin_[pair]);
  }
  /// The servers of j that a task of type i takes there.
  double servers_taken(TaskType i, ResourceId j) const noexcept {
    return has_needs_ ? needs(i, j).front().amount : 1.0;
  }
  /// The most tasks of a type that can be in service at a resource with nothing else there.
  double most_in_service(TaskType i, ResourceId j) const noexcept;
  /// Whether some task takes anything other than one server of the resource where it runs.
  bool has_needs() const noexcept { return has_needs_; }
  /// Whether tasks at two resources use one capacity: then the throughput is not a sum over resources.
  bool is_joined() const noexcept { return is_joined_; }

  double rate(TaskType i, ResourceId j) const noexcept { return rates_(i, j); }
  bool can_run(TaskType i, ResourceId j) const noexcept { return rates_(i, j) > 0; }
  /// 1 / rate, or 0 if the type cannot run there: the mean seconds of a task of size 1.
  double seconds_per_task(TaskType i, ResourceId j) const noexcept { return seconds_per_task_(i, j); }
  Count count(TaskType i) const noexcept { return tasks_[index(i)].count; }
  /// Q, the total number of threads.
  Count population() const noexcept { return population_; }
  /// The home of a type: as given, otherwise its fastest resource. Absent for a type that can run nowhere.
  std::optional<ResourceId> home(TaskType i) const noexcept { return homes_[i]; }
  /// The resources that can run a type, in index order.
  std::span<const ResourceId> resources_for(TaskType i) const noexcept {
    return std::span(allowed_).subspan(allowed_begin_[index(i)],
                                       allowed_begin_[index(i) + 1] - allowed_begin_[index(i)]);
  }
  /// Desired shares p_i, normalised to sum 1; empty when no priorities were given.
  std::span<const double> shares() const noexcept { return shares_; }
  /// The value of one completion of a type.
  double worth(TaskType i) const noexcept { return worths_[i]; }
  /// Whether worths differ from 1: then value and throughput differ.
  bool has_worths() const noexcept { return has_worths_; }
  /// Value per second of one server that works on a type: worth times rate.
  double value_rate(TaskType i, ResourceId j) const noexcept { return value_rates_(i, j); }
  /// Minimum completions per second of a type, by its floor and by its response time (Little: X_i >= N_i /
  /// T_i); 0 if it has neither.
  double floor(TaskType i) const noexcept { return floors_[i]; }
  /// Watts of one server of j that works on type i.
  double power(TaskType i, ResourceId j) const noexcept;
  bool has_floors() const noexcept { return has_floors_; }
  /// Whether any resource has a minimum depth above 1.
  bool has_depths() const noexcept { return has_depths_; }
  /// The most tasks that could ever be at a resource: the threads of all types that can run there.
  Count reach(ResourceId j) const noexcept { return reach_[j]; }
  /// Whether some state has no exact throughput formula: an fcfs resource with several servers at which tasks
  /// of different rates can wait, or held needs that do not fill their capacity. The Performance of a state
  /// says whether it is one of these.
  bool approximate() const noexcept { return approximate_; }

  /// Copies with one change. They throw like the constructor.
  System with_counts(std::span<const Count> counts) const;
  System with_servers(ResourceId j, Count servers) const;
  /// The same system with another amount of a capacity; an amount of servers must be whole.
  System with_amount(CapacityId r, double amount) const;
  /// The same machine with other work on it, and the same work on another machine.
  System with_tasks(std::vector<TaskClass> tasks) const;
  System with_resources(std::vector<Resource> resources) const;
  System with_rates(Rates rates) const;
  System with_rate(TaskType i, ResourceId j, double rate) const;
  /// The same system with other worths, one per type.
  System with_worths(std::span<const double> worths) const;
  /// The same system with every resource under one discipline.
  System with_discipline(Discipline discipline) const;

  friend bool operator==(const System& a, const System& b) {
    return a.resources_ == b.resources_ && a.tasks_ == b.tasks_ && a.rates_ == b.rates_ &&
           a.capacities_ == b.capacities_;
  }

 private:
  void derive();
  void derive_needs();
  const Capacity& other(CapacityId r) const noexcept { return capacities_[index(r) - resources_.size()]; }

  std::vector<Resource> resources_;
  std::vector<TaskClass> tasks_;
  Rates rates_;
  std::vector<Capacity> capacities_;
  PerPair<double> seconds_per_task_;
  PerPair<double> value_rates_;
  PerType<double> floors_;
  PerType<double> worths_;
  PerType<std::optional<ResourceId>> homes_;
  std::vector<ResourceId> allowed_;
  std::vector<std::size_t> allowed_begin_;
  std::vector<double> shares_;
  PerResource<Count> reach_;
  std::vector<Draw> draws_;
  std::vector<std::size_t> draws_begin_;  // by pair, row after row
  Count population_ = 0;
  bool has_floors_ = false;
  bool has_worths_ = false;
  bool has_depths_ = false;
  bool approximate_ = false;
  bool has_needs_ = false;
  bool is_joined_ = false;
};

/// The largest count of threads of a type, servers of a resource or minimum depth: anything larger is a
/// typing error.
inline constexpr Count kMaxCount = 1'000'000'000;

/// Every task at its home: the paper's diagonal start, and Best Fit.
Assignment home_assignment(const System& system);
/// The same into existing storage, which is reused when its shape fits.
void home_assignment(const System& system, Assignment& assignment);

/// Whether the assignment has the system's shape, places every thread exactly once and only where it can
/// run, and leaves no resource between empty and its minimum depth.
bool is_placement(const System& system, const Assignment& assignment);

}  // namespace allot
