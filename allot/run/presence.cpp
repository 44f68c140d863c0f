#include "allot/run/presence.hpp"

#include <algorithm>

namespace allot {
namespace {

constexpr Clock::duration kAbsence = std::chrono::seconds(2);

}  // namespace

std::vector<Presence::News> Presence::look(std::span<const Slot> slots, Clock::time_point now) {
  std::vector<News> news;
  for (std::size_t j = 0; j < resources_.size(); ++j) {
    Resource& resource = resources_[j];
    bool here = false;
    bool all_gone = true;
    for (const Slot& slot : slots) {
      if (index(slot.resource) != j) continue;
      here |= slot.state == Slot::State::kIdle || slot.state == Slot::State::kBusy;
      all_gone &= slot.state == Slot::State::kGone;
    }
    resource.gone = all_gone;
    if (here) {
      resource.absent_since.reset();
      if (resource.planned) continue;
      resource.planned = true;
      news.push_back({resource_id(j), Change::kBack});
      continue;
    }
    if (!resource.absent_since) resource.absent_since = now;
    if (resource.planned && (all_gone || now >= *resource.absent_since + kAbsence)) {
      resource.planned = false;
      news.push_back({resource_id(j), Change::kAway});
    }
  }
  return news;
}

Clock::time_point Presence::next() const noexcept {
  Clock::time_point next = Clock::time_point::max();
  for (const Resource& resource : resources_) {
    if (resource.planned && resource.absent_since) next = std::min(next, *resource.absent_since + kAbsence);
  }
  return next;
}

void Presence::slept(Clock::duration time) noexcept {
  for (Resource& resource : resources_) {
    if (resource.absent_since) *resource.absent_since += time;
  }
}

}  // namespace allot
