// The machine and its work as certificates have them.
#pragma once

#include "allot/format/json.hpp"
#include "allot/model/system.hpp"

namespace allot::detail {

/// Resources, tasks and rates. In the certificate of a plan, the maximum response of a task has a field of
/// its own; else it is in the floor.
Json machine_object(const System& system, bool is_planned);

}  // namespace allot::detail
