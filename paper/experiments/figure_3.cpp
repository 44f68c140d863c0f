// Figure 3: the four metrics of six policies under bounded Pareto sizes.
#include "paper/experiments/policies_figure.hpp"

namespace allot::experiments::figure_3 {

Experiment experiment();
Experiment experiment() { return policies_figure(3, "bounded-pareto", "bounded Pareto"); }

}  // namespace allot::experiments::figure_3
