#include "allot/report/detail/chart_svg.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <sstream>

#include "allot/report/detail/data_files.hpp"
#include "allot/report/detail/html_text.hpp"

extern char** environ;

namespace allot::detail {
namespace {

// Okabe and Ito's colours, which colour-blind people tell apart, darkened for a light page and lightened for
// a dark one; marks differ as well.
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
constexpr std::array<int, kChartColours> kMarks{7, 5, 9, 11, 13, 6, 4, 8};

// Stand-ins for colours in gnuplot's output.
constexpr int kInk = 1;
constexpr int kGrid = 2;
constexpr int kFirstSeries = 11;

std::string stand_in(int number) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "#%02x%02x%02x", number, number, number);
  return std::string("rgb '") + text.data() + "'";
}

/// In gnuplot's single quotes nothing but the quote is special.
std::string in_quotes(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += '\'';
    out += c == '\n' ? ' ' : c;
  }
  return out + "'";
}

/// The name of a category in lines, where its place is too narrow for it in one.
std::vector<std::string> category_lines(const std::string& name, std::size_t categories) {
  const std::size_t room = std::max<std::size_t>(4, 60 / std::max<std::size_t>(1, categories));  // characters
  std::vector<std::string> lines;
  std::istringstream words(name);
  for (std::string word; words >> word;) {
    if (!lines.empty() && lines.back().size() + 1 + word.size() <= room) {
      lines.back() += " " + word;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

/// Between gnuplot's double quotes.
std::string double_quoted(const std::vector<std::string>& lines) {
  std::string out = "\"";
  for (std::size_t at = 0; at < lines.size(); ++at) {
    if (at > 0) out += "\\n";
    for (const char c : lines[at]) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + '"';
}

/// The label of the x axis, below the lines of the categories: gnuplot keeps room for one of them only.
std::string x_label(const Chart& chart) {
  std::size_t lines = 1;
  if (chart.kind == Chart::Kind::kBars) {
    for (const std::string& name : chart.categories) {
      lines = std::max(lines, category_lines(name, chart.categories.size()).size());
    }
  }
  std::vector<std::string> label(lines);
  label.back() = chart.x_label;
  return double_quoted(label);
}

/// Where the bars of a series stand within their category.
double offset(const Chart& chart, std::size_t series) {
  if (chart.kind != Chart::Kind::kBars) return 0;
  const double width = 0.8 / static_cast<double>(chart.series.size());
  return (static_cast<double>(series) - (static_cast<double>(chart.series.size()) - 1) / 2) * width;
}

struct Ends {
  double low;
  double high;
};

/// The interval of a point as it is drawn; the point itself where there is none. On a logarithmic scale an
/// interval may reach down to 0 or below: it is cut at a tenth of its point.
Ends ends_of(const Chart& chart, const Series& series, std::size_t point) {
  const double y = series.y[point];
  Ends ends{series.low.empty() ? y : series.low[point], series.high.empty() ? y : series.high[point]};
  if (!std::isfinite(ends.low)) ends.low = y;
  if (!std::isfinite(ends.high)) ends.high = y;
  if (chart.log_y) ends.low = std::max(ends.low, y / 10);
  return ends;
}

std::string data_block(const Chart& chart, std::size_t at) {
  const Series& series = chart.series[at];
  std::string out = "$series" + std::to_string(at) + " << END\n";
  bool gap = true;
  for (std::size_t point = 0; point < series.y.size(); ++point) {
    const double y = series.y[point];
    if (!std::isfinite(y) || (chart.log_y && !(y > 0))) {
      if (!gap) out += "\n";  // the line breaks here
      gap = true;
      continue;
    }
    gap = false;
    const Ends ends = ends_of(chart, series, point);
    for (const double value : {series.x[point] + offset(chart, at), y, ends.low, ends.high}) {
      out += exact_number(value) + " ";
    }
    out += "\n";
  }
  if (gap) out += "NaN NaN NaN NaN\n";  // an empty block is an error to gnuplot
  return out + "END\n";
}

/// Every point and both ends of its interval lie within, gnuplot rounding outwards to the next tic: left to
/// itself it looks at the points alone where bars are drawn.
void set_y_range(const Chart& chart, std::string& out) {
  double least = INFINITY, largest = -INFINITY;
  bool negative = false;
  for (const Series& series : chart.series) {
    for (std::size_t point = 0; point < series.y.size(); ++point) {
      const double y = series.y[point];
      if (!std::isfinite(y) || (chart.log_y && !(y > 0))) continue;
      const Ends ends = ends_of(chart, series, point);
      negative = negative || y < 0;
      least = std::min({least, y, ends.low});
      largest = std::max({largest, y, ends.high});
    }
  }
  if (!(least <= largest)) return;
  bool exact = false;  // the lower end as it is, not rounded
  if (chart.kind == Chart::Kind::kBars && !chart.log_y) {
    least = std::min(least, 0.0);  // what bars stand on
    largest = std::max(largest, 0.0);
    exact = !negative;  // nothing to see below 0 but the end of an interval
  }
  if (exact && least == largest) return;
  out += "set yrange [" + (exact ? "" : std::string("*<")) + exact_number(least) + ":" +
         exact_number(largest) + "<*]\n";
}

void set_ranges(const Chart& chart, std::string& out) {
  double least = INFINITY, largest = -INFINITY;
  for (const Series& series : chart.series) {
    for (const double x : series.x) {
      least = std::min(least, x);
      largest = std::max(largest, x);
    }
  }
  if (chart.kind == Chart::Kind::kBars) {
    out += "set xrange [-0.6:" + exact_number(static_cast<double>(chart.categories.size()) - 0.4) + "]\n";
    out += "set xtics (";
    for (std::size_t at = 0; at < chart.categories.size(); ++at) {
      if (at > 0) out += ", ";
      out += double_quoted(category_lines(chart.categories[at], chart.categories.size())) + " " +
             std::to_string(at);
    }
    out += ") scale 0\n";
    if (!chart.log_y) out += "set xzeroaxis lt 1 lc " + stand_in(kInk) + "\n";
  } else if (least <= largest) {
    if (chart.log_x) {
      out += "set xrange [" + exact_number(least / 1.15) + ":" + exact_number(largest * 1.15) + "]\n";
    } else {
      const double margin = largest > least ? 0.03 * (largest - least) : 0.5;
      out += "set xrange [" + exact_number(least - margin) + ":" + exact_number(largest + margin) + "]\n";
    }
  }
  if (chart.log_x && chart.kind != Chart::Kind::kBars) {
    out += "set logscale x\n";
    // Few different places: name just these, as 3, 4, 6, 8, ... would not fall on powers of ten.
    std::vector<double> places;
    for (const Series& series : chart.series) places.insert(places.end(), series.x.begin(), series.x.end());
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    if (places.size() <= 14) {
      out += "set xtics (";
      for (std::size_t at = 0; at < places.size(); ++at) {
        if (at > 0) out += ", ";
        out += in_quotes(exact_number(places[at])) + " " + exact_number(places[at]);
      }
      out += ")\n";
    }
  }
  if (chart.log_y) out += "set logscale y\nset format y '%g'\n";
  set_y_range(chart, out);
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

void replace_colour(std::string& svg, int number, const std::string& to) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "rgb(%d,%d,%d)", number, number, number);
  replace_all(svg, text.data(), to);
  std::snprintf(text.data(), text.size(), "rgb(%3d, %3d, %3d)", number, number, number);
  replace_all(svg, text.data(), to);
}

struct Close {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

std::string contents(std::FILE* file) {
  std::string out;
  std::array<char, 4096> buffer{};
  std::rewind(file);
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), file))
    out.append(buffer.data(), n);
  return out;
}

}  // namespace

