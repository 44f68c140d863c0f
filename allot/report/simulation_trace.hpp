// The events of a simulation (`simulate --trace`), as a trace.
#pragma once

#include <istream>
#include <string>
#include <string_view>

namespace allot {

/// What the first line of such a file begins with.
inline constexpr std::string_view kSimulationTraceHeader =
    "time,event,task,thread,type,resource,size,response";

/// Trace events: a process per resource, and per policy where there are several, with a slice per task from
/// its start of service to its completion, on the first slot that is free then; and of each type the tasks in
/// service and those that wait at their resource. Tasks in service when the recording ended last until then,
/// and say so. Throws InvalidModel, with the line as the field, where the text is no such file.
std::string simulation_trace(std::istream& csv);

}  // namespace allot
