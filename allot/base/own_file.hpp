// Files that allot writes where other users can write, too: always new, never through a link, under
// unpredictable names.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>

namespace allot {

/// Who may read the file; the user's umask may restrict it further.
enum class Readers {
  kOwner,     ///< 0600: for files that may hold secrets
  kEveryone,  ///< 0666
};

/// Writes a new file under a random name beside its place, and renames it: it is never incomplete, and no
/// existing file is written to. A link at `path` is replaced, not followed.
std::error_code replace_file(const std::string& path, std::string_view content, Readers readers);
/// Whether this is a temporary name of `replace_file`: a killed process leaves such a file behind.
bool is_unfinished(std::string_view name) noexcept;

/// Creates a folder that only its owner can enter, or restricts an existing one to that. Refuses a link, a
/// file, and the folder of another user. Parents must exist.
std::error_code make_private_folder(const std::string& path);

/// This many random hexadecimal digits from the kernel; at most 64.
std::string random_digits(std::size_t count);

}  // namespace allot
