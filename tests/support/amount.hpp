// How much of a long test is run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace allot::testing {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kIsSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif
#else
inline constexpr bool kIsSanitized = false;
#endif

/// The number as it is; under a sanitizer, which is there for how and not for what is computed, a tenth of it
/// but at least 1. `make test-long` sets ALLOT_WHOLE_TESTS: then it is the whole there, too.
inline std::uint64_t amount(std::uint64_t number) noexcept {
  static const bool is_whole = !kIsSanitized || std::getenv("ALLOT_WHOLE_TESTS") != nullptr;
  return is_whole ? number : std::max<std::uint64_t>(1, number / 10);
}

}  // namespace allot::testing
