// The command line: selects the command, runs it, and converts the outcome to an exit status.
#pragma once

#include "apps/allot/exit.hpp"
#include "apps/allot/terminal/console.hpp"

namespace allot::app {

/// Never throws: every error is reported on standard error and in the status.
Exit run(int argc, char** argv, Console& console) noexcept;

}  // namespace allot::app