std::string gnuplot_script(const Chart& chart) {
  const std::string ink = stand_in(kInk);
  std::string id = chart.name;  // gnuplot takes no others
  std::replace_if(
      id.begin(), id.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  std::string out = "set encoding utf8\n";
  out += "set terminal svg size " + std::to_string(kChartWidth) + "," + std::to_string(kChartHeight) +
         " dynamic noenhanced font 'sans-serif,15' name " + in_quotes(id) + "\n";
  out += "set border 3 lc " + ink + "\nset tics nomirror out scale 0.5 textcolor " + ink + "\n";
  out += "set grid ytics lt 1 lw 0.6 lc " + stand_in(kGrid) + "\n";
  out += "set title " + in_quotes(chart.title) + " textcolor " + ink + "\n";
  out += "set xlabel " + x_label(chart) + " offset 0,0.7 textcolor " + ink + "\n";
  out += "set ylabel " + in_quotes(chart.y_label) + " textcolor " + ink + "\n";
  out += chart.series.size() > 1 ? "set key below Left reverse samplen 1.5 textcolor " + ink + "\n"
                                 : "unset key\n";
  out += "set boxwidth " +
         exact_number(0.72 / static_cast<double>(std::max<std::size_t>(1, chart.series.size()))) +
         "\nset style fill solid 0.85 noborder\nset errorbars 0.6\n";
  set_ranges(chart, out);
  for (std::size_t at = 0; at < chart.series.size(); ++at) out += data_block(chart, at);
  out += "plot ";
  for (std::size_t at = 0; at < chart.series.size(); ++at) {
    const Series& series = chart.series[at];
    const std::size_t look = at % kChartColours;
    const std::string data = "$series" + std::to_string(at);
    const std::string colour = " lc " + stand_in(kFirstSeries + static_cast<int>(look));
    // Hollow marks are larger, so that they show around what they lie on.
    const bool hollow = kMarks[look] % 2 == 0;
    const std::string mark = " pt " + std::to_string(kMarks[look]) + (hollow ? " ps 1.1" : " ps 0.75");
    if (at > 0) out += ", ";
    out += data + " using 1:2 with ";
    switch (chart.kind) {
      case Chart::Kind::kLines:
        out += "linespoints lw 1.8" + mark + colour;
        break;
      case Chart::Kind::kPoints:
        out += "points" + mark + colour;
        break;
      case Chart::Kind::kBars:
        out += "boxes" + colour;
        break;
    }
    out += " title " + in_quotes(series.label);
    if (!series.low.empty()) {
      const std::string whisker = chart.kind == Chart::Kind::kBars ? " lc " + ink : colour;
      out += ", " + data + " using 1:2:3:4 with yerrorbars ps 0 lw 1.2" + whisker + " notitle";
    }
  }
  return out + "\n";
}

ProgramOutput run_program(const std::string& program, const std::string& input) {
  ProgramOutput result;
  const File in(std::tmpfile()), out(std::tmpfile()), error(std::tmpfile());
  if (!in || !out || !error) {
    result.error = std::string("no temporary file: ") + std::strerror(errno);
    return result;
  }
  std::fwrite(input.data(), 1, input.size(), in.get());
  std::fflush(in.get());
  std::rewind(in.get());

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fileno(in.get()), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(out.get()), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(error.get()), STDERR_FILENO);
  std::string name = program;
  std::array<char*, 2> arguments{name.data(), nullptr};
  pid_t child = 0;
  const int failed = posix_spawnp(&child, name.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    result.error = program + ": " + std::strerror(failed);
    return result;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.out = contents(out.get());
  result.ran = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (!result.ran) {
    result.error = program + " failed:";
    std::istringstream words(contents(error.get()));
    for (std::string word; words >> word;) result.error += " " + word;
  }
  return result;
}

std::string themed_svg(const std::string& svg, const Chart& chart, bool alone) {
  const std::size_t begin = svg.find("<g id=\"gnuplot_canvas\">");
  const std::size_t end = svg.rfind("</svg>");
  if (begin == std::string::npos || end == std::string::npos || end < begin) return {};
  std::string body = svg.substr(begin, end - begin);
  replace_colour(body, kInk, "currentColor");
  replace_colour(body, kGrid, "var(--grid)");
  for (std::size_t at = 0; at < kChartColours; ++at) {
    replace_colour(body, kFirstSeries + static_cast<int>(at), "var(--series-" + std::to_string(at + 1) + ")");
  }
  replace_all(body, "color='white'", "color='var(--page)'");
  replace_all(body, "color=\"black\"", "");
  replace_all(body, "color=\"gray\"", "");
  replace_all(body, "stroke=\"black\"", "stroke=\"currentColor\"");
  replace_all(body, " font-family=\"sans-serif\"", "");
  replace_all(body, "xlink:href", "href");
  replace_all(body, "gnuplot_canvas", chart.name);
  for (const char* id : {"gpDot", "gpPt", "textbox", "greybox"}) {
    replace_all(body, "id='" + std::string(id), "id='" + chart.name + "-" + id);
    replace_all(body, "#" + std::string(id), "#" + chart.name + "-" + id);
  }
  // A tooltip with the name of a data block helps nobody.
  for (std::size_t at = body.find("<title>"); at != std::string::npos; at = body.find("<title>", at)) {
    body.erase(at, body.find("</title>", at) + 8 - at);
  }
  // gnuplot opens a group whenever a style might change; half of them stay empty.
  const std::string empty = "\">\n</g>\n";
  for (std::size_t at = body.find(empty); at != std::string::npos; at = body.find(empty, at)) {
    const std::size_t from = body.rfind("<g ", at);
    body.erase(from, at + empty.size() - from);
    at = from;
  }

  const std::string width = std::to_string(kChartWidth);
  const std::string height = std::to_string(kChartHeight);
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + width + " " + height + "\"";
  if (alone) out += " width=\"" + width + "\" height=\"" + height + "\"";
  out += " role=\"img\" aria-label=\"" + html_escape(chart.title + ". " + chart.caption) + "\">\n";
  if (alone) {
    out += "<style>svg { color: #1f2328; font-family: system-ui, sans-serif; " + palette_css(false) +
           " }\n@media (prefers-color-scheme: dark) { svg { color: #e6edf3; " + palette_css(true) +
           " } }</style>\n";
  }
  return out + body + "</svg>\n";
}

std::string palette_css(bool dark) {
  std::string out = dark ? "--grid: #3d444d; --page: transparent;" : "--grid: #d8dee4; --page: transparent;";
  for (std::size_t at = 0; at < kPalette.size(); ++at) {
    out +=
        " --series-" + std::to_string(at + 1) + ": " + (dark ? kPalette[at].dark : kPalette[at].light) + ";";
  }
  return out;
}

}  // namespace allot::detail
