#include "allot/report/journal_page.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <map>
#include <optional>
#include <vector>

#include "allot/report/detail/chart_svg.hpp"
#include "allot/report/detail/html_text.hpp"
#include "allot/report/detail/page.hpp"
#include "allot/report/detail/timeline.hpp"

namespace allot {
namespace {

using detail::Bar;
using detail::html_escape;

constexpr std::size_t kMostLabels = 5000;   // bars with a label
constexpr std::size_t kMostTroubles = 100;  // rows in the table of failures
constexpr double kLatest = 1e11;            // seconds since 1970: a later time is a wrong clock
constexpr double kLongest = 1e10;           // seconds of one attempt
constexpr double kFastest = 1e15;           // completions per second

/// Whether a page can show it. A wrong clock or a faulty worker may have put impossible values into the
/// journal.
bool is_plausible(const AttemptRow& row) {
  const auto within = [](double value, double most) { return value >= 0 && value <= most; };
  return within(row.start_unix, kLatest) && within(row.wall_s, kLongest) && within(row.queue_s, kLongest) &&
         within(row.user_s, kLongest) && within(row.sys_s, kLongest);
}

std::string printed(const char* format, double value) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string seconds_text(double seconds) {
  if (seconds < 1e-3) return printed("%.0f µs", seconds * 1e6);
  if (seconds < 1) return printed("%.3g ms", seconds * 1e3);
  if (seconds < 120) return printed("%.3g s", seconds);
  if (!(seconds <= kLatest)) return printed("%.3g s", seconds);
  const auto whole = static_cast<long long>(std::llround(seconds));
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60, whole % 60);
  return text.data();
}

std::string date_text(double unix_seconds) {
  if (!(unix_seconds >= 0 && unix_seconds <= kLatest)) return "";
  const auto when = static_cast<std::time_t>(unix_seconds);
  std::tm parts{};
  std::array<char, 48> text{};
  if (gmtime_r(&when, &parts) == nullptr ||
      std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts) == 0)
    return "";
  return text.data();
}

Cell number_cell(double value, const char* format = "%.4g") { return {printed(format, value), value}; }
Cell seconds_cell(double seconds) { return {seconds_text(seconds), seconds}; }
Cell count_cell(std::int64_t value) { return {std::to_string(value), static_cast<double>(value)}; }
Cell text_cell(std::string text) { return {std::move(text), std::nullopt}; }

/// Names in order of appearance.
class Names {
 public:
  std::size_t operator[](const std::string& name) {
    const auto [it, is_new] = index_.emplace(name, order_.size());
    if (is_new) order_.push_back(name);
    return it->second;
  }
  const std::vector<std::string>& order() const noexcept { return order_; }

 private:
  std::map<std::string, std::size_t> index_;
  std::vector<std::string> order_;
};

struct PairSums {
  std::int64_t ok = 0;
  std::int64_t bad = 0;
  double ok_seconds = 0;
  double wait_seconds = 0;
};

/// All data of the page, read in one pass over the attempts.
struct Content {
  Names types;
  Names resources;
  std::vector<std::size_t> slots;  // by resource
  std::vector<Bar> bars;
  std::vector<double> busy;  // seconds by resource
  std::map<std::pair<std::size_t, std::size_t>, PairSums> pairs;
  std::vector<AttemptRow> troubles;
  std::map<AttemptStatus, std::int64_t> by_status;
  std::size_t left_out = 0;  // attempts with impossible times
  double last_moment = 0;
  double user = 0;
  double system = 0;

  explicit Content(const JournalReader& journal) {
    for (const TaskTotals& total : journal.totals()) types[total.type];
    journal.for_each_attempt([this](const AttemptRow& row) { add(row); });
    // An attempt that still runs lasts until the last known moment.
    for (Bar& bar : bars) {
      if (bar.status == AttemptStatus::kStarted) bar.end = std::max(bar.start, last_moment);
      busy[bar.resource] += bar.end - bar.start;
      if (bars.size() > kMostLabels) bar.label.clear();
    }
  }

