// Files of ours, where others can write too: made new, never through a link, under names that nobody can
// foresee.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>

namespace allot {

/// Who may read what is written; the user's umask takes away more.
enum class Readers {
  kOwner,     ///< 0600: what may hold secrets
  kEveryone,  ///< 0666
};

/// Writes a file beside its place, new and under a random name, and moves it there: it is never half there,
/// and what lies at either name is not written to. A link at `path` is replaced, not followed.
std::error_code replace_file(const std::string& path, std::string_view content, Readers readers);
/// Whether this is a name under which `replace_file` writes: who is killed leaves such a file behind.
bool is_unfinished(std::string_view name) noexcept;

/// A folder that only its owner can enter: made, or found and then made so. Refuses a link, a file, and the
/// folder of another user. Parents must exist.
std::error_code make_private_folder(const std::string& path);

/// So many random hexadecimal digits, of the kernel's; at most 64.
std::string random_digits(std::size_t count);

}  // namespace allot
