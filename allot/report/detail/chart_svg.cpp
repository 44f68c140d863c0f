#include "allot/report/detail/chart_svg.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "allot/report/detail/chart_axis.hpp"
#include "allot/report/detail/html_text.hpp"
#include "allot/report/detail/svg_number.hpp"

namespace allot::detail {
namespace {

// Okabe and Ito's colours, which colour-blind people can distinguish, darkened for a light page and lightened
// for a dark one; marks differ as well.
struct Colour {
  const char* light;
  const char* dark;
};
constexpr std::array<Colour, kChartColours> kPalette{{{"#0067a5", "#5cb8f2"},
                                                      {"#c24e00", "#ff9d57"},
                                                      {"#00805c", "#3fd3a4"},
                                                      {"#9b3f83", "#ea9fd2"},
                                                      {"#7d6608", "#e8d44d"},
                                                      {"#4d4d4d", "#c4c4c4"},
                                                      {"#00808f", "#71dbe8"},
                                                      {"#b0122b", "#ff8b98"}}};
/// Drawn around (0, 0). Hollow marks are larger, so that they stay visible around other marks.
struct Mark {
  const char* path;
  bool hollow;
};
constexpr std::array<Mark, kChartColours> kMarks{{{"m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z", false},
                                                  {"m-3.5-3.5h7v7h-7z", false},
                                                  {"m0-4.6l4.5 7.8h-9z", false},
                                                  {"m0 4.6l4.5-7.8h-9z", false},
                                                  {"m0-5l5 5l-5 5l-5-5z", false},
                                                  {"m-5.5 0a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0-11 0z", true},
                                                  {"m-5-5h10v10h-10z", true},
                                                  {"m0-6.5l6 10.5h-12z", true}}};

/// Sizes of a chart and of its text.
struct Layout {
  double width;
  double height;
  double title;
  double text;
};
constexpr Layout kAlone{640, 400, 16, 14};
/// On a page beside others, or on a phone, which shrinks it: fewer units, so that the text stays readable.
constexpr Layout kOnPage{460, 340, 15, 13};

constexpr double kLeastSize = 10;   // of text
constexpr double kLine = 17;        // from one line of text to the next
constexpr double kRight = 18;       // margin
constexpr double kTop = 38;         // of the plot, below the title
constexpr double kLegendMark = 24;  // including the space after it
constexpr double kLegendGap = 18;

/// Width in columns: code points, because most take one column.
std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

/// Upper bound on the width of a text in an ordinary font.
double width_of(std::string_view text, double size) {
  return 0.6 * size * static_cast<double>(columns(text));
}

/// A text, shortened if it is wider than the space.
std::string fitted(const std::string& text, double size, double room) {
  if (width_of(text, size) <= room) return text;
  const auto most = static_cast<std::size_t>(std::max(1.0, room / (0.6 * size) - 1));
  std::string out;
  std::size_t seen = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U && seen++ == most) break;
    out += c;
  }
  return out + "…";
}

