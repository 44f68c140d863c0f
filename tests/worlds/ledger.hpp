// What is really held in a world at a time, whatever the loop believes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "allot/base/stop.hpp"
#include "allot/jobs/job.hpp"

namespace allot::worlds {

/// Has tasks with needs told which slots of each resource they hold: SLOTS_OF_0, SLOTS_OF_1, ...
void tell_slots(Job& job);

/// Written by those that run tasks, from the job's own words, without the library's books.
class Ledger {
 public:
  explicit Ledger(const Job& job) : job_(job) {}

  /// A task begins; `slots`: as it was told, by resource. A number for `ends_at`, and what is held by too
  /// many then.
  std::pair<std::uint64_t, std::string> begins(TaskType i, ResourceId j,
                                               const std::vector<std::string>& slots, Clock::time_point now);
  void ends_at(std::uint64_t holding, Clock::time_point end);

 private:
  struct Entry {
    TaskType type{};
    ResourceId resource{};
    std::vector<std::vector<Count>> slots;  // by resource
    Clock::time_point end = Clock::time_point::max();
  };
  double need(const Entry& entry, CapacityId capacity) const;
  bool is_at(const Entry& entry, std::size_t capacity, std::size_t machine) const;
  std::string overdrawn() const;
  std::string wrong_slots(ResourceId r) const;

  const Job& job_;
  std::map<std::uint64_t, Entry> entries_;
  std::uint64_t next_ = 1;
};

}  // namespace allot::worlds
