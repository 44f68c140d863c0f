#include "allot/dispatch/line.hpp"

#include <algorithm>

namespace allot {

std::vector<Line::Chain>::iterator Line::chain_for(int urgency) noexcept {
  return std::lower_bound(chains_.begin(), chains_.end(), urgency,
                          [](const Chain& chain, int least) { return chain.urgency < least; });
}

void Line::put(WaitingTask& task) {
  auto chain = chain_for(task.urgency);
  if (chain == chains_.end() || chain->urgency != task.urgency) {
    chain = chains_.insert(chain, {task.urgency, nullptr, nullptr});
  }
  // Nearly always the latest; a task that is given back returns to its place, which is near the front.
  WaitingTask* before = chain->last;
  WaitingTask* after = chain->first;
  while (before != nullptr && before->arrival > task.arrival) {
    if (after->arrival > task.arrival) {
      before = after->previous;
      break;
    }
    before = before->previous;
    after = after->next;
  }
  task.previous = before;
  task.next = before == nullptr ? chain->first : before->next;
  (before == nullptr ? chain->first : before->next) = &task;
  (task.next == nullptr ? chain->last : task.next->previous) = &task;
  ++size_;
}

void Line::remove(WaitingTask& task) noexcept {
  const auto chain = chain_for(task.urgency);
  (task.previous == nullptr ? chain->first : task.previous->next) = task.next;
  (task.next == nullptr ? chain->last : task.next->previous) = task.previous;
  task.previous = task.next = nullptr;
  --size_;
  if (chain->first == nullptr) chains_.erase(chain);
}

}  // namespace allot
