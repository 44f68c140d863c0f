// Figure 4: the four metrics of six policies under uniform sizes.
#include "paper/experiments/policies_figure.hpp"

namespace allot::experiments::figure_4 {

Experiment experiment();
Experiment experiment() { return policies_figure(4, "uniform", "uniform"); }

}  // namespace allot::experiments::figure_4
