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
#include "bench/solvers/measured.hpp"
#include "bench/solvers/tables.hpp"
#include "bench/support/report.hpp"

namespace {

using namespace allot;
using bench::cpu_seconds;
using bench::Measured;
using bench::quoted;
using bench::run_lines;
using bench::Size;
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
  bench::print_tables(sizes, plan.limit);
  return 0;
}
