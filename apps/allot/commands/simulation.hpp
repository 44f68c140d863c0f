// Output that all commands with simulations share.
#pragma once

#include <string>

#include "allot/model/scenario.hpp"
#include "allot/simulate/simulate.hpp"
#include "apps/allot/asking.hpp"
#include "apps/allot/terminal/console.hpp"

namespace allot::app {

/// Answers the question, and shows the progress.
void answer_with_progress(Asking& asking, const Console& console);

/// Lines below the system: threads that change type, changes of the population, arrivals. Nothing if counts
/// are constant.
void print_work(Console& console, const Scenario& scenario);

/// "12.41 ± 0.02": with as many digits as the interval supports.
std::string with_interval(const Estimate& value);
/// "1.450 ± 0.003 s"
std::string duration_with_interval(const Estimate& value);
/// "10 replications of 100,000 completions after 400 of warm-up"
std::string effort(const SimulationResult& result);

}  // namespace allot::app
