// A certificate of planned service: a claim about what plans can reach, and the prices that prove it. Plain
// data, as in the file; nothing in this folder includes the solvers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allot/check/certificate.hpp"

namespace allot::check {

using Matrix = std::vector<std::vector<double>>;  ///< [type][resource] unless said otherwise

/// What tasks draw on besides the servers of resources.
struct Capacity {
  std::string name;
  double amount = 1;
  bool shared = false;
  friend bool operator==(const Capacity&, const Capacity&) = default;
};

/// What a task in service takes of a capacity. The servers of the resources are capacities, too, and come
/// first.
struct Need {
  std::size_t capacity = 0;
  double amount = 1;
  friend bool operator==(const Need&, const Need&) = default;
};

/// Threads that run their sequence of types over and over.
struct Group {
  std::string name;
  std::int64_t count = 1;
  std::vector<std::size_t> sequence;
  double worth = 1;  ///< of a round
  std::optional<double> max_response;
  friend bool operator==(const Group&, const Group&) = default;
};

struct Stream {
  std::size_t task = 0;
  double rate = 0;
  friend bool operator==(const Stream&, const Stream&) = default;
};

/// The part of a scenario that a proof about plans is about. A task's floor does not include its response
/// time limit.
struct PlanMachine {
  Machine machine;
  std::vector<double> idle_power;                   ///< per resource: watts of an idle server
  Matrix power;                                     ///< watts of a server at work on the type
  std::vector<std::optional<double>> max_response;  ///< per type
  std::vector<Capacity> capacities;
  /// [type][resource]: all that a task takes there, including its servers; empty where it cannot run.
  std::vector<std::vector<std::vector<Need>>> needs;
  std::vector<Group> groups;
  std::vector<Stream> arrivals;
  std::optional<double> power_cap;
  friend bool operator==(const PlanMachine&, const PlanMachine&) = default;

  std::size_t capacity_count() const noexcept { return machine.resources.size() + capacities.size(); }
  /// "servers of 'cpu'" or "'bus'".
  std::string name_of_capacity(std::size_t capacity) const;
  /// Whether anything has threads: then arrivals must be carried, and their multiple is not maximised.
  bool has_threads() const;
};

enum class PlanObjective {
  kValue,       ///< the most value per second
  kHeadroom,    ///< the largest multiple of the arrivals
  kShares,      ///< the most completions per second in the shares of the priorities
  kLeast,       ///< the most for the least served, relative to its priority
  kLogarithms,  ///< the largest sum of priority times log of completions
  kPower,       ///< the least power for a minimum value
};

/// The mean number of tasks in service, by kind of work.
struct PlanService {
  Matrix tasks;                ///< of the types' own threads
  std::vector<Matrix> groups;  ///< [group][type][resource]
  Matrix arrivals;             ///< [stream][resource]
};

/// A limit of the scenario that may be impossible to meet.
struct PlanLimit {
  enum class Kind { kFloor, kResponse, kRoundResponse, kPower, kArrivals };
  Kind kind = Kind::kFloor;
  std::size_t at = 0;  ///< type or group
  friend bool operator==(const PlanLimit&, const PlanLimit&) = default;
};

struct PlanClaim {
  bool infeasible = false;             ///< then the only other claim is `conflict`
  std::vector<PlanLimit> conflict;     ///< these limits cannot be met together
  std::optional<PlanService> service;  ///< absent: only one end of the range is claimed
  double at_least = 0;                 ///< the optimum is from at_least ...
  double at_most = 0;                  ///< ... to at_most
  double value = 0;                    ///< kPower: the minimum value
};

/// One number per row of the program. All but `stages`, `streams`, `arrivals` and `shares` are >= 0.
struct PlanPrices {
  std::vector<double> units;            ///< per capacity
  std::vector<double> threads;          ///< per type
  std::vector<double> group_threads;    ///< per group
  Matrix stages;                        ///< [group][type]
  std::vector<double> streams;          ///< per stream of arrivals
  std::vector<double> floors;           ///< per type
  std::vector<double> responses;        ///< per type
  std::vector<double> group_responses;  ///< per group
  double power = 0;                     ///< of the power_cap
  double arrivals = 0;                  ///< for carrying all of them; < 0: for their upper limit
  std::vector<double> shares;           ///< per type, kShares
  std::vector<double> levels;           ///< per type, kLeast
  std::vector<double> group_levels;     ///< per group, kLeast
  double value = 0;                     ///< of the minimum value, kPower
  std::vector<double>
      tangents;  ///< per type, kLogarithms: completions where the tangent touches the logarithm
  std::vector<double> group_tangents;  ///< per group
};

struct PlanCertificate {
  PlanObjective objective = PlanObjective::kValue;
  PlanMachine machine;
  PlanClaim claim;
  PlanPrices prices;
};

/// Whether the text is about planned service; false if it is not JSON.
bool is_about_a_plan(std::string_view text);

/// Reads a certificate, as `read_certificate` does.
struct ReadPlanCertificate {
  std::optional<PlanCertificate> certificate;
  std::string problem;
};
ReadPlanCertificate read_plan_certificate(std::string_view text);

}  // namespace allot::check
