// Where searches begin: at home, with all minimum depths kept.
#pragma once

#include <optional>

#include "allot/model/system.hpp"

namespace allot::detail {

/// Moves tasks until no resource lies between empty and its minimum depth: a shallow resource is emptied onto
/// the next fastest ones, or filled from those that can spare tasks. If neither works, uses another placement
/// (open_sets.hpp). False if there is none; with up to four resources that have a minimum depth, this proves
/// that no assignment keeps all depths.
bool keep_depths(const System& system, Assignment& assignment);

/// The home assignment, changed to keep minimum depths; empty if that fails.
std::optional<Assignment> home_start(const System& system);

}  // namespace allot::detail
