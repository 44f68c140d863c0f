// The interface between StarPU's C and the policy: no exception passes through it.
#pragma once

#include <starpu.h>
#include <starpu_scheduler.h>

#include <memory>

#include "integrations/starpu/context.hpp"

namespace allot::starpu {

/// A StarPU policy whose `init` creates the context's state and passes it to `attach`.
starpu_sched_policy make_policy(const char* name, const char* description, void (*init)(unsigned)) noexcept;

/// From now on the callbacks of a scheduling context use this state.
void attach(unsigned context, std::unique_ptr<Context> state) noexcept;

}  // namespace allot::starpu
