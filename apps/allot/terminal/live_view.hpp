// The view of a running job: a block of lines that is redrawn on a terminal; otherwise a line from time to
// time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allot/base/stop.hpp"
#include "allot/format/json.hpp"
#include "allot/run/view.hpp"
#include "apps/allot/terminal/console.hpp"
#include "apps/allot/terminal/live_block.hpp"

namespace allot::app {

enum class ProgressStyle {
  kAuto,  ///< the live view on a terminal; otherwise a line every half minute
  kJson,  ///< one JSON object per second, each on a line on standard error
  kNone,
};

/// The state of a run in a few lines for people, each at most `columns` wide.
std::string view_text(const RunView& view, const Console& console, std::string_view title,
                      std::size_t columns);
/// The same in one line.
std::string view_line(const RunView& view);
/// The same as a JSON object.
Json view_json(const RunView& view);

class LiveView {
 public:
  LiveView(const Console& console, ProgressStyle style, std::string title);
  LiveView(const LiveView&) = delete;
  LiveView& operator=(const LiveView&) = delete;

  /// Whether the view should be shown now.
  bool is_due() const;
  /// Shows the view if it is due.
  void show(const RunView& view);
  /// Removes the block from the screen, so that other text can be written; the next `show` draws it again.
  void clear() { block_.clear(); }
  /// Prints a line above the block.
  void note(std::string_view text);

 private:
  const Console& console_;
  LiveBlock block_;
  ProgressStyle style_;
  std::string title_;
  Clock::time_point began_ = Clock::now();
  std::optional<Clock::time_point> shown_at_;
};

}  // namespace allot::app
