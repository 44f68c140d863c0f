// The search behind `fit_sharing`: finds the needs that explain mixes best, by descent along one need at a
// time.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "allot/dispatch/sharing_fit.hpp"
#include "allot/model/filling.hpp"

namespace allot::detail {

/// Values by pair, in the numbering of `SharingMixes`.
struct SharingModel {
  std::vector<std::vector<double>> needs;  ///< of each capacity, all of amount 1
  std::vector<double> rates;               ///< at full speed; 0: unknown
};

/// The measurements, for the pairs that occur in some mix.
class SharingMixes {
 public:
  explicit SharingMixes(std::span<const MixMeasurement> mixes);

  /// A pair whose tasks ended in a mix.
  struct Seen {
    std::size_t pair;
    double log_seconds;  ///< mean time of a task in service
    double share;        ///< of the completions of the mix
    double weight;       ///< of its error; sums to 1 over the mix
  };
  struct Mix {
    std::vector<double> in_service;  ///< by pair
    std::vector<Seen> seen;
    double throughput = 0;
  };

  std::size_t size() const noexcept { return mixes_.size(); }
  const Mix& operator[](std::size_t k) const noexcept { return mixes_[k]; }
  const std::vector<std::pair<TaskType, ResourceId>>& pairs() const noexcept { return pairs_; }
  /// The most tasks that were in service at a resource in a mix.
  double most_at(ResourceId j) const noexcept { return most_at_[j]; }
  std::size_t resources() const noexcept { return most_at_.size(); }

  /// |predicted / measured - 1| for the throughput of a mix; nothing if the model has no rate for it.
  std::optional<double> error(const SharingModel& model, std::size_t k) const;

 private:
  std::vector<std::pair<TaskType, ResourceId>> pairs_;
  std::vector<Mix> mixes_;
  PerResource<double> most_at_;
};

/// Uses each mix as often as `times` says; 0 leaves it out. Both must outlive this object.
class SharingDescent {
 public:
  SharingDescent(const SharingMixes& mixes, std::span<const double> times);

  /// The best model with `capacities` capacities, from several starts. One of them is `smaller`, the best
  /// model with one capacity less; the result is never worse than it.
  SharingModel best(std::size_t capacities, const SharingModel* smaller);
  /// The best model near `start`.
  SharingModel from(const SharingModel& start);

 private:
  using Needs = std::vector<std::vector<double>>;

  double start_at(Needs needs);
  bool improve(std::size_t r, std::size_t pair, double need);
  bool improve_all(std::size_t r, double factor);
  bool exchange(std::size_t pair);
  bool sweep(double step);
  void descend(double first_step);
  void find_residuals(const Needs& needs, std::optional<std::size_t> changed, std::vector<double>& out) const;
  double score(const std::vector<double>& residuals, const Needs& needs, std::vector<double>* rates) const;
  bool keep_if_better(Needs& needs, std::optional<std::size_t> changed);
  SharingModel model() const;

  const SharingMixes& mixes_;
  std::span<const double> times_;
  std::vector<std::size_t> begin_;  // where each mix's residuals begin
  double counted_ = 0;              // mixes
  Needs needs_;
  std::vector<double> residuals_;  // log of seconds at full speed, for all pairs seen
  std::vector<double> trial_;
  double score_ = 0;
};

}  // namespace allot::detail
