// Figure 3: the four metrics of six policies under bounded Pareto sizes.
#include "paper/experiments/policies_figure.hpp"

namespace allot::experiments {

Experiment figure_3();
Experiment figure_3() { return policies_figure(3, "bounded-pareto", "bounded Pareto"); }

}  // namespace allot::experiments
