// Messages of the policies for the user: lines on standard error, because StarPU offers no better way.
#pragma once

#include <cstdio>
#include <new>
#include <string>

#include "allot/base/quote.hpp"

namespace allot::starpu {

/// Only text reaches the terminal, whatever the name of a codelet contains.
inline void say(const std::string& line) noexcept {
  try {
    std::fprintf(stderr, "[allot] %s\n", quote::terminal(line, 4096).c_str());
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "[allot] no memory for a message\n");
  }
}
/// Allocates nothing, for when memory has run out.
inline void say(const char* where, const char* what) noexcept {
  std::fprintf(stderr, "[allot] %s: %s\n", where, what);
}

}  // namespace allot::starpu
