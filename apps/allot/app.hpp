// The command line as a whole: picks the command, runs it, and turns what happened into an exit status.
#pragma once

#include "apps/allot/exit.hpp"
#include "apps/allot/terminal/console.hpp"

namespace allot::app {

/// Never throws: whatever goes wrong is said on standard error and in the status.
Exit run(int argc, char** argv, Console& console) noexcept;

}  // namespace allot::app
