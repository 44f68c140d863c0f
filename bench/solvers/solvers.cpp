// How fast are the solvers, and how good are their answers? Ours and every rival on the same random systems,
// in one run: k resource types, two thirds of them general, 2 k^2 threads, as the paper scales its
// experiments.
//
// usage: bench_solvers [--quick] [--sizes K,K,...] [--systems N] [--keep FOLDER]
//
// --quick takes less than a minute, otherwise less than a quarter of an hour; --sizes and --systems ask for
// other sizes and for N systems of each. SciPy's SLSQP is run by bench/solvers/scipy_slsqp.py on scenario
// files written here (--keep: into that folder, and left there). Times are CPU seconds of one thread, so that
// other work on the machine matters little. Quality is measured against the upper bound that `exact` proves.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "allot/base/version.hpp"
#include "allot/format/scenario_writer.hpp"
#include "allot/model/generate.hpp"
#include "allot/solve/map.hpp"
#include "allot/solve/solver.hpp"
#include "bench/solvers/allocations.hpp"
#include "bench/solvers/cbc.hpp"
#include "bench/support/report.hpp"

namespace {

using namespace allot;
using bench::cpu_seconds;
using bench::print_table;
using bench::quoted;
using bench::run_lines;
using bench::whole_text;
namespace fs = std::filesystem;

/// Sets a stop flag once this process has used so many CPU seconds more: a limit that other work on the
/// machine does not shorten.
class CpuLimit {
 public:
  explicit CpuLimit(double seconds)
      : watch_([this, end = cpu_seconds() + seconds](const std::stop_token& done) {
          while (!done.stop_requested() && !flag_) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            if (cpu_seconds() > end) flag_ = true;
          }
        }) {}

  SolveOptions options() const {
    SolveOptions options;
    options.stop.flag = &flag_;
    return options;
  }

 private:
  StopFlag flag_ = false;
  std::jthread watch_;  // last: it ends before the flag does
};

// ---- what is asked

struct Plan {
  bool quick = false;
  double limit = 20;          ///< CPU seconds that a solve may take
  double exact_limit = 5;     ///< the same for `exact`, which answers at its limit as well
  double budget = 40;         ///< seconds that SLSQP may spend on one size
  double exact_budget = 40;   ///< seconds that the exact rivals may spend on one size
  double pass_seconds = 0.3;  ///< spent on timing each of the fast solvers

  std::vector<std::size_t> asked_sizes;
  int asked_systems = 0;

  std::vector<std::size_t> sizes() const {
    if (!asked_sizes.empty()) return asked_sizes;
    if (quick) return {3, 4, 6, 8, 12, 16, 32, 64};
    return {3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
  }
  /// Rivals are not tried beyond these sizes.
  std::size_t largest_rival() const { return quick ? 16 : 64; }
  std::size_t largest_exact_rival() const { return quick ? 4 : 64; }
  int systems(std::size_t k) const {
    if (asked_systems > 0) return asked_systems;
    if (quick) return k <= 12 ? 5 : 3;
    return k <= 12 ? 20 : k <= 24 ? 10 : 5;
  }
};

Scenario scaled_scenario(std::size_t k, std::uint64_t seed) {
  const std::size_t general = (2 * k + 2) / 3;
  GenerateOptions options;
  options.general = general;
  options.specialized = k - general;
  options.threads = static_cast<Count>(2 * k * k);
  options.seed = seed;
  Scenario scenario = generate(options);
  scenario.name = "k" + std::to_string(k) + "-seed" + std::to_string(seed);
  return scenario;
}

// ---- what is found

/// Of one solver at one size: the first `throughput.size()` systems were solved.
struct Measured {
  std::optional<double> seconds;  ///< CPU seconds per solve, mean over the systems
  std::vector<double> throughput;
  std::vector<double> relaxed;
  int proven = 0;
  bool out_of_time = false;

  bool any() const { return seconds.has_value(); }
};

struct Size {
  std::size_t k = 0;
  std::vector<Scenario> scenarios;
  std::vector<double> bound;
  double remaining_gap = 0;  ///< largest relative distance between the bound and the best answer of `exact`
  Measured best_fit, map, map_reused, local, exact, nlopt, scipy, cbc, exhaustive;
  double map_fastest = 0;                ///< seconds per solve in the fastest pass of `map_reused`
  std::uint64_t allocations_again = 0;   ///< in repeated solves of one system after the first
  std::uint64_t allocations_others = 0;  ///< in solves of the size's systems after one round over them

