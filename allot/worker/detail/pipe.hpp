// Pipes between a lane and what it started, which may be slow, gone or without end.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>

#include "allot/worker/detail/descriptor.hpp"

namespace allot::detail {

/// The end to read and the end to write, both closed on exec. Throws std::system_error.
std::pair<Descriptor, Descriptor> make_pipe();

/// Reads what is there, up to a megabyte: one that writes without end must not keep the others waiting, nor
/// fill the memory. False at the end of the file, or when it cannot be read.
bool read_available(int fd, std::string& into);

/// write() to a pipe whose reader may be gone, in a process that may not ignore SIGPIPE. Sets errno as
/// write() does.
ssize_t write_quietly(int fd, std::string_view bytes);

}  // namespace allot::detail
