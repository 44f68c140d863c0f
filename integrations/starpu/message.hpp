// What the policies have to say to whoever runs the program: lines on standard error, since StarPU has no
// better way.
#pragma once

#include <cstdio>
#include <new>
#include <string>

#include "allot/base/quote.hpp"

namespace allot::starpu {

/// Nothing but text reaches the terminal, whatever a codelet is called.
inline void say(const std::string& line) noexcept {
  try {
    std::fprintf(stderr, "[allot] %s\n", quote::terminal(line, 4096).c_str());
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "[allot] no memory for a message\n");
  }
}
/// Without memory, for when there is none.
inline void say(const char* where, const char* what) noexcept {
  std::fprintf(stderr, "[allot] %s: %s\n", where, what);
}

}  // namespace allot::starpu
