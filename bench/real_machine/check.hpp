// Do all implementations of a type of task find the same?
#pragma once

#include <string>
#include <vector>

#include "bench/real_machine/machine.hpp"

namespace real_machine {

struct Agreement {
  std::string type;
  std::string station;
  double difference = 0;  ///< from the first station that runs the type: see `allowed`
  double allowed = 0;
  bool agrees() const { return difference <= allowed; }
};

/// Runs every kernel of every server on every input. The difference is the mean over a result's values: of
/// pixels in levels of 255 (decoders may round differently), of products relative to the mean size of an
/// entry; sorting and interpreting must agree to the bit.
std::vector<Agreement> check_kernels(const Machine& machine);

/// The first station's products and sorted keys against plain computations of another kind. Throws
/// std::runtime_error, saying what is wrong.
void check_reference(const Machine& machine, const Inputs& inputs);

}  // namespace real_machine
