// The predictions of a sharing fit, corrected by the measurements of earlier mixes.
#pragma once

#include <cstddef>
#include <vector>

#include "allot/base/per.hpp"
#include "allot/dispatch/sharing_fit.hpp"
#include "allot/model/system.hpp"

namespace allot {

/// Even sharing slows all tasks that draw on a capacity alike, and real machines deviate from this; rates
/// also change while a machine runs. This class follows both without another model: the logarithm of measured
/// over predicted throughput of a pair is a Gaussian process. For a pair that draws on a shared capacity, it
/// is a process over the loads of all such pairs, so mixes count by similarity. For the others, it is a
/// process over time, common to the pairs of a resource, so mixes count by how recent they are. If nothing
/// similar or recent ran, the prediction is that of the fit.
class SharingCorrection {
 public:
  /// Takes the numbers of servers from the system: loads are parts of them.
  SharingCorrection(SharingFit fit, const System& system);

  /// Learns from a mix that ran at a time, in seconds since any moment. The cost grows with the square of the
  /// number of learned mixes. Throws InvalidModel if the mix has another shape.
  void learn(double seconds, const MixMeasurement& mix);

  /// Tasks per second of each pair, with these numbers in service at the time.
  PerPair<double> predict(double seconds, const PerPair<double>& in_service) const;

 private:
  struct Seen {
    std::size_t pair;
    double seconds;
    std::vector<double> loads;
  };
  /// Correlated pairs. `lower` is the Cholesky factor of the covariances of what was seen, row by row, and
  /// `whitened` its inverse times the logarithms.
  struct Group {
    std::vector<Seen> seen;
    std::vector<std::vector<double>> lower;
    std::vector<double> whitened;
  };

  std::vector<double> loads(const PerPair<double>& in_service) const;
  double covariance(const Seen& a, const Seen& b) const;
  std::vector<double> whiten(const Group& group, const Seen& at) const;

  SharingFit fit_;
  std::vector<std::size_t> sharing_;  // pairs that draw on a shared capacity
  std::vector<double> servers_;       // of each pair's resource
  std::vector<bool> is_sharing_;      // by pair
  std::vector<std::size_t> group_of_;
  std::vector<Group> groups_;
};

}  // namespace allot
