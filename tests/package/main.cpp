// A stranger's program: builds a small system, solves it with MAP and prints its throughput X.
#include <cstdio>
#include <string_view>
#include <vector>

#include "allot/base/version.hpp"
#include "allot/model/system.hpp"
#include "allot/solve/solver.hpp"

int main() {
  const allot::Rates rates(2, 2,
                           {9.0, 2.0,    // sort
                            1.0, 8.0});  // search
  const std::vector<allot::Resource> resources{{.name = "cpu"}, {.name = "gpu"}};
  const std::vector<allot::TaskClass> tasks{{.name = "sort", .count = 6}, {.name = "search", .count = 4}};
  const allot::Problem problem{allot::System(resources, tasks, rates)};

  const allot::SolverInfo* map = allot::find_solver("map");
  if (map == nullptr) return 1;
  const allot::Solution solution = allot::solve(*map, problem);
  std::printf("version %.*s\n", static_cast<int>(allot::version().size()), allot::version().data());
  std::printf("X = %g\n", solution.performance.throughput);
  for (const allot::SolverInfo* solver : allot::builtin_solvers()) {
    std::printf("%.*s\n", static_cast<int>(solver->name.size()), solver->name.data());
  }
}
