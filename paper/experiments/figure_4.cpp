// Figure 4: the four metrics of six policies under uniform sizes.
#include "paper/experiments/policies_figure.hpp"

namespace allot::experiments {

Experiment figure_4();
Experiment figure_4() { return policies_figure(4, "uniform", "uniform"); }

}  // namespace allot::experiments
