// A solver's answer as text for people; shared by the commands that show one.
#pragma once

#include <vector>

#include "allot/ask/questions/solve.hpp"
#include "allot/model/scenario.hpp"
#include "allot/solve/explain.hpp"
#include "allot/solve/solution.hpp"
#include "apps/allot/terminal/console.hpp"

namespace allot::app {

/// "workstation: 4 task types, 3 resources, 24 threads"
void print_system(Console& console, const Scenario& scenario);

/// The matrix of an assignment, with threads, throughput, response times and shares around it.
void print_assignment(Console& console, const System& system, const Assignment& assignment,
                      const Performance& performance);

/// Throughput, response time and priority error in one line.
void print_headline(Console& console, const Performance& performance, bool with_error);

/// The whole answer: headline, how it ended, assignment, time shares, bounds.
void print_solution(Console& console, const Scenario& scenario, const Solution& solution);

/// How the answer compares with the plain ways: Best Fit, and for priorities the throughput given up.
void print_comparison(Console& console, const SolutionQuestion& question);

/// For each placement the best alternative and what it would cost.
void print_explanation(Console& console, const System& system, const Solution& solution,
                       const std::vector<Placement>& placements);

}  // namespace allot::app
