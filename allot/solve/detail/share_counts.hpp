// Whole numbers of tasks for time shares: a thread is at one place at a time.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "allot/model/assignment.hpp"
#include "allot/model/system.hpp"
#include "allot/solve/detail/share_programme.hpp"

namespace allot::detail {

/// How a part is split: by whether a resource is in use at all, or by a count.
struct ShareCut {
  std::optional<ResourceId> resource;
  std::size_t pair = 0;
  double at = 0;  ///< the largest count of the lower part
};

class ShareCounts {
 public:
  /// Both must outlive this object.
  ShareCounts(const System& system, const std::vector<Pair>& pairs) : system_(system), pairs_(pairs) {}

  /// Whole numbers n_ij >= f_ij with row sums N_i and every minimum depth kept; otherwise where to split the
  /// part.
  std::optional<ShareCut> realise(const SharePart& part, const Shares& shares, Assignment& counts) const;

  /// A cut that always makes the part smaller; nothing if there is only one way to place the threads.
  std::optional<ShareCut> widest(const SharePart& part) const;

  /// Whether both halves are smaller than the part. If rounding prevents that, the search would not end.
  bool divides(const SharePart& part, const ShareCut& cut) const;

 private:
  /// The program's own counts if they are whole and deep enough; otherwise where to split the part.
  std::optional<ShareCut> whole_or_cut(const SharePart& part, const Shares& shares, Assignment& counts) const;
  double least(const SharePart& part, std::size_t at) const noexcept;
  bool may_be(const SharePart& part, std::size_t at) const noexcept;
  /// Where threads of a starved type wait.
  ResourceId resting_place(const SharePart& part, TaskType i) const noexcept;
  /// Puts the threads that no time share needs where the type's time shares are largest per thread.
  void spread_rest(TaskType i, const SharePart& part, const Shares& shares, Count rest,
                   Assignment& counts) const;
  /// Brings spare threads to resources below their minimum depth. False if there are too few, or if the part
  /// does not allow a count.
  bool deepen(const SharePart& part, const Shares& shares, Assignment& counts) const;

  const System& system_;
  const std::vector<Pair>& pairs_;
};

}  // namespace allot::detail
