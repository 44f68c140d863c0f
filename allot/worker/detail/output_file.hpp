// Moves a task's output into place, so that it is either complete or absent.
#pragma once

#include <string>

namespace allot::detail {

/// Makes `temporary` durable and renames it to `final_path`, durably. Returns the error, or an empty string.
/// Takes as long as the disk needs.
std::string keep_output(const std::string& temporary, const std::string& final_path);

/// Removes the file if it exists.
void discard_output(const std::string& temporary);

/// Removes the file if it is empty.
void discard_if_empty(const std::string& file);

}  // namespace allot::detail
