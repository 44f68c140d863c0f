// The tasks on an NVIDIA GPU and on its JPEG engines. Built where nvcc is found.
#pragma once

#include <memory>
#include <string>

#include "bench/real_machine/inputs.hpp"
#include "bench/real_machine/kernel.hpp"

namespace real_machine {

/// What the device is, in a line; empty where there is none.
std::string describe_gpu();

/// Makes copies from the inputs to the device as fast as they can be; once, before any kernel is made.
void pin_inputs(const Inputs& inputs);

/// With a stream of its own. Copies in and out are part of the task.
std::unique_ptr<Kernel> make_gpu_kernel(Work work, const Inputs& inputs);

/// Decoding on the hardware engines, all of them at once; null where the GPU has none.
std::unique_ptr<Kernel> make_jpeg_engine_kernel(const Inputs& inputs);

}  // namespace real_machine
