// Where searches begin: at home, with every least depth kept.
#pragma once

#include <optional>

#include "allot/model/system.hpp"

namespace allot::detail {

/// Moves tasks until no resource lies between empty and its least depth: a shallow resource is emptied onto
/// the next fastest ones, or else filled from those that can spare tasks. False when neither works; the
/// assignment is then as good as it got. Heuristic: a failure proves nothing.
bool keep_depths(const System& system, Assignment& assignment);

/// The home assignment made to keep depths, or nothing.
std::optional<Assignment> home_start(const System& system);

}  // namespace allot::detail
