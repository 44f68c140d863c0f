#include "allot/dispatch/sharing_fit.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "allot/base/error.hpp"
#include "allot/base/random.hpp"
#include "allot/dispatch/detail/sharing_descent.hpp"
#include "allot/model/filling.hpp"

namespace allot {
namespace {

using detail::SharingDescent;
using detail::SharingMixes;
using detail::SharingModel;

/// One more capacity is used if it reduces the error on left-out mixes by this part.
constexpr double kWorthACapacity = 0.05;

struct Checked {
  std::size_t types;
  std::size_t resources;
};

Checked check(std::span<const MixMeasurement> mixes) {
  if (mixes.empty()) throw InvalidModel("mixes", "needs at least one mix that was measured");
  const Checked shape{mixes.front().in_service.types(), mixes.front().in_service.resources()};
  for (std::size_t k = 0; k < mixes.size(); ++k) {
    for (const PerPair<double>* const values : {&mixes[k].in_service, &mixes[k].throughput}) {
      const std::string path = "mixes[" + std::to_string(k) + "]";
      if (values->types() != shape.types || values->resources() != shape.resources)
        throw InvalidModel(path, "must have as many types and resources as the first");
      const bool is_good = std::all_of(values->values().begin(), values->values().end(),
                                       [](double value) { return std::isfinite(value) && value >= 0; });
      if (!is_good) throw InvalidModel(path, "must hold numbers that are finite and not negative");
    }
    if (!(std::isfinite(mixes[k].weight) && mixes[k].weight >= 0))
      throw InvalidModel("mixes[" + std::to_string(k) + "].weight", "must be finite and not negative");
  }
  return shape;
}

/// Summarises absolute relative errors of the throughput of mixes.
SharingError summarised(std::vector<double> errors) {
  SharingError out;
  if (errors.empty()) return out;
  std::sort(errors.begin(), errors.end());
  const std::size_t n = errors.size();
  out.median = n % 2 == 1 ? errors[n / 2] : 0.5 * (errors[n / 2 - 1] + errors[n / 2]);
  out.worst = errors.back();
  out.within_tenth =
      static_cast<double>(std::upper_bound(errors.begin(), errors.end(), 0.1) - errors.begin()) /
      static_cast<double>(n);
  return out;
}

/// The error of the throughput of a mix, and the weight of the mix.
struct MixError {
  double error;
  double weight;
};

double mean_square(const std::vector<MixError>& errors) {
  double sum = 0;
  double weight = 0;
  for (const MixError& of : errors) {
    sum += of.weight * std::min(of.error * of.error, 0.25);  // limits the influence of a single outlier
    weight += of.weight;
  }
  return weight > 0 ? sum / weight : 0;
}

/// The middle 95% of some values.
FittedNumber interval(double value, std::vector<double> resampled) {
  FittedNumber out{value, value, value};
  if (resampled.size() < 2) return out;
  std::sort(resampled.begin(), resampled.end());
  const double last = static_cast<double>(resampled.size() - 1);
  const auto quantile = [&](double part) {
    const double at = part * last;
    const auto below = static_cast<std::size_t>(at);
    const std::size_t above = std::min(below + 1, resampled.size() - 1);
    return resampled[below] + (at - std::floor(at)) * (resampled[above] - resampled[below]);
  };
  out.low = std::min(value, quantile(0.025));
  out.high = std::max(value, quantile(0.975));
  return out;
}

/// Mixes count by their weight and by the square of their number of tasks in service: nobody plans for a
/// mostly idle machine, and tasks may be faster there than the model's full speed, which is that of a busy
/// machine with nothing overdrawn. The mean weight is 1.
std::vector<double> weights_of(std::span<const MixMeasurement> mixes) {
  std::vector<double> weights;
  double sum = 0;
  for (const MixMeasurement& mix : mixes) {
    const std::vector<double>& tasks = mix.in_service.values();
    const double busy = std::accumulate(tasks.begin(), tasks.end(), 0.0);
    weights.push_back(mix.weight * busy * busy);
    sum += weights.back();
  }
  for (double& weight : weights) weight = sum > 0 ? weight * static_cast<double>(weights.size()) / sum : 1.0;
  return weights;
}

class Fit {
 public:
  Fit(std::span<const MixMeasurement> mixes, const SharingFitOptions& options)
      : options_(options),
        shape_(check(mixes)),
        given_(mixes),
        mixes_(mixes),
        poll_(options.stop),
        all_(weights_of(mixes)) {}

  SharingFit run() {
    SharingFit out;
    out.mixes = mixes_.size();
    std::vector<SharingModel> models;
    double best_error = 0;
    std::size_t best = 0;
    for (std::size_t count = 0; count <= options_.most_capacities; ++count) {
      if (count > 0 && poll_.should_stop_now()) break;
      SharingDescent descent(mixes_, all_);
      models.push_back(descent.best(count, count > 0 ? &models.back() : nullptr));
      const std::vector<MixError> errors = left_out(count);
      std::vector<double> unweighted;
      for (const MixError& of : errors) unweighted.push_back(of.error);
      out.left_out.push_back(summarised(std::move(unweighted)));
      const double error = mean_square(errors);
      if (count == 0 || error < (1 - kWorthACapacity) * best_error) {
        best = count;
        best_error = error;
      }
    }
    const SharingModel& model = models[best];
    std::vector<double> errors;
    for (std::size_t k = 0; k < mixes_.size(); ++k) {
      if (const auto error = mixes_.error(model, k)) errors.push_back(*error);
    }
    out.in_sample = summarised(std::move(errors));
    set_numbers(model, resampled(model), out);
    return out;
  }

