// Reads the properties of a StarPU task: its type, where it can run, and its expected time.
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
/// For people: the codelet's name, otherwise its model's symbol; with the footprint, if types are by
/// footprint.
std::string name_of(starpu_task* task, TypesBy by);

/// Whether tasks with the same key may be able to run on different workers, so that each must be checked.
bool choosy(const starpu_task* task) noexcept;

/// The first implementation that a worker can run; absent: it cannot run the task.
std::optional<unsigned> implementation(starpu_task* task, int worker);

/// StarPU's estimate of the transfer time of the task's data to a worker; 0: none, or unknown.
double transfer_seconds(starpu_task* task, int worker);

/// The sizes of the task's data.
TaskData data_of(starpu_task* task);

/// Between all memory nodes, as read or measured by StarPU.
Buses buses_of_starpu();

/// What one task shows about its type on a worker: the rate from the performance model and the known transfer
/// times of its data, or an unknown rate. The model's calibration is based on more than one run, so it counts
/// like several completions. If this task may not run there (`where`, its workers, its codelet's
/// `can_execute`), that says nothing about other tasks of the type.
RatePrior model_prior(const starpu_task* task, int worker, unsigned context, TypesBy by);

}  // namespace allot::starpu
