// What a fit of what tasks share predicts, corrected by how mixes that ran before came out.
#pragma once

#include <cstddef>
#include <vector>

#include "allot/base/per.hpp"
#include "allot/dispatch/sharing_fit.hpp"
#include "allot/model/system.hpp"

namespace allot {

/// Even sharing slows all that draw on a capacity alike, and rates change while a machine runs. This follows
/// both without another model: the logarithm of what a pair completed, over what the fit says, is a Gaussian
/// process. For a pair that draws on something shared it is one of the loads of all such pairs, so mixes
/// count by how alike they are; for the others it is one of time, common to the pairs of a resource, so mixes
/// count by how recent they are. Where nothing alike or recent ran, the prediction is that of the fit.
class SharingCorrection {
 public:
  /// The system says how many servers resources have: loads are parts of them.
  SharingCorrection(SharingFit fit, const System& system);

  /// Of a mix that ran at a time, in seconds since any moment. Its cost grows with the square of the mixes
  /// that were learned. Throws InvalidModel when the mix has another shape.
  void learn(double seconds, const MixMeasurement& mix);

  /// Tasks per second of each pair, with so many in service at a time.
  PerPair<double> predict(double seconds, const PerPair<double>& in_service) const;

 private:
  struct Seen {
    std::size_t pair;
    double seconds;
    std::vector<double> loads;
  };
  /// Pairs that say something about each other. `lower` is the Cholesky factor of what was seen, row after
  /// row, and `whitened` its inverse times the logarithms.
  struct Group {
    std::vector<Seen> seen;
    std::vector<std::vector<double>> lower;
    std::vector<double> whitened;
  };

  std::vector<double> loads(const PerPair<double>& in_service) const;
  double covariance(const Seen& a, const Seen& b) const;
  std::vector<double> whiten(const Group& group, const Seen& at) const;

  SharingFit fit_;
  std::vector<std::size_t> sharing_;  // pairs that draw on something shared
  std::vector<double> servers_;       // of each pair's resource
  std::vector<bool> is_sharing_;      // by pair
  std::vector<std::size_t> group_of_;
  std::vector<Group> groups_;
};

}  // namespace allot
