#include "integrations/starpu/queue.hpp"

#include <algorithm>

namespace allot::starpu {

void Queue::put(Job& job) {
  heap_.push_back(&job);
  std::push_heap(heap_.begin(), heap_.end(), later);
}

void Queue::remove(Job& job) noexcept {
  if (heap_.back() == &job) {
    heap_.pop_back();
  } else if (heap_.front() == &job) {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    heap_.pop_back();
  } else {
    *std::find(heap_.begin(), heap_.end(), &job) = heap_.back();
    heap_.pop_back();
    std::make_heap(heap_.begin(), heap_.end(), later);
  }
}

}  // namespace allot::starpu
