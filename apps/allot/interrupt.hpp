// Ctrl-C: the first asks the solver for its best result so far, the second ends the command at once.
#pragma once

#include "allot/base/stop.hpp"

namespace allot::app {

/// From now on, SIGINT sets the flag and does not end the process. Call it once the input has been read.
const StopFlag& catch_interrupts() noexcept;

/// The same for TERM and HUP, for work that must be saved in any case.
void catch_terminations() noexcept;

/// Whether SIGINT has arrived since then.
bool interrupted() noexcept;

}  // namespace allot::app
