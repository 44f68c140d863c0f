// Ctrl-C: the first asks the solver for its best so far, the second ends the command at once.
#pragma once

#include "allot/base/stop.hpp"

namespace allot::app {

/// From now on, SIGINT sets the flag instead of ending the process. Call it once the input has been read.
const StopFlag& catch_interrupts() noexcept;

/// The same for TERM and HUP, for work that is to be kept whoever ends it.
void catch_terminations() noexcept;

/// Whether SIGINT has come since.
bool interrupted() noexcept;

}  // namespace allot::app
