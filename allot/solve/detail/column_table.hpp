// Every content of one resource with its completions, for resources where needs leave no shorter way to the
// best content than to enumerate them all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "allot/base/stop.hpp"
#include "allot/model/system.hpp"

namespace allot::detail {

class ColumnTable {
 public:
  /// Whether tasks there take anything other than one server each.
  static bool is_needed(const System& system, ResourceId j);
  /// How many contents there are.
  static double size(const System& system, ResourceId j);
  /// At most this many contents, of all resources together, are tabulated.
  static constexpr double kMostContents = 2e6;

  /// `types`: those that have threads and can run there. The content of other resources must not matter.
  ColumnTable(const System& system, ResourceId j, std::span<const TaskType> types);

  /// The value of a content, given in the order of the types.
  double value(std::span<const Count> content) const { return values_[place(content)]; }
  /// X_ij.
  std::span<const double> completions(std::span<const Count> content) const {
    return std::span(completions_).subspan(place(content) * types_, types_);
  }

  /// Asks for contents between lower and upper. The worth of a content is its value, plus premiums on
  /// completions (may be empty), minus the prices of its tasks.
  struct Query {
    std::span<const Count> lower;
    std::span<const Count> upper;
    std::span<const double> task_price;
    std::span<const double> premium;
  };
  /// Calls `visit(total, worth, content)` for every content between the limits, until the poll says stop.
  template <typename Visit>
  void visit_all(const Query& query, StopPoll& poll, Visit&& visit) const {
    std::vector<Count> content(query.lower.begin(), query.lower.end());
    for (std::size_t t = 0; t < types_; ++t) {
      if (query.lower[t] > query.upper[t]) return;
    }
    constexpr std::uint64_t kInAStep = 32;
    std::uint64_t visited = 0;
    for (bool going = true; going;) {
      if (++visited % kInAStep == 0 && poll.should_stop()) return;
      Count total = 0;
      const std::size_t at = place(content);
      double worth = values_[at];
      for (std::size_t t = 0; t < types_; ++t) {
        total += content[t];
        worth -= query.task_price[t] * static_cast<double>(content[t]);
        if (!query.premium.empty()) worth += query.premium[t] * completions_[at * types_ + t];
      }
      visit(total, worth, content);
      going = false;
      for (std::size_t t = 0; t < types_ && !going; ++t) {  // the next content, like an odometer
        going = content[t] < query.upper[t];
        content[t] = going ? content[t] + 1 : query.lower[t];
      }
    }
  }

 private:
  std::size_t place(std::span<const Count> content) const noexcept {
    std::size_t at = 0;
    for (std::size_t t = 0; t < types_; ++t) at += static_cast<std::size_t>(content[t]) * stride_[t];
    return at;
  }

  std::size_t types_;
  std::vector<std::size_t> stride_;
  std::vector<double> values_;
  std::vector<double> completions_;  // by content and type
};

}  // namespace allot::detail
