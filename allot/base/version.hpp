// The version of this library.
#pragma once

#include <string_view>

namespace allot {

/// The version of the library, such as "0.2.0".
std::string_view version() noexcept;

/// The commit that the library was built from, such as "8f5938472cbd"; "+" follows when tracked files had
/// been changed since. "unknown" when it was not built in a git checkout.
std::string_view build_commit() noexcept;

}  // namespace allot
