// The entry for unchanged programs: LD_PRELOAD puts this `starpu_initialize` before StarPU's, and everything
// that starts StarPU calls it (`starpu_init`, `starpu_mpi_init_conf`). STARPU_SCHED works as usual, with the
// names of allot's policies added; StarPU 1.3 would not know them.
#include <dlfcn.h>
#include <starpu.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "integrations/starpu/allot_starpu.h"
#include "integrations/starpu/message.hpp"

extern "C" starpu_sched_policy** starpu_get_sched_lib_policies(void);

namespace {

using Initialize = int (*)(starpu_conf*, int*, char***);

/// Whether this library was loaded because LD_PRELOAD names it, and not because it is linked.
bool preloaded() {
  const char* const list = std::getenv("LD_PRELOAD");
  Dl_info self{};
  if (list == nullptr || dladdr(reinterpret_cast<void*>(&preloaded), &self) == 0) return false;
  const char* const slash = std::strrchr(self.dli_fname, '/');
  return std::strstr(list, slash == nullptr ? self.dli_fname : slash + 1) != nullptr;
}

/// Hides STARPU_SCHED while StarPU starts: it would override `conf.sched_policy`.
class HiddenChoice {
 public:
  /// `value` is restored afterwards and must stay valid; null: not set.
  explicit HiddenChoice(const char* value) noexcept : value_(value) { unsetenv("STARPU_SCHED"); }
  ~HiddenChoice() {
    if (value_ != nullptr) setenv("STARPU_SCHED", value_, 1);
  }
  HiddenChoice(const HiddenChoice&) = delete;
  HiddenChoice& operator=(const HiddenChoice&) = delete;

 private:
  const char* value_;
};

}  // namespace

// Must not throw: its caller is C.
extern "C" int starpu_initialize(starpu_conf* user_conf, int* argc, char*** argv) {
  const auto real = reinterpret_cast<Initialize>(dlsym(RTLD_NEXT, "starpu_initialize"));
  if (real == nullptr) {
    allot::starpu::say("starpu_initialize", "there is no StarPU behind this library");
    return -ENODEV;
  }
  const char* const choice = std::getenv("STARPU_SCHED");
  const bool ours = choice != nullptr && std::strncmp(choice, "allot-", 6) == 0;
  if (!ours && (choice != nullptr || !preloaded())) return real(user_conf, argc, argv);
  starpu_sched_policy* const policy = allot_starpu_policy(ours ? choice : "allot-map");
  if (policy == nullptr) {
    std::fprintf(stderr, "[allot] there is no policy '%s': STARPU_SCHED is one of ", choice);
    for (starpu_sched_policy** known = starpu_get_sched_lib_policies(); *known != nullptr; ++known)
      std::fprintf(stderr, "%s, ", (*known)->policy_name);
    std::fprintf(stderr, "or of StarPU's own\n");
    return -ENODEV;
  }
  starpu_conf conf;
  if (user_conf != nullptr) {
    std::memcpy(&conf, user_conf, sizeof conf);
  } else {
    starpu_conf_init(&conf);
  }
  conf.sched_policy_name = nullptr;
  conf.sched_policy = policy;
  const HiddenChoice hidden(ours ? policy->policy_name : nullptr);
  return real(&conf, argc, argv);
}
