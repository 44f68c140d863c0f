#include "allot/dispatch/sharing_correction.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "allot/base/error.hpp"

namespace allot {
namespace {

/// Standard deviations of logarithms. Chosen by predicting mixes of two machines from the mixes before them;
/// halving or doubling any of them changes little.
constexpr double kOfPair = 0.1;         // constant error of a pair
constexpr double kByLoad = 0.5;         // in proportion to a load that fills a resource
constexpr double kByMix = 0.15;         // in any way that depends on the loads
constexpr double kOfResource = 0.1;     // all pairs of a resource together, for a while
constexpr double kOfMeasurement = 0.1;  // of one measurement
/// The distance of loads at which mixes are dissimilar, as a part of a resource.
constexpr double kUnlike = 0.4;
constexpr double kWhileSeconds = 60;

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

}  // namespace

SharingCorrection::SharingCorrection(SharingFit fit, const System& system) : fit_(std::move(fit)) {
  if (fit_.rates.types() != system.type_count() || fit_.rates.resources() != system.resource_count())
    throw InvalidModel("fit", "must have as many types and resources as the system");
  for (const TaskType i : system.types()) {
    for (const ResourceId j : system.resource_ids()) {
      const std::size_t pair = servers_.size();
      servers_.push_back(static_cast<double>(system.resource(j).servers));
      bool is_sharing = false;
      for (const PerPair<FittedNumber>& needs : fit_.needs) is_sharing |= needs(i, j).value > 0;
      is_sharing_.push_back(is_sharing);
      if (is_sharing) sharing_.push_back(pair);
      group_of_.push_back(is_sharing ? system.resource_count() + pair : index(j));
    }
  }
  groups_.resize(system.resource_count() + servers_.size());
}

std::vector<double> SharingCorrection::loads(const PerPair<double>& in_service) const {
  std::vector<double> out;
  for (const std::size_t pair : sharing_) out.push_back(in_service.values()[pair] / servers_[pair]);
  return out;
}

/// The covariance of two samples in the same group.
double SharingCorrection::covariance(const Seen& a, const Seen& b) const {
  const double of_pair = a.pair == b.pair ? kOfPair * kOfPair : 0.0;
  if (!is_sharing_[a.pair])
    return of_pair + kOfResource * kOfResource * std::exp(-std::abs(a.seconds - b.seconds) / kWhileSeconds);
  double apart = 0;
  for (std::size_t k = 0; k < a.loads.size(); ++k)
    apart += (a.loads[k] - b.loads[k]) * (a.loads[k] - b.loads[k]);
  return of_pair + kByLoad * kByLoad * dot(a.loads, b.loads) +
         kByMix * kByMix * std::exp(-apart / (2 * kUnlike * kUnlike));
}

/// The covariances with what the group has seen, by forward substitution.
std::vector<double> SharingCorrection::whiten(const Group& group, const Seen& at) const {
  std::vector<double> out;
  out.reserve(group.seen.size() + 1);
  for (std::size_t row = 0; row < group.seen.size(); ++row) {
    const std::vector<double>& lower = group.lower[row];
    double left = covariance(at, group.seen[row]);
    for (std::size_t k = 0; k < row; ++k) left -= lower[k] * out[k];
    out.push_back(left / lower[row]);
  }
  return out;
}

void SharingCorrection::learn(double seconds, const MixMeasurement& mix) {
  for (const PerPair<double>* const values : {&mix.in_service, &mix.throughput}) {
    if (values->types() != fit_.rates.types() || values->resources() != fit_.rates.resources())
      throw InvalidModel("mix", "must have as many types and resources as the fit");
  }
  const PerPair<double> predicted = fit_.predict(mix.in_service);
  const std::vector<double> loads_here = loads(mix.in_service);
  for (std::size_t pair = 0; pair < servers_.size(); ++pair) {
    const double measured = mix.throughput.values()[pair];
    if (!(predicted.values()[pair] > 0 && measured > 0)) continue;
    Group& group = groups_[group_of_[pair]];
    Seen seen{pair, seconds, loads_here};
    std::vector<double> row = whiten(group, seen);
    // Apart from rounding, the remaining variance is at least that of the noise.
    const double left = covariance(seen, seen) + kOfMeasurement * kOfMeasurement - dot(row, row);
    const double diagonal = std::sqrt(std::max(left, 0.5 * kOfMeasurement * kOfMeasurement));
    const double off = std::log(measured / predicted.values()[pair]);
    group.whitened.push_back((off - dot(row, group.whitened)) / diagonal);
    row.push_back(diagonal);
    group.lower.push_back(std::move(row));
    group.seen.push_back(std::move(seen));
  }
}

PerPair<double> SharingCorrection::predict(double seconds, const PerPair<double>& in_service) const {
  PerPair<double> out = fit_.predict(in_service);
  const std::vector<double> loads_here = loads(in_service);
  std::size_t pair = 0;
  for (const TaskType i : out.type_ids()) {
    for (const ResourceId j : out.resource_ids()) {
      const Group& group = groups_[group_of_[pair]];
      if (out(i, j) > 0)
        out(i, j) *= std::exp(dot(whiten(group, {pair, seconds, loads_here}), group.whitened));
      ++pair;
    }
  }
  return out;
}

}  // namespace allot
