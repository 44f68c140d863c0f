// What the policies have to say to whoever runs the program: lines on standard error, since StarPU has no
// better way.
#pragma once

#include <cstdio>
#include <string>

namespace allot::starpu {

inline void say(const std::string& line) noexcept { std::fprintf(stderr, "[allot] %s\n", line.c_str()); }
/// Without memory, for when there is none.
inline void say(const char* where, const char* what) noexcept {
  std::fprintf(stderr, "[allot] %s: %s\n", where, what);
}

}  // namespace allot::starpu