  void add(const AttemptRow& row) {
    if (!is_plausible(row)) {
      ++left_out;
      return;
    }
    if (row.attempt == 0) {  // it was never attempted: another task had failed
      if (troubles.size() < kMostTroubles) troubles.push_back(row);
      return;
    }
    Bar bar;
    bar.type = types[row.type];
    bar.resource = resources[row.resource];
    slots.resize(resources.order().size(), 0);
    busy.resize(slots.size(), 0.0);
    bar.slot = static_cast<std::size_t>(std::clamp<std::int64_t>(row.slot, 0, 99'999));
    slots[bar.resource] = std::max(slots[bar.resource], bar.slot + 1);
    bar.start = row.start_unix;
    bar.end = row.start_unix + std::max(row.wall_s, 0.0);
    bar.status = row.status;
    last_moment = std::max({last_moment, bar.start, bar.end});
    ++by_status[row.status];
    user += row.user_s;
    system += row.sys_s;
    PairSums& sums = pairs[{bar.type, bar.resource}];
    if (row.status == AttemptStatus::kOk) {
      ++sums.ok;
      sums.ok_seconds += row.wall_s;
    } else if (row.status != AttemptStatus::kStarted) {
      ++sums.bad;
      if (troubles.size() < kMostTroubles) troubles.push_back(row);
    }
    sums.wait_seconds += row.queue_s;
    if (bars.size() <= kMostLabels) {
      bar.label = row.task + (row.attempt > 1 ? ", attempt " + std::to_string(row.attempt) : "") + "\n" +
                  row.resource + " " + std::to_string(row.slot) + ", " +
                  (row.status == AttemptStatus::kStarted ? "" : seconds_text(row.wall_s) + ", ") +
                  std::string(to_string(row.status));
    }
    bars.push_back(std::move(bar));
  }
};

/// The same attempts by type: one row for each attempt that runs beside others of its type.
std::string stages_svg(const Content& content, const std::vector<TaskTotals>& totals,
                       const detail::TimeAxis& axis) {
  std::vector<detail::SlotGroup> groups;
  for (const TaskTotals& total : totals) groups.emplace_back(total.type, 0);
  std::vector<Bar> bars = content.bars;
  std::stable_sort(bars.begin(), bars.end(), [](const Bar& a, const Bar& b) { return a.start < b.start; });
  std::vector<std::vector<double>> free_from(groups.size());  // by type and row
  for (Bar& bar : bars) {
    std::vector<double>& rows = free_from[bar.type];
    const auto row = std::find_if(rows.begin(), rows.end(), [&](double end) { return end <= bar.start; });
    bar.resource = bar.type;
    bar.slot = static_cast<std::size_t>(row - rows.begin());
    if (row == rows.end()) {
      rows.push_back(bar.end);
    } else {
      *row = bar.end;
    }
    groups[bar.type].second = rows.size();
  }
  return detail::gantt_svg(bars, groups, axis);
}

std::string facts(const Content& content, const JournalReader& journal, const detail::TimeAxis& axis) {
  std::int64_t tasks = 0;
  std::int64_t done = 0;
  std::int64_t failed = 0;
  for (const TaskTotals& total : journal.totals()) {
    tasks += total.tasks;
    done += total.done;
    failed += total.failed;
  }
  std::string out = "<ul class=\"facts\">";
  const auto fact = [&](const std::string& value, const std::string& what) {
    out += "<li><strong>" + html_escape(value) + "</strong> " + html_escape(what) + "</li>";
  };
  fact(std::to_string(done) + " of " + std::to_string(tasks), "tasks done");
  if (failed > 0) fact(std::to_string(failed), failed == 1 ? "task failed" : "tasks failed");
  fact(std::to_string(content.bars.size()), content.bars.size() == 1 ? "attempt" : "attempts");
  if (!content.bars.empty()) {
    fact(seconds_text(axis.active()), "of activity");
    fact(printed("%.4g", static_cast<double>(done) / axis.active()), "tasks done per second");
  }
  return out + "</ul>\n";
}

std::string legend(const Content& content, bool with_marks, bool with_prediction) {
  std::string out = "<ul class=\"legend\">";
  const std::vector<std::string>& types = content.types.order();
  for (std::size_t type = 0; type < std::min(types.size(), detail::kChartColours); ++type) {
    const bool shared = type + 1 == detail::kChartColours && types.size() > detail::kChartColours;
    out += "<li><svg class=\"swatch\" viewBox=\"0 0 9 9\"><rect width=\"9\" height=\"9\" rx=\"2\" fill=\"" +
           detail::type_colour(type) + "\"/></svg>" + html_escape(shared ? "all other types" : types[type]) +
           "</li>";
  }
  const auto sign = [&](const char* text, const std::string& meaning) {
    out += std::string("<li><span class=\"sign\">") + text + "</span>" + html_escape(meaning) + "</li>";
  };
  if (with_prediction) sign("╌╌", "predicted by the plan");
  if (!with_marks) return out + "</ul>\n";
  std::string failed;
  for (const AttemptStatus status :
       {AttemptStatus::kFailed, AttemptStatus::kTimeout, AttemptStatus::kKilled}) {
    if (content.by_status.contains(status))
      failed += (failed.empty() ? "" : ", ") + std::string(to_string(status));
  }
  if (!failed.empty()) sign("×", failed);
  if (content.by_status.contains(AttemptStatus::kLost)) sign("○", "lost");
  if (content.by_status.contains(AttemptStatus::kStarted)) sign("◧", "pale: no end recorded");
  return out + "</ul>\n";
}

/// From predictions by type to totals: each plan replaces the predictions of the one before.
std::vector<detail::PredictedTotal> totals_of(const std::vector<Prediction>& predictions) {
  std::vector<detail::PredictedTotal> out;
  for (const Prediction& prediction : predictions) {
    if (!(prediction.time_unix >= 0 && prediction.time_unix <= kLatest && prediction.throughput >= 0 &&
          prediction.throughput <= kFastest))
      continue;
    if (out.empty() || prediction.time_unix > out.back().first) out.emplace_back(prediction.time_unix, 0.0);
    out.back().second += prediction.throughput;
  }
  return out;
}

Table pairs_table(const Content& content, const JournalReader& journal) {
  std::map<std::pair<std::string, std::string>, LearntRate> learnt;
  for (LearntRate& rate : journal.rates()) learnt[{rate.type, rate.resource}] = rate;
  Table table;
  table.columns = {"type",      "resource",  "ok",           "not ok",
                   "mean time", "mean wait", "learned rate", "95% interval"};
  for (const auto& [pair, sums] : content.pairs) {
    const std::string& type = content.types.order()[pair.first];
    const std::string& resource = content.resources.order()[pair.second];
    const auto it = learnt.find({type, resource});
    const auto attempts = static_cast<double>(sums.ok + sums.bad);
    table.rows.push_back(
        {text_cell(type), text_cell(resource), count_cell(sums.ok), count_cell(sums.bad),
         sums.ok > 0 ? seconds_cell(sums.ok_seconds / static_cast<double>(sums.ok)) : text_cell(""),
         attempts > 0 ? seconds_cell(sums.wait_seconds / attempts) : text_cell(""),
         it != learnt.end() ? number_cell(it->second.rate) : text_cell(""),
         text_cell(it != learnt.end()
                       ? printed("%.4g", it->second.low) + " to " + printed("%.4g", it->second.high)
                       : "")});
  }
  return table;
}

Table resources_table(const Content& content, const detail::TimeAxis& axis) {
  Table table;
  table.columns = {"resource", "servers used", "busy server seconds", "busy part of the time"};
  for (std::size_t r = 0; r < content.slots.size(); ++r) {
    const double share = content.busy[r] / (axis.active() * static_cast<double>(content.slots[r]));
    table.rows.push_back({text_cell(content.resources.order()[r]),
                          count_cell(static_cast<std::int64_t>(content.slots[r])),
                          number_cell(content.busy[r]),
                          {printed("%.1f%%", share * 100), share}});
  }
  return table;
}

Table runs_table(const JournalReader& journal) {
  Table table;
  table.columns = {"run", "started", "lasted", "outcome", "objective", "policy", "version"};
  for (const RunRow& run : journal.runs()) {
    table.rows.push_back(
        {count_cell(run.run), text_cell(date_text(run.start_unix)),
         text_cell(run.end_unix ? seconds_text(std::max(*run.end_unix - run.start_unix, 0.0)) : ""),
         text_cell(run.outcome.empty() ? "running, or killed" : run.outcome), text_cell(run.objective),
         text_cell(run.policy), text_cell(run.version)});
  }
  return table;
}

Table troubles_table(const Content& content) {
  Table table;
  table.columns = {"task", "attempt", "resource", "status", "exit", "signal", "time", "error", "command"};
  for (const AttemptRow& row : content.troubles) {
    const auto maybe = [](const std::optional<int>& value) {
      return value ? count_cell(*value) : text_cell("");
    };
    table.rows.push_back({text_cell(row.task), count_cell(row.attempt), text_cell(row.resource),
                          text_cell(std::string(to_string(row.status))), maybe(row.exit), maybe(row.signal),
                          seconds_cell(row.wall_s), text_cell(row.error), text_cell(row.command)});
  }
  return table;
}

Table events_table(const JournalReader& journal) {
  Table table;
  table.columns = {"when", "what", "said"};
  for (const EventRow& event : journal.events()) {
    table.rows.push_back(
        {text_cell(date_text(event.time_unix)), text_cell(event.kind), text_cell(event.text)});
  }
  return table;
}

}  // namespace

std::string journal_page(const JournalReader& journal, const JournalPageInfo& info) {
  const Content content(journal);
  const detail::TimeAxis axis(content.bars,
                              detail::kTimelineWidth - detail::kTimelineLeft - detail::kTimelineRight);
  std::vector<detail::SlotGroup> groups;
  for (std::size_t r = 0; r < content.slots.size(); ++r)
    groups.emplace_back(content.resources.order()[r], content.slots[r]);
  const std::vector<detail::PredictedTotal> predictions = totals_of(journal.predictions());

  std::string out = detail::page_head(info.title);
  out += "<header>\n<h1>" + html_escape(info.title) + "</h1>\n<p class=\"quiet\">" +
         html_escape(info.version) +
         (content.bars.empty() ? "" : ", first start " + date_text(axis.spans().front().start)) + "</p>\n" +
         facts(content, journal, axis) + "</header>\n<main>\n";
  const auto section = [&](const char* id, const std::string& title, const std::string& body) {
    out += std::string("<section class=\"card\" id=\"") + id + "\">\n<h2>" + title + "</h2>\n" + body +
           "</section>\n";
  };
  const auto table = [](const Table& rows) {
    return rows.rows.empty() ? "<p>None.</p>\n" : detail::table_html(rows);
  };
  const auto timeline = [](const std::string& svg) {
    return "<div class=\"timeline\" tabindex=\"0\" role=\"group\" aria-label=\"timeline\">" + svg +
           "</div>\n";
  };
  if (content.left_out > 0) {
    out += "<p class=\"note\">" + std::to_string(content.left_out) +
           " attempts have impossible times and are left out here; allot log shows them.</p>\n";
  }
  if (content.bars.empty()) {
    out += "<p>No attempt has been recorded yet.</p>\n";
  } else {
    section("slots", "What ran where",
            legend(content, true, false) + timeline(detail::gantt_svg(content.bars, groups, axis)) +
                "<p class=\"quiet\">Each row is a server of a resource. Where bars would be too thin to "
                "be seen, " +
                "the filled part of the row says how busy it was.</p>\n");
    const std::vector<TaskTotals> totals = journal.totals();
    if (std::any_of(totals.begin(), totals.end(),
                    [](const TaskTotals& total) { return !total.from.empty(); })) {
      section("stages", "Which stage ran when",
              legend(content, true, false) + timeline(stages_svg(content, totals, axis)) +
                  "<p class=\"quiet\">Each type of task has as many rows as tasks of it ran at "
                  "once.</p>\n");
    }
    const std::string throughput =
        detail::throughput_svg(content.bars, content.types.order().size(), predictions, axis);
    const bool with_prediction = throughput.find("class=\"promise\"") != std::string::npos;
    section("throughput", "Throughput over time",
            legend(content, false, with_prediction) + timeline(throughput));
    section("pairs", "By type and resource", table(pairs_table(content, journal)));
    section("resources", "By resource", table(resources_table(content, axis)));
    if (!content.troubles.empty()) {
      const Table rows = troubles_table(content);
      section("troubles", "What went wrong",
              table(rows) + (rows.rows.size() == kMostTroubles
                                 ? "<p class=\"quiet\">The first " + std::to_string(kMostTroubles) + ".</p>\n"
                                 : ""));
    }
  }
  section("runs", "Runs", table(runs_table(journal)));
  if (const Table rows = events_table(journal); !rows.rows.empty()) section("events", "Events", table(rows));
  return out + "</main>\n</body>\n</html>\n";
}

}  // namespace allot