  const System& system(std::size_t at) const { return scenarios[at].system; }
};

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

// ---- measuring ours

struct PassTimes {
  double median = 0;
  double fastest = 0;
};

/// CPU seconds per call of `once(at)`: passes over all systems, so that no system is met twice in a row.
PassTimes time_passes(std::size_t systems, double spend, const std::function<void(std::size_t)>& once) {
  std::vector<double> passes;
  const double began = cpu_seconds();
  double calls = 1;  // passes per reading of the clock, so that a reading costs nothing
  for (double before = began; before - began < spend || passes.size() < 5;) {
    for (int pass = 0; pass < static_cast<int>(calls); ++pass) {
      for (std::size_t at = 0; at < systems; ++at) once(at);
    }
    const double after = cpu_seconds();
    passes.push_back((after - before) / (calls * static_cast<double>(systems)));
    if (after - before < 1e-3) {
      calls *= 2;
      passes.clear();
    }
    before = after;
    if (after - began > 20 * spend && passes.size() >= 3) break;
  }
  std::sort(passes.begin(), passes.end());
  return {passes[passes.size() / 2], passes.front()};
}

Measured measure_fast(const Plan& plan, const Size& size, const char* name) {
  const SolverInfo& solver = *find_solver(name);
  std::vector<Problem> problems;
  for (const Scenario& scenario : size.scenarios)
    problems.push_back({scenario.system, Objective::kThroughput});
  Measured result;
  for (const Problem& problem : problems) {
    result.throughput.push_back(solve(solver, problem).performance.throughput);
  }
  result.seconds = time_passes(problems.size(), plan.pass_seconds, [&](std::size_t at) {
                     solve(solver, problems[at]);
                   }).median;
  return result;
}

Measured measure_map_reused(const Plan& plan, Size& size) {
  MapSolver solver;
  Assignment answer;
  solver.solve(size.system(0), answer);
  std::uint64_t before = bench::allocations();
  for (int again = 0; again < 10; ++again) solver.solve(size.system(0), answer);
  size.allocations_again = bench::allocations() - before;

  Measured result;
  for (const Scenario& scenario : size.scenarios) {
    result.throughput.push_back(solver.solve(scenario.system, answer).throughput);
  }
  before = bench::allocations();
  for (const Scenario& scenario : size.scenarios) solver.solve(scenario.system, answer);
  size.allocations_others = bench::allocations() - before;
  const PassTimes times = time_passes(size.scenarios.size(), plan.pass_seconds,
                                      [&](std::size_t at) { solver.solve(size.system(at), answer); });
  result.seconds = times.median;
  size.map_fastest = times.fastest;
  return result;
}

/// One solve per system within the limit. Stops after the first that did not finish, or when the budget is
/// spent.
Measured measure_slow(const Plan& plan, double budget, const Size& size, const char* name) {
  Measured result;
  const SolverInfo* solver = find_solver(name);
  if (solver == nullptr) return result;
  const double began = cpu_seconds();
  double total = 0;
  for (const Scenario& scenario : size.scenarios) {
    const CpuLimit limit(plan.limit);
    const double before = cpu_seconds();
    const Solution solution = solve(*solver, {scenario.system, Objective::kThroughput}, limit.options());
    const double taken = cpu_seconds() - before;
    if (solution.outcome != Outcome::kConverged && solution.outcome != Outcome::kOptimal) {
      result.out_of_time = true;
      break;
    }
    total += taken;
    result.throughput.push_back(solution.performance.throughput);
    if (solution.relaxed_throughput) result.relaxed.push_back(*solution.relaxed_throughput);
    if (cpu_seconds() - began > budget) break;
  }
  if (!result.throughput.empty()) result.seconds = total / static_cast<double>(result.throughput.size());
  return result;
}

/// `exact` answers at its limit as well: with the best so far and the bound proven so far.
Measured measure_exact(const Plan& plan, Size& size) {
  Measured result;
  double total = 0;
  for (const Scenario& scenario : size.scenarios) {
    const CpuLimit limit(plan.exact_limit);
    const double before = cpu_seconds();
    const Solution solution =
        solve(*find_solver("exact"), {scenario.system, Objective::kThroughput}, limit.options());
    total += cpu_seconds() - before;
    result.throughput.push_back(solution.performance.throughput);
    size.bound.push_back(solution.upper_bound.value_or(std::nan("")));
    size.remaining_gap = std::max(size.remaining_gap, solution.gap().value_or(1));
    if (solution.proven_optimal) ++result.proven;
  }
  result.seconds = total / static_cast<double>(size.scenarios.size());
  return result;
}

// ---- SciPy

Measured measure_scipy(const Plan& plan, const Size& size, const std::string& python,
                       const fs::path& folder) {
  std::string command = "OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 " + python + " " +
                        quoted(ALLOT_SCIPY_SCRIPT) + " --limit " + std::to_string(plan.limit) + " --budget " +
                        std::to_string(plan.budget);
  for (const Scenario& scenario : size.scenarios) {
    const fs::path path = folder / (scenario.name + ".json");
    std::ofstream(path) << write_scenario(scenario, FileFormat::kJson);
    command += " " + quoted(path.string());
  }
  Measured result;
  double total = 0;
  bool sound = true;
  const bool ran = run_lines(command, [&](const std::string& line) {
    const nlohmann::json answer = nlohmann::json::parse(line);
    if (!answer.at("finished").get<bool>()) {
      result.out_of_time = true;
      return;
    }
    // Its answer counts as the model sees it, not as it says itself.
    const System& system = size.system(result.throughput.size());
    Assignment assignment(system.type_count(), system.resource_count());
    for (const TaskType i : system.types()) {
      for (const ResourceId j : system.resource_ids()) {
        assignment(i, j) = answer.at("assignment").at(index(i)).at(index(j)).get<Count>();
      }
    }
    const double x = evaluate(system, assignment).throughput;
    if (!is_placement(system, assignment) || std::abs(x - answer.at("throughput").get<double>()) > 1e-9 * x) {
      sound = false;
    }
    result.throughput.push_back(x);
    result.relaxed.push_back(answer.at("relaxed_throughput").get<double>());
    total += answer.at("seconds").get<double>();
  });
  if (!ran || !sound) {
    std::fprintf(stderr, "bench_solvers: the SciPy script failed or gave an unsound answer at k = %zu\n",
                 size.k);
    std::exit(1);
  }
  if (!result.throughput.empty()) result.seconds = total / static_cast<double>(result.throughput.size());
  return result;
}

// ---- CBC

Measured measure_cbc(const Plan& plan, const Size& size, const fs::path& folder) {
  Measured result;
  double total = 0;
  for (const Scenario& scenario : size.scenarios) {
    const bench::CbcAnswer answer = bench::solve_with_cbc(scenario.system, folder, plan.limit);
    if (!answer.assignment) {
      result.out_of_time = true;
      break;
    }
    if (!is_placement(scenario.system, *answer.assignment)) {
      std::fprintf(stderr, "bench_solvers: CBC gave no assignment at k = %zu\n", size.k);
      std::exit(1);
    }
    result.throughput.push_back(evaluate(scenario.system, *answer.assignment).throughput);
    total += answer.seconds;
    if (total > plan.exact_budget) break;
  }
  if (!result.throughput.empty()) result.seconds = total / static_cast<double>(result.throughput.size());
  return result;
}

// ---- the tables

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
std::string time_cell(const Size& size, const Measured& measured, const Plan& plan) {
  const std::string beyond = "> " + time_text(plan.limit);
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

void print_times(const Plan& plan, const std::vector<Size>& sizes) {
  std::printf(
      "\nCPU time per solve, mean over the systems (SciPy: without its rounding; \"of N\": over the first N "
      "only)\n\n");
  std::vector<std::vector<std::string>> rows{{"k", "threads", "systems", "best-fit", "map",
                                              "map, kept workspace", "local", "exact", "proven",
                                              "NLopt SLSQP", "SciPy SLSQP", "CBC", "exhaustive"}};
  for (const Size& size : sizes) {
    const std::string count = std::to_string(size.scenarios.size());
    rows.push_back({std::to_string(size.k), whole_text(static_cast<double>(2 * size.k * size.k)), count,
                    time_cell(size, size.best_fit, plan), time_cell(size, size.map, plan),
                    time_cell(size, size.map_reused, plan), time_cell(size, size.local, plan),
                    time_cell(size, size.exact, plan), std::to_string(size.exact.proven) + " of " + count,
                    time_cell(size, size.nlopt, plan), time_cell(size, size.scipy, plan),
                    time_cell(size, size.cbc, plan), time_cell(size, size.exhaustive, plan)});
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

int usage() {
  std::fprintf(stderr, "usage: bench_solvers [--quick] [--sizes K,K,...] [--systems N] [--keep FOLDER]\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  Plan plan;
  fs::path folder;
  for (int a = 1; a < argc; ++a) {
    const std::string_view argument = argv[a];
    if (argument == "--quick") {
      plan.quick = true;
      plan.exact_limit = 1.5;
      plan.budget = 2;
      plan.exact_budget = 2;
      plan.pass_seconds = 0.02;
    } else if (argument == "--sizes" && a + 1 < argc) {
      std::istringstream list(argv[++a]);
      for (std::string k; std::getline(list, k, ',');) {
        const long value = std::strtol(k.c_str(), nullptr, 10);
        if (value < 1 || value > 1000) return usage();
        plan.asked_sizes.push_back(static_cast<std::size_t>(value));
      }
    } else if (argument == "--systems" && a + 1 < argc) {
      plan.asked_systems = static_cast<int>(std::strtol(argv[++a], nullptr, 10));
      if (plan.asked_systems < 1) return usage();
    } else if (argument == "--keep" && a + 1 < argc) {
      folder = argv[++a];
    } else {
      return usage();
    }
  }
  const bool keep = !folder.empty();
  if (!keep) folder = fs::temp_directory_path() / ("allot-bench-" + std::to_string(getpid()));
  fs::create_directories(folder);

  const std::string python = bench::find_python("scipy.optimize");
  std::printf("allot %s (%s), compiler %s\n%s, %u cores\n", std::string(version()).c_str(),
              std::string(build_commit()).c_str(), __VERSION__, bench::processor().c_str(),
              std::thread::hardware_concurrency());
  if (python.empty()) {
    std::printf("no SciPy here (Debian: python3-scipy): its columns stay empty\n");
  } else {
    run_lines(python + " " + quoted(ALLOT_SCIPY_SCRIPT) + " --version",
              [](const std::string& line) { std::printf("%s\n", line.c_str()); });
  }
  if (!bench::has_cbc()) std::printf("no CBC here (Debian: coinor-cbc): its columns stay empty\n");
  std::printf("limit %g CPU seconds a solve, %g for exact\n", plan.limit, plan.exact_limit);
  std::fflush(stdout);

  std::vector<Size> sizes;
  for (const std::size_t k : plan.sizes()) {
    std::fprintf(stderr, "k = %zu ...\n", k);
    Size size;
    size.k = k;
    for (int seed = 1; seed <= plan.systems(k); ++seed) {
      size.scenarios.push_back(scaled_scenario(k, static_cast<std::uint64_t>(seed)));
    }
    size.best_fit = measure_fast(plan, size, "best-fit");
    size.map = measure_fast(plan, size, "map");
    size.map_reused = measure_map_reused(plan, size);
    size.local = measure_fast(plan, size, "local");
    size.exact = measure_exact(plan, size);
    // A rival that could not finish one system is not asked about larger ones.
    const auto goes_on = [&](Measured Size::*member, std::size_t largest) {
      const Measured* last = sizes.empty() ? nullptr : &(sizes.back().*member);
      return k <= largest && (last == nullptr || (last->any() && !last->out_of_time));
    };
    if (goes_on(&Size::nlopt, plan.largest_rival()))
      size.nlopt = measure_slow(plan, plan.budget, size, "slsqp");
    if (!python.empty() && goes_on(&Size::scipy, plan.largest_rival())) {
      size.scipy = measure_scipy(plan, size, python, folder);
    }
    if (bench::has_cbc() && goes_on(&Size::cbc, plan.largest_exact_rival())) {
      size.cbc = measure_cbc(plan, size, folder);
    }
    if (goes_on(&Size::exhaustive, plan.largest_exact_rival())) {
      size.exhaustive = measure_slow(plan, plan.exact_budget, size, "exhaustive");
    }
    sizes.push_back(std::move(size));
  }
  if (!keep) fs::remove_all(folder);
  print_times(plan, sizes);
  print_quality(sizes);
  print_ratios(sizes);
  print_bars(sizes);
  return 0;
}
