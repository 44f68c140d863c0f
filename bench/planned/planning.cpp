// What planning costs: from nothing, and again from the former basis after rates, counts or worths have
// changed a little, as for a dispatcher that plans anew. Boxes from 4 x 4 to 64 x 64, with limits, and with
// so many ties that most steps of the simplex method change nothing. 500 x 500 under a time limit shows what
// an early stop returns.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "allot/base/random.hpp"
#include "allot/solve/solver.hpp"

namespace {

using namespace allot;

struct Box {
  std::size_t types;
  std::size_t resources;
  bool has_ties;
  bool has_limits;
};

/// `drift` is how far rates, counts and worths are from those of the seed.
Problem box_of(const Box& box, std::uint64_t seed, double drift) {
  RandomStream random(seed, 1);
  RandomStream moved(seed, 2 + static_cast<std::uint64_t>(drift * 1e6));
  const auto around = [&](double value) { return value * (1 + drift * moved.uniform(-1, 1)); };
  std::vector<Resource> resources(box.resources);
  for (std::size_t j = 0; j < box.resources; ++j) {
    resources[j].name = "r" + std::to_string(j);
    resources[j].servers = 1 + static_cast<Count>(random.below(8));
    resources[j].power = random.uniform(20, 200);
    resources[j].idle_power = random.uniform(1, 20);
  }
  std::vector<TaskClass> tasks(box.types);
  std::vector<double> rates;
  for (std::size_t i = 0; i < box.types; ++i) {
    tasks[i].name = "t" + std::to_string(i);
    tasks[i].count = 1 + static_cast<Count>(random.below(16));
    if (drift > 0 && moved.below(4) == 0) ++tasks[i].count;
    if (!box.has_ties) tasks[i].worth = around(random.uniform(0.1, 10));
    for (std::size_t j = 0; j < box.resources; ++j)
      rates.push_back(box.has_ties ? static_cast<double>(1 + random.below(2))
                                   : around(random.uniform(0.5, 20)));
    if (box.has_limits && random.below(3) == 0) tasks[i].floor = around(0.05);
  }
  Problem problem{
      System(std::move(resources), std::move(tasks), Rates(box.types, box.resources, std::move(rates)))};
  if (box.has_limits) problem.power_cap = around(1e6);
  return problem;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void planning(benchmark::State& state) {
  const SolverInfo& planned = *find_solver("planned");
  constexpr Box kBoxes[] = {{4, 4, false, false},  {16, 16, false, false}, {16, 16, false, true},
                            {16, 16, true, false}, {64, 64, false, false}, {64, 64, false, true},
                            {64, 64, true, false}};
  for (auto _ : state) {
    std::printf("%-10s %-8s %12s %12s %8s\n", "box", "", "cold", "warm", "ratio");
    for (const Box& box : kBoxes) {
      std::vector<double> cold;
      std::vector<double> warm;
      for (std::uint64_t seed = 0; seed < 10; ++seed) {
        SolveOptions options;
        options.plan_basis = std::make_shared<PlanBasis>();
        solve(planned, box_of(box, seed, 0), options);
        for (int step = 1; step <= 10; ++step) {
          const Problem problem = box_of(box, seed, 0.01 * step);
          const Solution again = solve(planned, problem, options);
          const Solution anew = solve(planned, problem);
          warm.push_back(again.seconds);
          cold.push_back(anew.seconds);
          if (std::abs(again.objective_value - anew.objective_value) > 1e-7 * anew.objective_value)
            std::printf("differs: %.12g %.12g\n", again.objective_value, anew.objective_value);
        }
      }
      std::printf("%-10s %-8s %9.3f ms %9.3f ms %8.1f\n",
                  (std::to_string(box.types) + " x " + std::to_string(box.resources)).c_str(),
                  box.has_ties     ? "ties"
                  : box.has_limits ? "limits"
                                   : "",
                  1e3 * median(cold), 1e3 * median(warm), median(cold) / median(warm));
    }
    for (const double limit : {0.5, 2.0, 60.0}) {
      SolveOptions options;
      options.stop.deadline =
          Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limit));
      const Solution found = solve(planned, box_of({500, 500, false, false}, 1, 0), options);
      std::printf("500 x 500, at most %g s: %s after %.2f s, value %.6g, bound %s\n", limit,
                  std::string(to_string(found.outcome)).c_str(), found.seconds, found.performance.value,
                  found.upper_bound ? std::to_string(*found.upper_bound).c_str() : "none");
    }
  }
}
BENCHMARK(planning)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
