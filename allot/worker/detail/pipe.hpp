// Pipes between a lane and the process that it started, which may be slow, gone or write without end.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>

#include "allot/worker/detail/descriptor.hpp"

namespace allot::detail {

/// The end to read and the end to write, both closed on exec. Throws std::system_error.
std::pair<Descriptor, Descriptor> make_pipe();

/// Reads what is available, up to a megabyte: a process that writes without end must not delay others or fill
/// the memory. False at the end of the file, or after a read error.
bool read_available(int fd, std::string& into);

/// write() to a pipe whose reader may be gone, for a process that may not ignore SIGPIPE. Sets errno as
/// write() does.
ssize_t write_quietly(int fd, std::string_view bytes);

}  // namespace allot::detail
