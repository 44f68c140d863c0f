// `allot worker` and nothing else, for unit tests under sanitizers: they need the far end of a lane, and
// compiling the whole command for them would take longer than all else. Without sanitizers they take the
// command itself.
#include <cstdio>
#include <cstring>

#include "allot/worker/serve.hpp"

int main(int count, char** words) {
  if (count != 2 || std::strcmp(words[1], "worker") != 0) return 2;
  const allot::ServeOutcome outcome = allot::serve();
  if (outcome.in_order) return 0;
  std::fprintf(stderr, "error: the worker ended: %s\n", outcome.why.c_str());
  return 1;
}
