// Planned service as a linear program: x, the mean number of tasks of a type in service at a resource, under
// the capacities of the machine, the threads there are, and the limits that were asked for.
//
// Work comes in three kinds: types with threads of their own, groups of threads that visit several types, and
// streams of arrivals. Each has columns of its own, so that a type may be worked on for several of them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "allot/solve/detail/bounded_program.hpp"
#include "allot/solve/solution.hpp"

namespace allot::detail {

/// Values of plans that differ by no more than this, relative, are the same.
inline constexpr double kSamePlan = 1e-9;

class ServiceProgram {
 public:
  /// The problem must outlive the program.
  explicit ServiceProgram(const Problem& problem);

  BoundedProgram& program() noexcept { return program_; }

  /// Something that was asked for and may be too much.
  struct Limit : PlanLimit {
    std::size_t row = 0;
    double amount = 0;  ///< as it was asked for
  };
  const std::vector<Limit>& limits() const noexcept { return limits_; }
  std::string name_of(const Limit& limit) const;
  static std::string_view unit_of(const Limit& limit) noexcept;
  /// Why it cannot be kept, even alone: the end of a sentence that begins with its name.
  std::string why_too_much(const Limit& limit) const;
  /// Sets the row as the limit says, or takes it away.
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

  /// Which row is which, but for limits.
  struct Rows {
    std::vector<std::size_t> units;                   ///< per capacity, those of the resources first
    std::vector<std::optional<std::size_t>> threads;  ///< per type, where it has any
    std::vector<std::size_t> group_threads;           ///< per group
    /// Per group: a type that it visits, how often, and the row that makes its completions so many times the
    /// rounds.
    struct Stage {
      TaskType type{};
      double times = 1;
      std::size_t row = 0;
    };
    std::vector<std::vector<Stage>> stages;
    std::vector<std::optional<std::size_t>> streams;  ///< per stream of arrivals, unless it is empty
    std::optional<std::size_t> arrivals;              ///< the part or multiple of them that is carried
    std::vector<std::size_t> shares;                  ///< per type, once they are made
    std::optional<std::size_t> value;                 ///< that is kept
  };
  const Rows& rows() const noexcept { return rows_; }
  const Problem& problem() const noexcept { return problem_; }

  /// What has threads: columns, and what they gain in value.
  std::vector<std::pair<std::size_t, double>> value_terms() const;
  /// The value of what has threads becomes what is maximised.
  void aim_at_value();
  void aim_at_column(std::size_t column);
  /// The least power becomes it. `least_value` is kept.
  void aim_at_power(double least_value);
  /// As large a multiple of the arrivals as possible. A limit that they be carried is dropped.
  void aim_at_headroom();
  /// The arrivals as they are, no multiple of them.
  void carry_load();
  void carry_no_more_than_load();

  /// What fairness is about: types with threads and a weight above 0, and groups of threads.
  struct Party {
    double weight = 1;
    double most = 0;               ///< no plan completes more of it
    std::optional<TaskType> type;  ///< absent: a group of threads
    std::size_t group = 0;
    std::size_t row = 0;                                ///< what it completes, as yet unlimited
    std::vector<std::pair<std::size_t, double>> terms;  ///< of the row: column, coefficient
  };
  std::vector<Party> make_parties();
  /// lower <= factor * what the party completes + whatever is added to the row <= upper.
  std::size_t add_row_like(const Party& party, double lower, double upper = kInfinity, double factor = 1);
  /// A row per task type that must be 0: all of its completions, less what is added to the row.
  const std::vector<std::size_t>& make_share_rows();

  std::vector<double> rounds(const std::vector<double>& columns) const;
  double value(const std::vector<double>& columns) const;
  /// The largest part or multiple of the arrivals, in an answer to `aim_at_headroom`.
  double carried(const std::vector<double>& columns) const { return columns[*arrivals_]; }
  double mean_power(const std::vector<double>& columns) const;
  double extra_power(const Served& one) const;  ///< watts of a task in service beyond those of idle servers
  /// What the machine completes of a type with so many threads and nothing else to do.
  double most_alone(TaskType i, double threads) const;
  double idle_power() const noexcept { return static_cast<double>(idle_power_); }
  /// Watts that a cap leaves for work beyond what the idle machine takes.
  double power_left(double cap) const noexcept { return static_cast<double>(cap - idle_power_); }
  /// Watts of the whole machine that are needed where at most so many of those of the idle one can be saved.
  double least_power(double saved) const;
  /// Per second, where all of them are carried.
  double value_of_arrivals() const;
  std::vector<double> time_shares(const std::vector<double>& columns) const;  ///< row-major
  std::vector<CapacityUse> capacities(const std::vector<double>& columns,
                                      const std::vector<double>& prices) const;

 private:
  void add_counted();
  void add_groups();
  void add_arrivals();
  void add_limits();
  /// Columns for a type on every resource that can run it. They stand in `flow` with their rates.
  void serve(TaskType i, double threads, std::optional<std::size_t> threads_row,
             std::optional<std::size_t> flow, Work work, std::size_t at = 0);
  double rounding_of_power(double cap) const;  ///< what `power_left` may be off
  /// Tasks/s of a type that has no threads; nothing where it has, or nothing arrives.
  std::optional<double> arriving(TaskType i) const;
  void limit(Limit::Kind kind, std::size_t at, std::size_t row, double amount);

  const Problem& problem_;
  const System& system_;
  BoundedProgram program_;
  std::vector<Served> served_;
  Rows rows_;
  std::vector<std::size_t> rounds_;  // columns, per group
  std::vector<double> most_rounds_;
  double most_arrivals_ = 0;             // of them that the machine completes of the scarcest stream
  std::optional<std::size_t> arrivals_;  // column: the part or multiple of them that is carried
  std::optional<std::size_t> power_row_;
  bool has_closed_work_ = false;
  long double idle_power_ = 0;  // a cap may be a little above much of it
  std::vector<Limit> limits_;
};

}  // namespace allot::detail