/// The words of a name. A word also ends after a hyphen.
std::vector<std::string> words_of(const std::string& name) {
  std::vector<std::string> words(1);
  for (const char c : name) {
    if (c != ' ') words.back() += c;
    if ((c == ' ' || c == '-') && !words.back().empty()) words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

/// The name of a category, split into lines if its place is too narrow for one line.
std::vector<std::string> category_lines(const std::string& name, double size, double room) {
  std::vector<std::string> lines;
  for (const std::string& word : words_of(name)) {
    const std::string joined =
        lines.empty() ? word : lines.back() + (lines.back().back() == '-' ? "" : " ") + word;
    if (!lines.empty() && width_of(joined, size) <= room) {
      lines.back() = joined;
    } else {
      lines.push_back(word);
    }
  }
  if (lines.size() > 3) lines.resize(3);
  for (std::string& line : lines) line = fitted(line, size, room);
  return lines;
}

std::string series_colour(std::size_t at) {
  return "var(--series-" + std::to_string(at % kChartColours + 1) + ")";
}

class Drawing {
 public:
  Drawing(const Chart& chart, const Layout& layout)
      : chart_(chart), layout_(layout), x_(x_axis(chart)), y_(y_axis(chart)), category_size_(layout.text) {
    lay_out_legend();
    double widest = 0;
    for (const Tick& tick : y_.ticks) widest = std::max(widest, width_of(tick.text, layout_.text));
    left_ = std::min(30 + widest + 12, layout_.width / 2);
    right_ = layout_.width - kRight;
    std::size_t lines = 1;
    if (chart.kind == Chart::Kind::kBars && !chart.categories.empty()) {
      const double room = (right_ - left_) / (static_cast<double>(chart.categories.size()) + 0.2) - 4;
      // Smaller text is better than a truncated word.
      const auto fits = [&](const std::string& name) {
        const std::vector<std::string> words = words_of(name);
        return std::all_of(words.begin(), words.end(),
                           [&](const std::string& word) { return width_of(word, category_size_) <= room; });
      };
      while (category_size_ > kLeastSize &&
             !std::all_of(chart.categories.begin(), chart.categories.end(), fits))
        category_size_ -= 1;
      for (const std::string& name : chart.categories) {
        categories_.push_back(category_lines(name, category_size_, room));
        lines = std::max(lines, categories_.back().size());
      }
    }
    const double below = 8 + kLine * static_cast<double>(lines) + 6 + kLine + legend_height_ + 6;
    bottom_ = std::max(layout_.height - below, kTop + 40);
    x_label_ = bottom_ + 8 + kLine * static_cast<double>(lines) + 6 + layout_.text;
  }

  std::string text() {
    label(layout_.width / 2, 24, "middle", fitted(chart_.title, layout_.title, layout_.width - 16), "",
          layout_.title);
    draw_y_axis();
    draw_x_axis();
    for (std::size_t at = 0; at < chart_.series.size(); ++at) draw_series(at);
    draw_legend();
    return std::move(out_);
  }

 private:
  double place_x(double value) const { return left_ + x_.share(value) * (right_ - left_); }
  double place_y(double value) const { return bottom_ - y_.share(value) * (bottom_ - kTop); }

  void label(double x, double y, const char* anchor, const std::string& text, const std::string& more = "") {
    label(x, y, anchor, text, more, layout_.text);
  }
  void label(double x, double y, const char* anchor, const std::string& text, const std::string& more,
             double size) {
    if (text.empty()) return;
    out_ += "<text x=\"" + coordinate(x) + "\" y=\"" + coordinate(y) + "\" text-anchor=\"" + anchor +
            "\" font-size=\"" + coordinate(size) + "\" fill=\"currentColor\"" + more + ">" +
            html_escape(text) + "</text>\n";
  }
  void line(double x1, double y1, double x2, double y2, const std::string& stroke, double width) {
    out_ += "<path d=\"M" + coordinate(x1) + " " + coordinate(y1) + "L" + coordinate(x2) + " " +
            coordinate(y2) + "\" fill=\"none\" stroke=\"" + stroke + "\" stroke-width=\"" +
            coordinate(width) + "\"/>\n";
  }

  void draw_y_axis() {
    for (const Tick& tick : y_.ticks) {
      const double y = place_y(tick.value);
      line(left_, y, right_, y, "var(--grid)", 0.8);
      line(left_ - 5, y, left_, y, "currentColor", 1);
      label(left_ - 9, y + 5, "end", tick.text);
    }
    line(left_, kTop, left_, bottom_, "currentColor", 1);
    const double middle = (kTop + bottom_) / 2;
    label(18, middle, "middle", fitted(chart_.y_label, layout_.text, layout_.height - 20),
          " transform=\"rotate(-90 18 " + coordinate(middle) + ")\"");
  }

  void draw_x_axis() {
    line(left_, bottom_, right_, bottom_, "currentColor", 1);
    const bool bars = chart_.kind == Chart::Kind::kBars;
    if (bars && !y_.logarithmic && y_.low < 0) line(left_, place_y(0), right_, place_y(0), "currentColor", 1);
    for (std::size_t at = 0; at < categories_.size(); ++at) {
      for (std::size_t k = 0; k < categories_[at].size(); ++k) {
        label(place_x(static_cast<double>(at)), bottom_ + 8 + layout_.text + kLine * static_cast<double>(k),
              "middle", categories_[at][k], "", category_size_);
      }
    }
    double taken = -1;  // names cover the axis up to here
    for (const Tick& tick : x_.ticks) {
      const double x = place_x(tick.value);
      line(x, bottom_, x, bottom_ + 5, "currentColor", 1);
      const double half = width_of(tick.text, layout_.text) / 2;
      if (x - half < taken || x + half > layout_.width - 1) continue;
      label(x, bottom_ + 8 + layout_.text, "middle", tick.text);
      taken = x + half + 3;
    }
    label((left_ + right_) / 2, x_label_, "middle", fitted(chart_.x_label, layout_.text, right_ - left_));
  }

  /// The offset of the bars of a series within their category.
  double offset(std::size_t series) const {
    if (chart_.kind != Chart::Kind::kBars) return 0;
    const auto count = static_cast<double>(chart_.series.size());
    return (static_cast<double>(series) - (count - 1) / 2) * 0.8 / count;
  }

  void draw_series(std::size_t at) {
    const Series& series = chart_.series[at];
    std::string lines, marks, whiskers, bars;
    bool gap = true;
    const double half = 0.36 / static_cast<double>(chart_.series.size()) * (place_x(1) - place_x(0));
    for (std::size_t point = 0; point < series.y.size() && point < series.x.size(); ++point) {
      if (!is_drawable(chart_, series.x[point], series.y[point])) {
        gap = true;
        continue;
      }
      const double x = place_x(series.x[point] + offset(at));
      const double y = place_y(series.y[point]);
      const std::string where = coordinate(x) + " " + coordinate(y);
      lines += (gap ? "M" : "L") + where;
      marks += "M" + where + kMarks[at % kChartColours].path;
      gap = false;
      if (chart_.kind == Chart::Kind::kBars) {
        const double foot = y_.logarithmic ? bottom_ : place_y(std::clamp(0.0, y_.low, y_.high));
        bars += "M" + coordinate(x - half) + " " + coordinate(foot) + "V" + coordinate(y) + "h" +
                coordinate(2 * half) + "V" + coordinate(foot) + "z";
      }
      if (series.low.empty()) continue;
      const Ends ends = ends_of(chart_, series, point);
      const double low = place_y(std::max(ends.low, y_.low));
      const double high = place_y(ends.high);
      for (const double end : {low, high})
        whiskers += "M" + coordinate(x - 3.5) + " " + coordinate(end) + "h7";
      whiskers += "M" + coordinate(x) + " " + coordinate(low) + "V" + coordinate(high);
    }
    const std::string colour = series_colour(at);
    const bool is_bars = chart_.kind == Chart::Kind::kBars;
    if (is_bars) {
      path(bars, " fill=\"" + colour + "\" fill-opacity=\"0.85\"");
    } else {
      if (chart_.kind == Chart::Kind::kLines)
        path(lines,
             " fill=\"none\" stroke=\"" + colour + "\" stroke-width=\"1.8\" stroke-linejoin=\"round\"");
      path(marks, mark_style(at));
    }
    path(whiskers,
         " fill=\"none\" stroke=\"" + (is_bars ? "currentColor" : colour) + "\" stroke-width=\"1.2\"");
  }

  static std::string mark_style(std::size_t at) {
    const std::string colour = series_colour(at);
    return kMarks[at % kChartColours].hollow ? " fill=\"none\" stroke=\"" + colour + "\" stroke-width=\"1.5\""
                                             : " fill=\"" + colour + "\"";
  }
  void path(const std::string& steps, const std::string& style) {
    if (!steps.empty()) out_ += "<path d=\"" + steps + "\"" + style + "/>\n";
  }

  struct LegendEntry {
    std::string text;
    double x;
    double y;  // below the label of the x axis
  };
  void lay_out_legend() {
    if (chart_.series.size() < 2) return;
    double x = 0;
    std::size_t row_begin = 0;
    double y = 0;
    const auto centre = [&](double used) {
      for (std::size_t k = row_begin; k < legend_.size(); ++k) legend_[k].x += (layout_.width - used) / 2;
      row_begin = legend_.size();
    };
    for (const Series& series : chart_.series) {
      std::string text = fitted(series.label, layout_.text, layout_.width - 60);
      const double width = kLegendMark + width_of(text, layout_.text);
      if (x > 0 && x + width > layout_.width - 16) {
        centre(x - kLegendGap);
        x = 0;
        y += kLine + 3;
      }
      legend_.push_back({std::move(text), x, y});
      x += width + kLegendGap;
    }
    centre(x - kLegendGap);
    legend_height_ = y + kLine + 6;
  }
  void draw_legend() {
    for (std::size_t at = 0; at < legend_.size(); ++at) {
      const double y = x_label_ + 8 + kLine + legend_[at].y;
      if (y > layout_.height) break;
      const std::string where = "M" + coordinate(legend_[at].x + 10) + " " + coordinate(y - 5);
      if (chart_.kind == Chart::Kind::kBars) {
        path(where + "m-7-5h14v10h-14z", " fill=\"" + series_colour(at) + "\" fill-opacity=\"0.85\"");
      } else {
        if (chart_.kind == Chart::Kind::kLines)
          line(legend_[at].x, y - 5, legend_[at].x + 20, y - 5, series_colour(at), 1.8);
        path(where + kMarks[at % kChartColours].path, mark_style(at));
      }
      label(legend_[at].x + kLegendMark, y, "start", legend_[at].text);
    }
  }

  const Chart& chart_;
  const Layout& layout_;
  Axis x_;
  Axis y_;
  double left_ = 0;
  double right_ = 0;
  double bottom_ = 0;
  double x_label_ = 0;  // its baseline
  double legend_height_ = 0;
  double category_size_;  // size of category names
  std::vector<std::vector<std::string>> categories_;
  std::vector<LegendEntry> legend_;
  std::string out_;
};

}  // namespace

std::string chart_svg(const Chart& chart, bool alone) {
  const Layout& layout = alone ? kAlone : kOnPage;
  const std::string width = coordinate(layout.width);
  const std::string height = coordinate(layout.height);
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + width + " " + height + "\"";
  if (alone) out += " width=\"" + width + "\" height=\"" + height + "\"";
  out += " role=\"img\" aria-label=\"" + html_escape(chart.title + ". " + chart.caption) + "\">\n";
  if (alone) {
    out += "<style>svg { color: #1f2328; font-family: system-ui, sans-serif; " + palette_css(false) +
           " }\n@media (prefers-color-scheme: dark) { svg { color: #e6edf3; " + palette_css(true) +
           " } }</style>\n";
  }
  return out + Drawing(chart, layout).text() + "</svg>\n";
}

std::string palette_css(bool dark) {
  std::string out = dark ? "--grid: #3d444d;" : "--grid: #d8dee4;";
  for (std::size_t at = 0; at < kPalette.size(); ++at) {
    out +=
        " --series-" + std::to_string(at + 1) + ": " + (dark ? kPalette[at].dark : kPalette[at].light) + ";";
  }
  return out;
}

}  // namespace allot::detail
