#include "integrations/starpu/policy.hpp"

#include <climits>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "allot/policy/policy.hpp"
#include "integrations/starpu/allot_starpu.h"
#include "integrations/starpu/message.hpp"
#include "integrations/starpu/tasks.hpp"

namespace allot::starpu {
namespace {

Context* state_of(unsigned context) noexcept {
  return static_cast<Context*>(starpu_sched_ctx_get_policy_data(context));
}

/// Runs a function of the policy; returns whether it succeeded. The only expected error is lack of memory.
template <typename Work>
bool guarded(const char* where, Work&& work) noexcept {
  try {
    work();
    return true;
  } catch (const std::exception& error) {
    say(where, error.what());
  } catch (...) {
    say(where, "failed");
  }
  return false;
}

// ---- StarPU's callbacks

void deinit(unsigned context) {
  std::unique_ptr<Context> state(state_of(context));
  if (state) guarded("deinit_sched", [&] { state->finish(); });
  starpu_sched_ctx_set_policy_data(context, nullptr);
}

void add_workers(unsigned context, int* workers, unsigned count) {
  if (Context* const state = state_of(context)) {
    guarded("add_workers", [&] { state->add_workers(workers, count); });
  }
}

void remove_workers(unsigned context, int* workers, unsigned count) {
  if (Context* const state = state_of(context)) {
    guarded("remove_workers", [&] { state->remove_workers(workers, count); });
  }
}

int push(starpu_task* task) {
  Context* const state = state_of(task->sched_ctx);
  if (state != nullptr && guarded("push_task", [&] { state->push(task); })) return 0;
  // Without the policy, the task goes to the first worker that can run it, so that it is not lost.
  task->sched_data = nullptr;
  for (unsigned worker = 0; worker < starpu_worker_get_count(); ++worker) {
    const std::optional<unsigned> which = implementation(task, static_cast<int>(worker));
    if (!which || starpu_sched_ctx_contains_worker(static_cast<int>(worker), task->sched_ctx) == 0) continue;
    starpu_task_set_implementation(task, *which);
    return starpu_push_local_task(static_cast<int>(worker), task, 0);
  }
  return -ENODEV;
}

void push_bound(starpu_task* task, int worker, int model_worker, unsigned context) {
  // A task for a combined worker is announced to each of its workers, which then run copies of it: not
  // counted.
  if (model_worker != worker) return;
  if (Context* const state = state_of(context)) {
    guarded("push_task_notify", [&] { state->push_bound(task, worker); });
  }
}

starpu_task* pop(unsigned context) {
  starpu_task* task = nullptr;
  if (Context* const state = state_of(context)) guarded("pop_task", [&] { task = state->pop(); });
  return task;
}

void begin(starpu_task* task, unsigned context) {
  if (Context* const state = state_of(context)) guarded("pre_exec_hook", [&] { state->begin(task); });
}

void end(starpu_task* task, unsigned context) {
  if (Context* const state = state_of(context)) guarded("post_exec_hook", [&] { state->end(task); });
}

constexpr std::string_view kPrefix = "allot-";

/// StarPU provides the context's policy.
void init(unsigned context) {
  const std::string policy = starpu_sched_ctx_get_sched_policy(context)->policy_name;
  guarded("init_sched", [&] {
    std::vector<std::string> problems;
    Settings settings = read_settings([](const char* name) { return std::getenv(name); }, problems);
    for (const std::string& problem : problems) say(problem);
    if (settings.verbose) say("context " + std::to_string(context) + ": policy " + policy);
    attach(context, std::make_unique<Context>(context, policy.substr(kPrefix.size()), std::move(settings)));
  });
}

/// Policies with an exported symbol.
struct Exported {
  std::string_view policy;
  starpu_sched_policy* symbol;
};
constexpr Exported kExported[] = {{"map", &allot_starpu_map},
                                  {"mis", &allot_starpu_mis},
                                  {"weighted", &allot_starpu_weighted},
                                  {"planned", &allot_starpu_planned}};

/// The policies that StarPU is offered: those of the library with a description for StarPU. Ends with null.
struct Offer {
  std::deque<std::string> names;  // deques keep names and policies at their addresses
  std::deque<starpu_sched_policy> others;
  std::vector<starpu_sched_policy*> list;

  Offer() {
    for (const PolicyInfo* policy : builtin_policies()) {
      if (policy->runtime_summary == nullptr) continue;
      names.push_back(std::string(kPrefix).append(policy->name));
      list.push_back(place_of(policy->name));
      *list.back() = make_policy(names.back().c_str(), policy->runtime_summary, init);
    }
    list.push_back(nullptr);
  }

  starpu_sched_policy* place_of(std::string_view name) {
    for (const Exported& exported : kExported) {
      if (exported.policy == name) return exported.symbol;
    }
    return &others.emplace_back();
  }
};

}  // namespace

void attach(unsigned context, std::unique_ptr<Context> state) noexcept {
  if (starpu_sched_ctx_min_priority_is_set(context) == 0) starpu_sched_ctx_set_min_priority(context, INT_MIN);
  if (starpu_sched_ctx_max_priority_is_set(context) == 0) starpu_sched_ctx_set_max_priority(context, INT_MAX);
  starpu_sched_ctx_set_policy_data(context, state.release());
}

starpu_sched_policy make_policy(const char* name, const char* description, void (*init)(unsigned)) noexcept {
  // By name, because the members differ between versions of StarPU.
  starpu_sched_policy policy;
  std::memset(&policy, 0, sizeof policy);
  policy.init_sched = init;
  policy.deinit_sched = deinit;
  policy.push_task = push;
  policy.push_task_notify = push_bound;
  policy.pop_task = pop;
  policy.pre_exec_hook = begin;
  policy.post_exec_hook = end;
  policy.add_workers = add_workers;
  policy.remove_workers = remove_workers;
  policy.policy_name = name;
  policy.policy_description = description;
  policy.worker_type = STARPU_WORKER_LIST;
  return policy;
}

}  // namespace allot::starpu

// ---- what the library exports

extern "C" {

starpu_sched_policy allot_starpu_map;
starpu_sched_policy allot_starpu_mis;
starpu_sched_policy allot_starpu_weighted;
starpu_sched_policy allot_starpu_planned;

/// For StarPU 1.4 and later, which load the library that STARPU_SCHED_LIB names.
starpu_sched_policy** starpu_get_sched_lib_policies(void) {
  static allot::starpu::Offer offer;
  return offer.list.data();
}

starpu_sched_policy* allot_starpu_policy(const char* name) {
  if (name == nullptr) return nullptr;
  for (starpu_sched_policy** policy = starpu_get_sched_lib_policies(); *policy != nullptr; ++policy) {
    if (std::strcmp((*policy)->policy_name, name) == 0) return *policy;
  }
  return nullptr;
}

starpu_sched_policy* starpu_get_sched_lib_policy(const char* name) { return allot_starpu_policy(name); }
}

// Programs use the symbols without asking for the list first.
[[maybe_unused]] static starpu_sched_policy** const filled = starpu_get_sched_lib_policies();
