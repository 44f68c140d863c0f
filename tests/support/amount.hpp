// How much of a long test is run.
#pragma once

#include <cstdint>

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

/// The number as it is; under a sanitizer, which is there for how and not for what is computed, a tenth.
constexpr std::uint64_t amount(std::uint64_t number) noexcept {
  return kIsSanitized && number >= 10 ? number / 10 : number;
}

}  // namespace allot::testing
