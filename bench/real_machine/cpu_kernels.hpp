// The tasks on one CPU core.
#pragma once

#include <memory>

#include "bench/real_machine/inputs.hpp"
#include "bench/real_machine/kernel.hpp"

namespace real_machine {

/// Null where the library that the work needs was not there at build time. The inputs must outlive it.
std::unique_ptr<Kernel> make_cpu_kernel(Work work, const Inputs& inputs);

}  // namespace real_machine
