#include "integrations/starpu/tasks.hpp"

#include <starpu_scheduler.h>

#include <cmath>
#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

namespace allot::starpu {
namespace {

constexpr double kModelWorth = 10;

/// Null for a missing or empty name.
const char* given(const char* name) noexcept { return name == nullptr || *name == '\0' ? nullptr : name; }

const char* symbol_of(const starpu_task* task) noexcept {
  return task->cl->model == nullptr ? nullptr : given(task->cl->model->symbol);
}

std::uint64_t word(const void* pointer) noexcept { return reinterpret_cast<std::uintptr_t>(pointer); }

template <typename Function>
std::uint64_t word(Function* function) noexcept {
  return reinterpret_cast<std::uintptr_t>(function);
}

/// A hash of the contents in which two codelets would differ.
std::uint64_t content(const starpu_codelet& codelet) noexcept {
  std::uint64_t hash = join(word(static_cast<const void*>(codelet.name)), codelet.where);
  hash = join(hash, word(static_cast<const void*>(codelet.model)));
  hash = join(hash, word(codelet.cpu_funcs[0]));
  hash = join(hash, word(codelet.cuda_funcs[0]));
  return join(hash, word(codelet.opencl_funcs[0]));
}

std::uint64_t text_hash(std::string_view text) noexcept {
  std::uint64_t hash = text.size();
  for (const char letter : text) hash = join(hash, static_cast<unsigned char>(letter));
  return hash;
}

}  // namespace

TypeKey key_of(starpu_task* task, TypesBy by) {
  const char* const symbol = symbol_of(task);
  if (by == TypesBy::kSymbol && symbol != nullptr) return {0, text_hash(symbol)};
  TypeKey key{reinterpret_cast<std::uintptr_t>(task->cl), content(*task->cl)};
  if (by == TypesBy::kFootprint) key.what = join(key.what, starpu_task_data_footprint(task));
  return key;
}

std::string name_of(starpu_task* task, TypesBy by) {
  const char* const symbol = symbol_of(task);
  const char* const name = given(task->cl->name);
  std::string text = by == TypesBy::kSymbol && symbol != nullptr ? symbol
                     : name != nullptr                           ? name
                     : symbol != nullptr                         ? symbol
                                                                 : "codelet";
  if (by != TypesBy::kFootprint) return text;
  char footprint[16];
  std::snprintf(footprint, sizeof footprint, "@%08x", starpu_task_data_footprint(task));
  return text + footprint;
}

bool choosy(const starpu_task* task) noexcept {
  // If a task has no `where`, StarPU sets it to that of its codelet at submission.
  const bool elsewhere = task->where >= 0 && task->where != static_cast<std::int32_t>(task->cl->where);
  return task->cl->can_execute != nullptr || task->workerids_len != 0 || elsewhere;
}

std::optional<unsigned> implementation(starpu_task* task, int worker) {
  unsigned which = 0;
  if (starpu_worker_can_execute_task_first_impl(static_cast<unsigned>(worker), task, &which) == 0) {
    return std::nullopt;
  }
  return which;
}

double transfer_seconds(starpu_task* task, int worker) {
  const double microseconds =
      starpu_task_expected_data_transfer_time_for(task, static_cast<unsigned>(worker));
  return std::isfinite(microseconds) && microseconds > 0 ? 1e-6 * microseconds : 0;
}

TaskData data_of(starpu_task* task) {
  constexpr double kMegabyte = 1e6;  // as in the bus model
  TaskData data;
  const unsigned buffers = STARPU_TASK_GET_NBUFFERS(task);
  for (unsigned k = 0; k < buffers; ++k) {
    const starpu_data_handle_t handle = STARPU_TASK_GET_HANDLE(task, k);
    if (handle == nullptr) continue;
    const auto mode = static_cast<unsigned>(STARPU_TASK_GET_MODE(task, k));
    const double size = static_cast<double>(starpu_data_get_size(handle)) / kMegabyte;
    data.megabytes += size;
    if ((mode & STARPU_R) != 0) data.read_megabytes += size;
    if ((mode & STARPU_W) != 0) data.written_megabytes += size;
  }
  return data;
}

Buses buses_of_starpu() {
  const auto nodes = static_cast<std::size_t>(starpu_memory_nodes_get_count());
  std::vector<double> speeds;
  for (unsigned from = 0; from < nodes; ++from) {
    for (unsigned to = 0; to < nodes; ++to) {
      const double speed = from == to ? 0.0 : starpu_transfer_bandwidth(from, to);
      speeds.push_back(std::isfinite(speed) && speed > 0 ? speed : 0.0);
    }
  }
  return {nodes, std::move(speeds)};
}

RatePrior model_prior(const starpu_task* task, int worker, unsigned context, TypesBy by) {
  // The task without its own restrictions.
  starpu_task any = *task;
  any.where = static_cast<std::int32_t>(any.cl->where);
  any.workerids_len = 0;
  const std::optional<unsigned> which = implementation(&any, worker);
  if (which) {
    const double microseconds =
        starpu_task_expected_length(&any, starpu_worker_get_perf_archtype(worker, context), *which);
    // NaN: not calibrated; 0: no model.
    if (!std::isfinite(microseconds) || microseconds <= 0) return RatePrior::unknown();
    return RatePrior::measured(1 / (1e-6 * microseconds + transfer_seconds(&any, worker)), 0.3, kModelWorth);
  }
  if (by == TypesBy::kSymbol) return RatePrior::unknown();  // another codelet with the symbol may
  if (any.cl->can_execute == nullptr) return RatePrior::cannot_run();
  starpu_codelet asks_nobody = *any.cl;
  asks_nobody.can_execute = nullptr;
  any.cl = &asks_nobody;
  return implementation(&any, worker) ? RatePrior::unknown() : RatePrior::cannot_run();
}

}  // namespace allot::starpu
