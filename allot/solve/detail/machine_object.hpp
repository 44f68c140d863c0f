// The machine and its work in the form that certificates use.
#pragma once

#include "allot/format/json.hpp"
#include "allot/model/system.hpp"

namespace allot::detail {

/// Resources, tasks and rates. In the certificate of a plan, the maximum response of a task has its own
/// field; otherwise it is part of the floor.
Json machine_object(const System& system, bool is_planned);

}  // namespace allot::detail
