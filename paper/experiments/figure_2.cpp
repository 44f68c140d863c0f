// Figure 2: the four metrics of six policies under exponential sizes.
#include "paper/experiments/policies_figure.hpp"

namespace allot::experiments::figure_2 {

Experiment experiment();
Experiment experiment() { return policies_figure(2, "exponential", "exponential"); }

}  // namespace allot::experiments::figure_2
