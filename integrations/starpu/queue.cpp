#include "integrations/starpu/queue.hpp"

#include <algorithm>

namespace allot::starpu {

void Queue::put(Job& job) {
  auto chain = std::lower_bound(chains_.begin(), chains_.end(), job.priority,
                                [](const Chain& a, int priority) { return a.priority < priority; });
  if (chain == chains_.end() || chain->priority != job.priority) {
    chain = chains_.insert(chain, {job.priority, nullptr, nullptr});
  }
  // Nearly always the latest; one that is given back goes where it was.
  Job* before = chain->last;
  while (before != nullptr && before->arrival > job.arrival) before = before->previous;
  job.previous = before;
  job.next = before == nullptr ? chain->first : before->next;
  (before == nullptr ? chain->first : before->next) = &job;
  (job.next == nullptr ? chain->last : job.next->previous) = &job;
  ++size_;
}

void Queue::remove(Job& job) noexcept {
  const auto chain = std::lower_bound(chains_.begin(), chains_.end(), job.priority,
                                      [](const Chain& a, int priority) { return a.priority < priority; });
  (job.previous == nullptr ? chain->first : job.previous->next) = job.next;
  (job.next == nullptr ? chain->last : job.next->previous) = job.previous;
  job.previous = job.next = nullptr;
  --size_;
  if (chain->first == nullptr) chains_.erase(chain);
}

}  // namespace allot::starpu
