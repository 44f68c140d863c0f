// Figure 2: the four metrics of six policies under exponential sizes.
#include "paper/experiments/policies_figure.hpp"

namespace allot::experiments {

Experiment figure_2();
Experiment figure_2() { return policies_figure(2, "exponential", "exponential"); }

}  // namespace allot::experiments
