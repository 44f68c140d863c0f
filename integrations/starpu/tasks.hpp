// What StarPU says about a task: its type, where it can run, and how long it is expected to take.
#pragma once

#include <starpu.h>

#include <optional>
#include <string>

#include "allot/dispatch/rate_estimator.hpp"
#include "integrations/starpu/buses.hpp"
#include "integrations/starpu/settings.hpp"
#include "integrations/starpu/types.hpp"

namespace allot::starpu {

TypeKey key_of(starpu_task* task, TypesBy by);
/// For people: the codelet's name, else its model's symbol; with a class of footprints, that as well.
std::string name_of(starpu_task* task, TypesBy by);

/// Whether two tasks with the same key can run on the same workers: if not, each is to be asked.
bool choosy(const starpu_task* task) noexcept;

/// The first implementation that a worker can run; none: it cannot run the task.
std::optional<unsigned> implementation(starpu_task* task, int worker);

/// How long StarPU expects the transfers of the task's data to a worker to take; 0: not at all, or not known.
double transfer_seconds(starpu_task* task, int worker);

/// The sizes of what the task works on.
TaskData data_of(starpu_task* task);

/// Between all memory nodes, as StarPU has read or measured it.
Buses buses_of_starpu();

/// What one task says about all of its type on a worker. From the performance model and what is known of the
/// transfers of its data: the rate, or that it is not known. The model's calibration speaks for more than one
/// run, so that it counts like some completions. That *this* task may not run there (`where`, its workers,
/// its codelet's `can_execute`) says nothing about the others.
RatePrior model_prior(const starpu_task* task, int worker, unsigned context, TypesBy by);

}  // namespace allot::starpu
