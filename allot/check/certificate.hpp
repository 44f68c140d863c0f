// A certificate: a claim about a system, and its proof. Plain data, as in the file; nothing in this folder
// includes the solvers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace allot::check {

struct Resource {
  std::string name;
  std::int64_t servers = 1;
  bool fcfs = false;
  std::int64_t min_depth = 1;
  friend bool operator==(const Resource&, const Resource&) = default;
};

struct Task {
  std::string name;
  std::int64_t count = 0;
  double floor = 0;
  double worth = 1;  ///< of one completion
  std::optional<double> priority;
  friend bool operator==(const Task&, const Task&) = default;
};

/// The part of a scenario that a proof is about. Numbers are exactly the doubles that the text denotes.
struct Machine {
  std::vector<Resource> resources;
  std::vector<Task> tasks;
  std::vector<std::vector<double>> rates;  ///< [type][resource]; 0: cannot run there
  friend bool operator==(const Machine&, const Machine&) = default;
};

enum class Objective {
  kThroughput,  ///< the most value per second of all assignments
  kShares,      ///< the most completions per second of all time shares that match the priorities exactly
};

struct Claim {
  bool infeasible = false;                            ///< then nothing else is claimed
  std::vector<std::vector<std::int64_t>> assignment;  ///< [type][resource]; empty: the claim is only a bound
  std::vector<std::vector<double>> time_shares;       ///< with kShares, [type][resource]
  double at_least = 0;                                ///< the assignment completes this much ...
  double at_most = 0;                                 ///< ... and nothing completes more than this
};

struct Prices {
  std::vector<double> task;
  std::vector<double> completion;  ///< >= 0; empty: all 0
  std::vector<double> unit;        ///< >= 0; kShares only
  std::vector<double> depth;       ///< >= 0; kShares only
};

struct Split {
  std::size_t resource = 0;
  std::optional<std::size_t> task;  ///< absent: by all tasks at the resource
  std::int64_t at = 0;
  std::size_t low = 0;   ///< part with at most `at`
  std::size_t high = 0;  ///< part with more
};

struct Part {
  std::vector<Prices> prices;
  std::optional<Split> split;
};

struct Certificate {
  Objective objective = Objective::kThroughput;
  Machine machine;
  Claim claim;
  std::vector<Part> parts;  ///< the first is the whole; parts come after those they are split from
};

/// Reads a certificate. On failure `certificate` is absent and `problem` says what is wrong, and where. The
/// content of the text never makes it throw.
struct ReadCertificate {
  std::optional<Certificate> certificate;
  std::string problem;
};
ReadCertificate read_certificate(std::string_view text);

}  // namespace allot::check
