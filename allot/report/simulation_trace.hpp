// The events of a simulation (`simulate --trace`), as a trace.
#pragma once

#include <istream>
#include <string>
#include <string_view>

namespace allot {

/// The beginning of the first line of such a file.
inline constexpr std::string_view kSimulationTraceHeader =
    "time,event,task,thread,type,resource,size,response";

/// Trace events: a process per resource (and per policy if there are several), with a slice per task from its
/// start of service to its completion, on the first slot that is free at that time. Per type, counters of the
/// tasks in service and of those that wait at their resource. Tasks still in service at the end of the
/// recording end there and are marked. Throws InvalidModel, with the line as the field, if the text is not
/// such a file.
std::string simulation_trace(std::istream& csv);

}  // namespace allot