 private:
  /// Errors on mixes that the fit has not seen; each fold is fitted from scratch.
  std::vector<MixError> left_out(std::size_t capacities) {
    const std::size_t folds = std::min(options_.folds, mixes_.size());
    std::vector<std::size_t> order(mixes_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    RandomStream random(options_.seed, 1);
    for (std::size_t left = order.size(); left > 1; --left)
      std::swap(order[left - 1], order[static_cast<std::size_t>(random.below(left))]);
    std::vector<MixError> errors;
    for (std::size_t fold = 0; fold < folds && folds > 1; ++fold) {
      if (poll_.should_stop_now()) break;
      std::vector<double> times = all_;
      for (std::size_t at = fold; at < order.size(); at += folds) times[order[at]] = 0;
      SharingDescent descent(mixes_, times);
      std::optional<SharingModel> model;
      for (std::size_t count = 0; count <= capacities; ++count)
        model = descent.best(count, model ? &*model : nullptr);
      for (std::size_t at = fold; at < order.size(); at += folds) {
        if (const auto error = mixes_.error(*model, order[at]))
          errors.push_back({*error, given_[order[at]].weight});
      }
    }
    return errors;
  }

  std::vector<SharingModel> resampled(const SharingModel& model) {
    std::vector<SharingModel> out;
    RandomStream random(options_.seed, 2);
    for (std::size_t sample = 0; sample < options_.resamples; ++sample) {
      if (poll_.should_stop_now()) break;
      std::vector<double> times(mixes_.size(), 0.0);
      for (std::size_t draw = 0; draw < times.size(); ++draw) {
        const auto drawn = static_cast<std::size_t>(random.below(times.size()));
        times[drawn] += all_[drawn];
      }
      out.push_back(SharingDescent(mixes_, times).from(model));
    }
    return out;
  }

  void set_numbers(const SharingModel& model, const std::vector<SharingModel>& samples,
                   SharingFit& out) const {
    out.rates.assign(shape_.types, shape_.resources, {});
    out.needs.assign(model.needs.size(), PerPair<FittedNumber>(shape_.types, shape_.resources));
    for (std::size_t at = 0; at < mixes_.pairs().size(); ++at) {
      const auto [i, j] = mixes_.pairs()[at];
      std::vector<double> values;
      for (const SharingModel& sample : samples) {
        if (sample.rates[at] > 0)
          values.push_back(sample.rates[at]);  // otherwise no resampled mix has the pair
      }
      out.rates(i, j) = interval(model.rates[at], std::move(values));
      for (std::size_t r = 0; r < model.needs.size(); ++r) {
        values.clear();
        for (const SharingModel& sample : samples) values.push_back(sample.needs[r][at]);
        out.needs[r](i, j) = interval(model.needs[r][at], std::move(values));
      }
    }
  }

  const SharingFitOptions& options_;
  Checked shape_;
  std::span<const MixMeasurement> given_;
  SharingMixes mixes_;
  StopPoll poll_;
  std::vector<double> all_;  // the weight of every mix
};

}  // namespace

SharingFit fit_sharing(std::span<const MixMeasurement> mixes, const SharingFitOptions& options) {
  return Fit(mixes, options).run();
}

PerPair<double> SharingFit::predict(const PerPair<double>& in_service) const {
  const std::size_t types = rates.types();
  const std::size_t resources = rates.resources();
  std::vector<std::vector<double>> taken;
  for (const PerPair<FittedNumber>& capacity : needs) {
    std::vector<double>& values = taken.emplace_back();
    for (const FittedNumber& need : capacity.values()) values.push_back(need.value);
  }
  Filling filling(taken, types * resources);
  const PairSpan levels(filling.levels(in_service.values()), resources);
  PerPair<double> out(types, resources);
  for (const TaskType i : out.type_ids()) {
    for (const ResourceId j : out.resource_ids())
      out(i, j) = rates(i, j).value * in_service(i, j) * levels(i, j);
  }
  return out;
}

System with_sharing(const System& system, const SharingFit& fit) {
  std::vector<Capacity> capacities = system.capacities();
  std::vector<TaskClass> tasks = system.tasks();
  PerPair<double> rates(system.type_count(), system.resource_count(), system.rates().values());
  const auto is_taken = [&](const std::string& name) {
    return std::any_of(capacities.begin(), capacities.end(),
                       [&](const Capacity& c) { return c.name == name; }) ||
           std::any_of(system.resources().begin(), system.resources().end(),
                       [&](const Resource& resource) { return resource.name == name; });
  };
  std::size_t number = 1;
  for (const PerPair<FittedNumber>& needs : fit.needs) {
    while (is_taken("shared" + std::to_string(number))) ++number;
    const CapacityId r = capacity_id(system.resource_count() + capacities.size());
    capacities.push_back({.name = "shared" + std::to_string(number), .amount = 1, .shared = true});
    for (const TaskType i : system.types()) {
      for (const ResourceId j : system.resources_for(i)) {
        if (needs(i, j).value > 0) tasks[index(i)].needs.push_back({j, r, needs(i, j).value});
      }
    }
  }
  for (const TaskType i : system.types()) {
    for (const ResourceId j : system.resources_for(i)) {
      if (fit.rates(i, j).value > 0) rates(i, j) = fit.rates(i, j).value;
    }
  }
  return System(system.resources(), std::move(tasks), Rates(std::move(rates)), std::move(capacities));
}

}  // namespace allot
