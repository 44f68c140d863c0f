// One way to do a type of task: the thing that a server of a resource runs.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace real_machine {

/// Made once for each server that will run it; holds what that server needs, such as buffers and a stream.
class Kernel {
 public:
  virtual ~Kernel() = default;

  /// Does the task on the input of that number, whole: the result is in host memory when it returns. Throws
  /// std::runtime_error on any failure of a library or a device.
  virtual void run(std::size_t input) = 0;

  /// The result of the last run, for comparison between implementations; empty: there is none.
  virtual std::vector<double> result() const { return {}; }
};

}  // namespace real_machine
