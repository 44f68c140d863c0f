#include "apps/allot/terminal/progress.hpp"

#include <algorithm>
#include <chrono>

#include "apps/allot/terminal/text.hpp"

namespace allot::app {

std::function<void(double)> ProgressLine::of_simulation() {
  if (!console_.shows_progress()) return {};
  return [this](double share) {
    const int percent = static_cast<int>(100 * share);
    if (percent > shown_percent_) show(fmt::format("simulating: {}%", shown_percent_ = percent));
  };
}

std::function<void(const SolveProgress&)> ProgressLine::of_proof() {
  if (!console_.shows_progress()) return {};
  return [this](const SolveProgress& progress) {
    std::string text =
        "certifying: " + duration(std::chrono::duration<double>(Clock::now() - start_).count());
    if (progress.best) text += ", best " + number(*progress.best, 6) + " tasks/s";
    if (progress.bound) text += ", bound " + number_above(*progress.bound, 6);
    if (progress.best && progress.bound && *progress.bound > 0)
      text += ", gap " + percent(std::max(0.0, 1 - *progress.best / *progress.bound));
    show(text);
  };
}

void ProgressLine::show(const std::string& text) {
  const Clock::time_point now = Clock::now();
  if (now - shown_at_ < std::chrono::milliseconds(100)) return;
  shown_at_ = now;
  console_.redraw_line(text);
  is_shown_ = true;
}

void ProgressLine::clear() {
  if (is_shown_) console_.redraw_line("");
  is_shown_ = false;
}

}  // namespace allot::app
