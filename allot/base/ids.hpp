// Index types: a task type cannot be mistaken for a resource, nor either for a count.
#pragma once

#include <cstddef>
#include <cstdint>

namespace allot {

enum class TaskType : std::uint32_t {};
enum class ResourceId : std::uint32_t {};
/// What tasks draw on: the servers of every resource, in order, then other capacities.
enum class CapacityId : std::uint32_t {};

/// How many tasks, threads or servers. Signed, so that differences are safe.
using Count = std::int64_t;

constexpr std::size_t index(TaskType i) noexcept { return static_cast<std::size_t>(i); }
constexpr std::size_t index(ResourceId j) noexcept { return static_cast<std::size_t>(j); }
constexpr std::size_t index(CapacityId r) noexcept { return static_cast<std::size_t>(r); }
constexpr TaskType task_type(std::size_t i) noexcept { return static_cast<TaskType>(i); }
constexpr ResourceId resource_id(std::size_t j) noexcept { return static_cast<ResourceId>(j); }
constexpr CapacityId capacity_id(std::size_t r) noexcept { return static_cast<CapacityId>(r); }
/// The servers of a resource.
constexpr CapacityId servers_of(ResourceId j) noexcept { return static_cast<CapacityId>(j); }

/// The ids 0 .. size-1, for range-based for loops.
template <typename Id>
class IdRange {
 public:
  class Iterator {
   public:
    constexpr explicit Iterator(std::size_t at) noexcept : at_(at) {}
    constexpr Id operator*() const noexcept { return static_cast<Id>(at_); }
    constexpr Iterator& operator++() noexcept {
      ++at_;
      return *this;
    }
    friend constexpr bool operator==(Iterator, Iterator) noexcept = default;

   private:
    std::size_t at_;
  };

  constexpr explicit IdRange(std::size_t size) noexcept : size_(size) {}
  constexpr Iterator begin() const noexcept { return Iterator(0); }
  constexpr Iterator end() const noexcept { return Iterator(size_); }
  constexpr std::size_t size() const noexcept { return size_; }

 private:
  std::size_t size_;
};

}  // namespace allot
