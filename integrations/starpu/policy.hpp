// The door between StarPU's C and the policy: no exception comes through.
#pragma once

#include <starpu.h>
#include <starpu_scheduler.h>

#include <memory>

#include "integrations/starpu/context.hpp"

namespace allot::starpu {

/// A policy of StarPU's whose `init` makes the context's state and gives it to `attach`.
starpu_sched_policy make_policy(const char* name, const char* description, void (*init)(unsigned)) noexcept;

/// From now on the callbacks of a scheduling context go there.
void attach(unsigned context, std::unique_ptr<Context> state) noexcept;

}  // namespace allot::starpu
