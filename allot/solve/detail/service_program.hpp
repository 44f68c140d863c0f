// Planned service as a linear program: x, the mean number of tasks of a type in service at a resource, under
// the capacities of the machine, the numbers of threads, and the limits of the scenario.
//
// Work comes in three kinds: types with threads of their own, groups of threads that visit several types, and
// streams of arrivals. Each has its own columns, so a type may be worked on for several of them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "allot/solve/detail/bounded_program.hpp"
#include "allot/solve/solution.hpp"

namespace allot::detail {

/// Values of plans that differ by at most this, relative, count as equal.
inline constexpr double kSamePlan = 1e-9;

class ServiceProgram {
 public:
  /// The problem must outlive the program.
  explicit ServiceProgram(const Problem& problem);

  BoundedProgram& program() noexcept { return program_; }

  /// A limit of the scenario that may be impossible to meet.
  struct Limit : PlanLimit {
    std::size_t row = 0;
    double amount = 0;  ///< as in the scenario
  };
  const std::vector<Limit>& limits() const noexcept { return limits_; }
  std::string name_of(const Limit& limit) const;
  static std::string_view unit_of(const Limit& limit) noexcept;
  /// Why it cannot be met, even alone: the end of a sentence that begins with its name.
  std::string why_too_much(const Limit& limit) const;
  /// What may help if the limit is too much alone: another end of that sentence, or nothing.
  std::string what_helps(const Limit& limit) const;
  /// Sets the row to the limit, or removes the limit.
  void impose(const Limit& limit, double amount);
  void drop(const Limit& limit);

  /// Types with threads of their own, or groups of threads.
  bool has_closed_work() const noexcept { return has_closed_work_; }
  bool has_arrivals() const noexcept { return arrivals_.has_value(); }

  enum class Work { kOwn, kGroup, kStream };  ///< threads of the type's own, a group of threads, arrivals
  /// A task type at a resource, for some work.
  struct Served {
    TaskType type{};
    ResourceId resource{};
    std::size_t column = 0;
    Work work = Work::kOwn;
    std::size_t at = 0;  ///< group or stream
    bool is_counted() const noexcept { return work == Work::kOwn; }
  };
  const std::vector<Served>& served() const noexcept { return served_; }

  /// Which row is which, except for limits.
  struct Rows {
    std::vector<std::size_t> units;                   ///< per capacity, those of the resources first
    std::vector<std::optional<std::size_t>> threads;  ///< per type, if it has threads
    std::vector<std::size_t> group_threads;           ///< per group
    /// Per group: a type that it visits, how often in a round, and the row that ties its completions to the
    /// rounds.
    struct Stage {
      TaskType type{};
      double times = 1;
      std::size_t row = 0;
    };
    std::vector<std::vector<Stage>> stages;
    std::vector<std::optional<std::size_t>> streams;  ///< per stream of arrivals, unless it is empty
    std::optional<std::size_t> arrivals;              ///< the part or multiple of them that is carried
    std::vector<std::size_t> shares;                  ///< per type, once `make_share_rows` has made them
    std::optional<std::size_t> value;                 ///< the value that `aim_at_power` keeps
  };
  const Rows& rows() const noexcept { return rows_; }
  const Problem& problem() const noexcept { return problem_; }

  /// Work with threads: columns, and their gains in value.
  std::vector<std::pair<std::size_t, double>> value_terms() const;
  /// Maximises the value of work with threads.
  void aim_at_value();
  void aim_at_column(std::size_t column);
  /// Minimises power while the value is at least `least_value`.
  void aim_at_power(double least_value);
  /// Maximises the multiple of the arrivals that is carried. Drops the limit that all of them are carried.
  void aim_at_headroom();
  /// Carries exactly the arrivals, no multiple of them.
  void carry_load();
  void carry_no_more_than_load();

  /// Work that fairness compares: types with threads and a weight above 0, and groups of threads.
  struct Party {
    double weight = 1;
    double most = 0;               ///< no plan completes more
    std::optional<TaskType> type;  ///< absent: a group of threads
    std::size_t group = 0;
    std::size_t row = 0;                                ///< its completions, without limits at first
    std::vector<std::pair<std::size_t, double>> terms;  ///< of the row: column, coefficient
  };
  std::vector<Party> make_parties();
  /// lower <= factor * completions of the party + entries added later <= upper.
  std::size_t add_row_like(const Party& party, double lower, double upper = kInfinity, double factor = 1);
  /// One row per task type that must be 0: all its completions, minus the entries added later.
  const std::vector<std::size_t>& make_share_rows();

  std::vector<double> rounds(const std::vector<double>& columns) const;
  double value(const std::vector<double>& columns) const;
  /// The largest fraction or multiple of the arrivals, in an answer to `aim_at_headroom`.
  double carried(const std::vector<double>& columns) const { return columns[*arrivals_]; }
  double mean_power(const std::vector<double>& columns) const;
  double extra_power(const Served& one) const;  ///< watts of a task in service beyond those of idle servers
  /// What the machine completes of a type with `threads` threads and no other work.
  double most_alone(TaskType i, double threads) const;
  double idle_power() const noexcept { return static_cast<double>(idle_power_); }
  /// Watts that a cap leaves for work, beyond those of the idle machine.
  double power_left(double cap) const noexcept { return static_cast<double>(cap - idle_power_); }
  /// The least watts of the whole machine if at most `saved` watts of the idle machine can be saved.
  double least_power(double saved) const;
  /// Per second, if all of them are carried.
  double value_of_arrivals() const;
  std::vector<double> time_shares(const std::vector<double>& columns) const;  ///< row-major
  std::vector<CapacityUse> capacities(const std::vector<double>& columns,
                                      const std::vector<double>& prices) const;

 private:
  void add_counted();
  void add_groups();
  void add_arrivals();
  void add_limits();
  /// Columns for a type on every resource that can run it. They enter `flow` with their rates.
  void serve(TaskType i, double threads, std::optional<std::size_t> threads_row,
             std::optional<std::size_t> flow, Work work, std::size_t at = 0);
  double rounding_of_power(double cap) const;  ///< the possible error of `power_left`
  /// Tasks/s of a type without threads; empty if it has threads or nothing arrives.
  std::optional<double> arriving(TaskType i) const;
  void limit(Limit::Kind kind, std::size_t at, std::size_t row, double amount);

  const Problem& problem_;
  const System& system_;
  BoundedProgram program_;
  std::vector<Served> served_;
  Rows rows_;
  std::vector<std::size_t> rounds_;  // columns, per group
  std::vector<double> most_rounds_;
  double most_arrivals_ = 0;             // upper limit on the multiple, from the scarcest stream
  std::optional<std::size_t> arrivals_;  // column: the fraction or multiple of them that is carried
  std::optional<std::size_t> power_row_;
  bool has_closed_work_ = false;
  long double idle_power_ = 0;  // a cap may be only slightly above a large idle power
  std::vector<Limit> limits_;
};

}  // namespace allot::detail
