#include "bench/solvers/tables.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "bench/support/report.hpp"

namespace bench {
namespace {

/// Mean percentage below the bound over the systems that were solved.
std::optional<double> percent_below(const Size& size, const std::vector<double>& throughput) {
  if (throughput.empty()) return std::nullopt;
  double sum = 0;
  for (std::size_t at = 0; at < throughput.size(); ++at) sum += 1 - throughput[at] / size.bound[at];
  return 100 * sum / static_cast<double>(throughput.size());
}

/// Mean percentage by which `ours` is above `theirs`, over the systems that both solved.
std::optional<double> percent_above(const std::vector<double>& ours, const std::vector<double>& theirs) {
  const std::size_t common = std::min(ours.size(), theirs.size());
  if (common == 0) return std::nullopt;
  double sum = 0;
  for (std::size_t at = 0; at < common; ++at) sum += ours[at] / theirs[at] - 1;
  return 100 * sum / static_cast<double>(common);
}

std::string time_text(double s) {
  char text[32];
  if (s < 1e-3) {
    std::snprintf(text, sizeof text, "%.3g us", s * 1e6);
  } else if (s < 1) {
    std::snprintf(text, sizeof text, "%.3g ms", s * 1e3);
  } else {
    std::snprintf(text, sizeof text, "%.3g s", s);
  }
  return text;
}

/// "of N": over the first N systems only; the next would have taken too long, or the budget was spent.
std::string time_cell(const Size& size, const Measured& measured, double limit) {
  const std::string beyond = "> " + time_text(limit);
  if (!measured.any()) return measured.out_of_time ? beyond : "-";
  std::string text = time_text(*measured.seconds);
  if (measured.throughput.size() < size.scenarios.size()) {
    text += " of " + std::to_string(measured.throughput.size());
    if (measured.out_of_time) text += ", then " + beyond;
  }
  return text;
}

std::string percent_cell(std::optional<double> percent) {
  if (!percent) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.4f%%", *percent + 0.0);
  return std::string_view(text) == "-0.0000%" ? "0.0000%" : text;
}

void print_times(const std::vector<Size>& sizes, double limit) {
  std::printf(
      "\nCPU time per solve, mean over the systems (SciPy: without its rounding; \"of N\": over the first N "
      "only)\n\n");
  std::vector<std::vector<std::string>> rows{{"k", "threads", "systems", "best-fit", "map",
                                              "map, kept workspace", "local", "exact", "proven",
                                              "NLopt SLSQP", "SciPy SLSQP", "CBC", "exhaustive"}};
  for (const Size& size : sizes) {
    const std::string count = std::to_string(size.scenarios.size());
    rows.push_back({std::to_string(size.k), whole_text(static_cast<double>(2 * size.k * size.k)), count,
                    time_cell(size, size.best_fit, limit), time_cell(size, size.map, limit),
                    time_cell(size, size.map_reused, limit), time_cell(size, size.local, limit),
                    time_cell(size, size.exact, limit), std::to_string(size.exact.proven) + " of " + count,
                    time_cell(size, size.nlopt, limit), time_cell(size, size.scipy, limit),
                    time_cell(size, size.cbc, limit), time_cell(size, size.exhaustive, limit)});
  }
  print_table(rows);
}

void print_quality(const std::vector<Size>& sizes) {
  std::printf(
      "\nThroughput below the proven bound, mean over the systems (\"of N\": over the first N only)\n\n");
  std::vector<std::vector<std::string>> rows{{"k", "bound proven to", "best-fit", "map", "local", "exact",
                                              "NLopt relaxed", "rounded", "SciPy relaxed", "rounded", "CBC",
                                              "exhaustive"}};
  for (const Size& size : sizes) {
    char gap[32];
    std::snprintf(gap, sizeof gap, "%.6f%%", 100 * size.remaining_gap);
    const auto cell = [&](const std::vector<double>& x) {
      const std::string some = x.size() < size.scenarios.size() ? " of " + std::to_string(x.size()) : "";
      return percent_cell(percent_below(size, x)) + (x.empty() ? "" : some);
    };
    rows.push_back({std::to_string(size.k), gap, cell(size.best_fit.throughput), cell(size.map.throughput),
                    cell(size.local.throughput), cell(size.exact.throughput), cell(size.nlopt.relaxed),
                    cell(size.nlopt.throughput), cell(size.scipy.relaxed), cell(size.scipy.throughput),
                    cell(size.cbc.throughput), cell(size.exhaustive.throughput)});
  }
  print_table(rows);
}

std::string ratio_cell(const Measured& theirs, const Measured& ours) {
  return theirs.any() && !theirs.out_of_time && ours.any()
             ? whole_text(*theirs.seconds / *ours.seconds) + " x"
             : "-";
}

void print_ratios(const std::vector<Size>& sizes) {
  std::printf(
      "\nOurs against the rivals: ratio of the mean times (map: kept workspace), and X on the systems that "
      "both solved\n\n");
  std::vector<std::vector<std::string>> rows{
      {"k", "map faster than SciPy", "map X above SciPy's rounding", "local faster than SciPy",
       "local X above", "exact faster than SciPy", "exact X above", "exact faster than CBC",
       "map faster than NLopt", "map X above NLopt's rounding"}};
  for (const Size& size : sizes) {
    if (!size.nlopt.any() && !size.scipy.any() && !size.cbc.any()) continue;
    const auto above = [](const Measured& ours, const Measured& theirs) {
      return percent_cell(percent_above(ours.throughput, theirs.throughput));
    };
    rows.push_back({std::to_string(size.k), ratio_cell(size.scipy, size.map_reused),
                    above(size.map, size.scipy), ratio_cell(size.scipy, size.local),
                    above(size.local, size.scipy), ratio_cell(size.scipy, size.exact),
                    above(size.exact, size.scipy), ratio_cell(size.cbc, size.exact),
                    ratio_cell(size.nlopt, size.map_reused), above(size.map, size.nlopt)});
  }
  print_table(rows);
}

/// The slope of log(time) over log(k).
double growth(const std::vector<Size>& sizes, std::size_t from) {
  double n = 0;
  double x = 0;
  double y = 0;
  double xx = 0;
  double xy = 0;
  for (const Size& size : sizes) {
    if (size.k < from) continue;
    const double a = std::log(static_cast<double>(size.k));
    const double b = std::log(*size.map_reused.seconds);
    n += 1;
    x += a;
    y += b;
    xx += a * a;
    xy += a * b;
  }
  return (n * xy - x * y) / (n * xx - x * x);
}

void print_bars(const std::vector<Size>& sizes) {
  std::printf("\nWhat was aimed at\n\n");
  std::vector<std::vector<std::string>> rows{{"", "aim", "measured", ""}};
  const auto bar = [&](const std::string& what, const std::string& aim, const std::string& measured,
                       bool met) {
    rows.push_back({what, aim, measured, met ? "met" : "MISSED"});
  };
  const auto at = [&](std::size_t k) {
    return std::find_if(sizes.begin(), sizes.end(), [&](const Size& size) { return size.k == k; });
  };
  struct Least {
    std::size_t k;
    double times;
  };
  for (const auto& [k, times] : {Least{3, 1000}, Least{16, 100'000}}) {
    const auto size = at(k);
    if (size == sizes.end() || !size->scipy.any()) continue;
    const double ratio = *size->scipy.seconds / *size->map_reused.seconds;
    bar("map faster than SciPy at k = " + std::to_string(k), whole_text(times) + " x",
        whole_text(ratio) + " x", ratio >= times);
  }
  const auto pooled = [&](const char* who, auto member, auto rival, const char* rival_name) {
    double sum = 0;
    double squares = 0;
    double count = 0;
    int better = 0;
    int worse = 0;
    for (const Size& size : sizes) {
      const auto& ours = (size.*member).throughput;
      const auto& theirs = (size.*rival).throughput;
      for (std::size_t s = 0; s < std::min(ours.size(), theirs.size()); ++s) {
        const double above = 100 * (ours[s] / theirs[s] - 1);
        sum += above;
        squares += above * above;
        ++count;
        if (above > 1e-6) ++better;
        if (above < -1e-6) ++worse;
      }
    }
    if (count < 2) return;
    const double mean = sum / count;
    const double error = std::sqrt(std::max(0.0, squares / count - mean * mean) / (count - 1));
    char text[96];
    std::snprintf(text, sizeof text, "%.4f%% +- %.4f%%, better on %d, worse on %d", mean, error, better,
                  worse);
    bar(std::string(who) + " X above " + rival_name + "'s best rounding, " + whole_text(count) + " systems",
        "0%", text, mean >= 0);
  };
  pooled("map", &Size::map, &Size::scipy, "SciPy");
  pooled("map", &Size::map, &Size::nlopt, "NLopt");
  pooled("local", &Size::local, &Size::scipy, "SciPy");
  pooled("exact", &Size::exact, &Size::scipy, "SciPy");
  struct Most {
    std::size_t k;
    double seconds;
    const char* aim;
  };
  for (const auto& [k, most, aim] :
       {Most{3, 1.5e-6, "about 1 us"}, Most{16, 20e-6, "20 us"}, Most{64, 1e-3, "1 ms"}}) {
    if (const auto size = at(k); size != sizes.end()) {
      bar("map, kept workspace, k = " + std::to_string(k), aim,
          time_text(*size->map_reused.seconds) + " (fastest pass " + time_text(size->map_fastest) + ")",
          *size->map_reused.seconds <= most);
    }
  }
  if (sizes.size() > 1 && sizes[sizes.size() - 2].k >= 16) {
    char text[64];
    std::snprintf(text, sizeof text, "k^%.2f (from k = 16 on: k^%.2f)", growth(sizes, 0), growth(sizes, 16));
    bar("growth of map's time", "at most k^3", text, growth(sizes, 0) <= 3 && growth(sizes, 16) <= 3);
  }
  std::uint64_t again = 0;
  std::uint64_t others = 0;
  for (const Size& size : sizes) {
    again += size.allocations_again;
    others += size.allocations_others;
  }
  bar("allocations of map after the first solve of a system", "0", std::to_string(again), again == 0);
  bar("allocations of map on other systems of a size seen before", "0", std::to_string(others), others == 0);
  print_table(rows);
}

}  // namespace

void print_tables(const std::vector<Size>& sizes, double limit) {
  print_times(sizes, limit);
  print_quality(sizes);
  print_ratios(sizes);
  print_bars(sizes);
}

}  // namespace bench
