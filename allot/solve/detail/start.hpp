// Where searches begin: at home, with every minimum depth kept.
#pragma once

#include <optional>

#include "allot/model/system.hpp"

namespace allot::detail {

/// Moves tasks until no resource lies between empty and its minimum depth: a shallow resource is emptied onto
/// the next fastest ones, or else filled from those that can spare tasks. Where that does not work, another
/// placement takes its place (open_sets.hpp). False when there is none either; with up to four resources that
/// have a minimum depth that proves that no assignment keeps all depths.
bool keep_depths(const System& system, Assignment& assignment);

/// The home assignment made to keep depths, or nothing.
std::optional<Assignment> home_start(const System& system);

}  // namespace allot::detail
