// One value per task type, per resource or per pair of both. Only this file knows how pairs are laid out in
// memory.
#pragma once

#include <cassert>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "allot/base/ids.hpp"

namespace allot {

/// One value per id. A plain value.
template <typename Id, typename T>
class PerId {
 public:
  PerId() = default;
  explicit PerId(std::size_t size) : values_(size) {}
  PerId(std::size_t size, const T& value) : values_(size, value) {}

  typename std::vector<T>::reference operator[](Id at) noexcept { return values_[index(at)]; }
  typename std::vector<T>::const_reference operator[](Id at) const noexcept { return values_[index(at)]; }

  std::size_t size() const noexcept { return values_.size(); }
  IdRange<Id> ids() const noexcept { return IdRange<Id>(values_.size()); }
  /// In the order of the ids.
  const std::vector<T>& values() const noexcept { return values_; }
  void assign(std::size_t size, const T& value) { values_.assign(size, value); }

  friend bool operator==(const PerId&, const PerId&) = default;

 private:
  std::vector<T> values_;
};

template <typename T>
using PerType = PerId<TaskType, T>;
template <typename T>
using PerResource = PerId<ResourceId, T>;

/// A view of row-major values: one row per task type, one column per resource. Owns nothing.
template <typename T>
class PairSpan {
 public:
  PairSpan() = default;
  PairSpan(std::span<T> values, std::size_t resources) noexcept : values_(values), resources_(resources) {}

  T& operator()(TaskType i, ResourceId j) const noexcept {
    assert(index(j) < resources_);
    return values_[index(i) * resources_ + index(j)];
  }
  /// The values of a type, one per resource.
  std::span<T> row(TaskType i) const noexcept { return values_.subspan(index(i) * resources_, resources_); }
  bool empty() const noexcept { return values_.empty(); }
  std::size_t types() const noexcept { return resources_ == 0 ? 0 : values_.size() / resources_; }
  std::size_t resources() const noexcept { return resources_; }

 private:
  std::span<T> values_;
  std::size_t resources_ = 0;
};

template <typename T>
PairSpan(std::vector<T>&, std::size_t) -> PairSpan<T>;
template <typename T>
PairSpan(const std::vector<T>&, std::size_t) -> PairSpan<const T>;

/// One value per pair of a task type and a resource. A plain value.
template <typename T>
class PerPair {
 public:
  PerPair() = default;
  PerPair(std::size_t types, std::size_t resources)
      : types_(types), resources_(resources), values_(types * resources) {}
  PerPair(std::size_t types, std::size_t resources, const T& value)
      : types_(types), resources_(resources), values_(types * resources, value) {}
  /// From row-major values.
  PerPair(std::size_t types, std::size_t resources, std::vector<T> values)
      : types_(types), resources_(resources), values_(std::move(values)) {
    assert(values_.size() == types * resources);
  }

  typename std::vector<T>::reference operator()(TaskType i, ResourceId j) noexcept {
    assert(index(j) < resources_);
    return values_[index(i) * resources_ + index(j)];
  }
  typename std::vector<T>::const_reference operator()(TaskType i, ResourceId j) const noexcept {
    assert(index(j) < resources_);
    return values_[index(i) * resources_ + index(j)];
  }
  /// The values of a type, one per resource.
  std::span<T> row(TaskType i) noexcept {
    return std::span(values_).subspan(index(i) * resources_, resources_);
  }
  std::span<const T> row(TaskType i) const noexcept {
    return std::span(values_).subspan(index(i) * resources_, resources_);
  }

  std::size_t types() const noexcept { return types_; }
  std::size_t resources() const noexcept { return resources_; }
  IdRange<TaskType> type_ids() const noexcept { return IdRange<TaskType>(types_); }
  IdRange<ResourceId> resource_ids() const noexcept { return IdRange<ResourceId>(resources_); }
  /// Row-major: one row per task type.
  const std::vector<T>& values() const noexcept { return values_; }

  /// Sets the shape and gives every pair the same value; reuses storage.
  void assign(std::size_t types, std::size_t resources, const T& value) {
    types_ = types;
    resources_ = resources;
    values_.assign(types * resources, value);
  }
  /// Grows to a shape at least as large as this one; every pair keeps its value.
  void grow(std::size_t types, std::size_t resources) {
    PerPair grown(types, resources);
    for (const TaskType i : type_ids()) {
      for (const ResourceId j : resource_ids()) grown(i, j) = std::move((*this)(i, j));
    }
    *this = std::move(grown);
  }

  friend bool operator==(const PerPair&, const PerPair&) = default;

 private:
  std::size_t types_ = 0;
  std::size_t resources_ = 0;
  std::vector<T> values_;
};

}  // namespace allot
