// Putting a task's output in place so that it is either all there or not at all.
#pragma once

#include <string>

namespace allot::detail {

/// Makes `temporary` durable and renames it to `final_path`, durably. Returns what went wrong; empty:
/// nothing. Takes as long as the disk does.
std::string keep_output(const std::string& temporary, const std::string& final_path);

/// Removes it, if it is there.
void discard_output(const std::string& temporary);

/// Removes the file if there is nothing in it.
void discard_if_empty(const std::string& file);

}  // namespace allot::detail
