// The interface between the page and the library: text in, text out.
#include <emscripten.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "integrations/wasm/answer.hpp"

namespace {

// clang-format off: the body is JavaScript.
EM_JS(void, tell_progress, (double share), {
  if (Module["onProgress"]) Module["onProgress"](share);
});
// clang-format on

}  // namespace

/// The answer to a question; the caller must free it.
extern "C" EMSCRIPTEN_KEEPALIVE char* allot_answer(const char* command, const char* scenario, int is_json,
                                                   const char* options) {
  const std::string text = allot::wasm::answer({command, scenario, is_json != 0, options, tell_progress});
  char* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}
