// The way in for programs that are not changed: LD_PRELOAD puts this `starpu_initialize` before StarPU's, and
// everything that starts StarPU ends there (`starpu_init`, `starpu_mpi_init_conf`). STARPU_SCHED chooses as
// always, with allot's names among the others; StarPU 1.3 would not know them.
#include <dlfcn.h>
#include <starpu.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "integrations/starpu/allot_starpu.h"
#include "integrations/starpu/message.hpp"

namespace {

using Initialize = int (*)(starpu_conf*, int*, char***);

/// Whether this library is here because LD_PRELOAD names it, rather than linked.
bool preloaded() {
  const char* const list = std::getenv("LD_PRELOAD");
  Dl_info self{};
  if (list == nullptr || dladdr(reinterpret_cast<void*>(&preloaded), &self) == 0) return false;
  const char* const slash = std::strrchr(self.dli_fname, '/');
  return std::strstr(list, slash == nullptr ? self.dli_fname : slash + 1) != nullptr;
}

/// STARPU_SCHED out of sight while StarPU starts: it would go before `conf.sched_policy`.
class HiddenChoice {
 public:
  explicit HiddenChoice(const char* value) : value_(value == nullptr ? "" : value), set_(value != nullptr) {
    unsetenv("STARPU_SCHED");
  }
  ~HiddenChoice() {
    if (set_) setenv("STARPU_SCHED", value_.c_str(), 1);
  }
  HiddenChoice(const HiddenChoice&) = delete;
  HiddenChoice& operator=(const HiddenChoice&) = delete;

 private:
  std::string value_;
  bool set_;
};

}  // namespace

extern "C" int starpu_initialize(starpu_conf* user_conf, int* argc, char*** argv) {
  const auto real = reinterpret_cast<Initialize>(dlsym(RTLD_NEXT, "starpu_initialize"));
  if (real == nullptr) {
    allot::starpu::say("there is no StarPU behind this library");
    return -ENODEV;
  }
  const char* const choice = std::getenv("STARPU_SCHED");
  const bool ours = choice != nullptr && std::strncmp(choice, "allot-", 6) == 0;
  if (!ours && (choice != nullptr || !preloaded())) return real(user_conf, argc, argv);
  starpu_sched_policy* const policy = allot_starpu_policy(ours ? choice : "allot-map");
  if (policy == nullptr) {
    std::string names;
    for (const auto* known : {&allot_starpu_map, &allot_starpu_mis, &allot_starpu_weighted}) {
      names += std::string(names.empty() ? "" : ", ") + known->policy_name;
    }
    allot::starpu::say("there is no policy '" + std::string(choice) + "': STARPU_SCHED is one of " + names +
                       ", or of StarPU's own");
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
  const HiddenChoice hidden(choice);
  return real(&conf, argc, argv);
}
