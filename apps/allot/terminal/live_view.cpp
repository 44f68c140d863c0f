#include "apps/allot/terminal/live_view.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "apps/allot/terminal/text.hpp"

namespace allot::app {
namespace {

constexpr std::chrono::seconds kLineEvery{30};
constexpr std::chrono::seconds kJsonEvery{1};
constexpr std::size_t kMostRows = 30;

/// 0:07, 12:31, 3:02:11
std::string clock_time(double seconds) {
  const long all = std::lround(std::max(0.0, seconds));
  if (all >= 3600) return fmt::format("{}:{:02}:{:02}", all / 3600, all / 60 % 60, all % 60);
  return fmt::format("{}:{:02}", all / 60, all % 60);
}

std::string time_left(const RunView& view) {
  if (!view.left_s) return "time left not known yet";
  std::string text = clock_time(*view.left_s) + " left";
  if (view.left_low_s && view.left_high_s && clock_time(*view.left_low_s) != clock_time(*view.left_high_s)) {
    text = clock_time(*view.left_low_s) + " to " + clock_time(*view.left_high_s) + " left";
  }
  return text;
}

std::string counts(const RunView& view) {
  std::string text = fmt::format("{} of {} done", whole(static_cast<Count>(view.done)),
                                 whole(static_cast<Count>(view.total)));
  if (view.failed > 0) text += fmt::format(", {} failed", whole(static_cast<Count>(view.failed)));
  text += fmt::format(", {} running", whole(static_cast<Count>(view.running)));
  if (view.retried > 0) text += fmt::format(", {} retried", whole(static_cast<Count>(view.retried)));
  return text;
}

std::string pace(const RunView& view) {
  std::string text = number(view.throughput, 3) + "/s";
  if (view.predicted && *view.predicted > 0) text += " of " + number(*view.predicted, 3) + "/s predicted";
  return text;
}

std::string_view phase_text(RunPhase phase) {
  switch (phase) {
    case RunPhase::kRunning:
      return "";
    case RunPhase::kDraining:
      return "draining: running tasks finish, no new ones start";
    case RunPhase::kTerminating:
      return "terminating: running tasks were asked to end";
    case RunPhase::kKilling:
    case RunPhase::kAbandoning:
      return "killing running tasks";
  }
  return "";
}

/// "2 at 3.1 ±0.2"
std::string pair_text(const PairView& pair, bool with_interval) {
  if (!pair.possible) return "-";
  if (!pair.allowed) return "off";
  const std::string running = pair.running > 0 ? std::to_string(pair.running) + " at " : "";
  if (!pair.rate) return running + "?";
  const double half = std::max(*pair.rate - pair.low, pair.high - *pair.rate);
  std::string text = running + number(*pair.rate, 3);
  if (with_interval && std::isfinite(half))
    text += fmt::format(" {}", sign(Sign::kPlusMinus)) + number(half, 2);
  return text;
}

}  // namespace

std::string view_line(const RunView& view) {
  return fmt::format("{}: {}, {}, {}", clock_time(view.elapsed_s), counts(view), pace(view), time_left(view));
}

namespace {

/// Rows for types, columns for resources. In a narrow terminal without intervals and throughputs.
Table view_table(const RunView& view, bool short_form) {
  std::vector<Align> columns = {Align::kLeft, Align::kRight};
  std::vector<std::string> titles = {"", "done"};
  if (view.has_stages) {
    columns.push_back(Align::kRight);
    titles.emplace_back("waiting");
  }
  if (!short_form) {
    columns.push_back(Align::kRight);
    titles.emplace_back("per second");
  }
  for (const ResourceView& resource : view.resources) {
    columns.push_back(Align::kRight);
    const std::string name = shown(resource.name);
    titles.push_back(
        fmt::format("{} {}/{}", short_form ? shortened(name, 10) : name, resource.busy, resource.slots));
  }
  Table table(columns);
  table.title(titles);
  for (std::size_t i = 0; i < std::min(view.types.size(), kMostRows); ++i) {
    const TypeView& type = view.types[i];
    std::string done = fmt::format("{}/{}", type.done, type.total);
    if (type.failed > 0) done += fmt::format(" -{}", type.failed);
    const std::string from = type.from.empty() || short_form ? "" : " from " + shown(type.from);
    std::vector<Cell> row = {{shown(type.name) + from, Style::kPlain},
                             {done, type.failed > 0 ? Style::kBad : Style::kPlain}};
    if (view.has_stages) row.push_back({std::to_string(type.waiting), Style::kDim});
    if (!short_form) row.push_back({number(type.throughput, 3), Style::kPlain});
    for (std::size_t j = 0; j < view.resources.size(); ++j) {
      const PairView& pair = view.pairs(task_type(i), resource_id(j));
      row.push_back({pair_text(pair, !short_form), pair.running > 0 ? Style::kPlain : Style::kDim});
    }
    table.row(std::move(row));
  }
  return table;
}

/// Texts side by side, with three blanks between them; one below the other if they do not fit.
std::string beside(const std::string& first, std::size_t first_width, const std::string& second,
                   std::size_t columns) {
  const bool fits = first_width + 3 + display_width(second) <= columns;
  return first + (fits ? "   " : "\n  ") + second;
}

}  // namespace

std::string view_text(const RunView& view, const Console& console, std::string_view title,
                      std::size_t columns) {
  const std::string name = shortened(title, columns);
  std::string times = clock_time(view.elapsed_s) + " elapsed, " + time_left(view);
  if (view.bound_s && view.left_s) times += fmt::format(" (bound {})", clock_time(*view.bound_s));
  std::string text = beside(console.styled(Style::kBold, name), display_width(name), times, columns) + "\n";
  const std::string numbers = "  " + counts(view);
  text += beside(numbers, display_width(numbers), pace(view), columns) + "\n";
  if (view.phase != RunPhase::kRunning) {
    text += "  " + console.styled(Style::kBad, phase_text(view.phase)) + "\n";
  }
  const Table table = view_table(view, false);
  text +=
      table.width() <= columns ? table.text(console, columns) : view_table(view, true).text(console, columns);
  if (view.types.size() > kMostRows)
    text += fmt::format("  and {} more types\n", view.types.size() - kMostRows);
  return text;
}

Json view_json(const RunView& view) {
  Json::Array types;
  for (std::size_t i = 0; i < view.types.size(); ++i) {
    const TypeView& type = view.types[i];
    Json rates = Json::object({});
    for (std::size_t j = 0; j < view.resources.size(); ++j) {
      const PairView& pair = view.pairs(task_type(i), resource_id(j));
      if (!pair.possible) continue;
      rates.add(view.resources[j].name, Json::object({{"running", pair.running},
                                                      {"done", pair.done},
                                                      {"rate", pair.rate},
                                                      {"low", pair.rate ? Json(pair.low) : Json()},
                                                      {"high", pair.rate ? Json(pair.high) : Json()},
                                                      {"allowed", pair.allowed}}));
    }
    Json& entry = types.emplace_back();
    entry.add("name", type.name);
    entry.add("total", type.total);
    entry.add("done", type.done);
    entry.add("failed", type.failed);
    entry.add("running", type.running);
    entry.add("throughput", type.throughput);
    entry.add("predicted", type.predicted);
    entry.add("resources", std::move(rates));
    if (!view.has_stages) continue;
    entry.add("waiting", type.waiting);
    entry.add("from", type.from.empty() ? Json() : Json(type.from));
  }
  return Json::object({{"elapsed_s", view.elapsed_s},
                       {"total", view.total},
                       {"done", view.done},
                       {"failed", view.failed},
                       {"running", view.running},
                       {"retried", view.retried},
                       {"throughput", view.throughput},
                       {"predicted", view.predicted},
                       {"left_s", view.left_s},
                       {"left_low_s", view.left_low_s},
                       {"left_high_s", view.left_high_s},
                       {"bound_s", view.bound_s},
                       {"types", std::move(types)}});
}

LiveView::LiveView(const Console& console, ProgressStyle style, std::string title)
    : console_(console), block_(console), style_(style), title_(std::move(title)) {}

bool LiveView::is_due() const {
  switch (style_) {
    case ProgressStyle::kNone:
      return false;
    case ProgressStyle::kJson:
      return !shown_at_ || Clock::now() - *shown_at_ >= kJsonEvery;
    case ProgressStyle::kAuto:
      break;
  }
  return console_.shows_progress() || Clock::now() - shown_at_.value_or(began_) >= kLineEvery;
}

void LiveView::show(const RunView& view) {
  if (!is_due()) return;
  shown_at_ = Clock::now();
  if (style_ == ProgressStyle::kJson) {
    console_.complain_document(view_json(view).line() + "\n");
  } else if (console_.shows_progress()) {
    block_.show(view_text(view, console_, title_, LiveBlock::columns()));
  } else {
    console_.complain(view_line(view) + "\n");
  }
}

void LiveView::note(std::string_view text) {
  block_.clear();
  console_.note(text);
}

}  // namespace allot::app
