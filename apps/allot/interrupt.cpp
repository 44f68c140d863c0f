#include "apps/allot/interrupt.hpp"

#include <signal.h>
#include <unistd.h>

#include "apps/allot/exit.hpp"

namespace allot::app {
namespace {

StopFlag interrupt_flag{false};  // a signal handler can only reach globals
static_assert(StopFlag::is_always_lock_free);

extern "C" void on_interrupt(int) {
  if (interrupt_flag.exchange(true)) ::_exit(static_cast<int>(Exit::kInterrupted));
}

void set_flag_on(int number) noexcept {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(number, &action, nullptr);
}

}  // namespace

const StopFlag& catch_interrupts() noexcept {
  set_flag_on(SIGINT);
  return interrupt_flag;
}

void catch_terminations() noexcept {
  for (const int number : {SIGTERM, SIGHUP}) set_flag_on(number);
}

bool interrupted() noexcept { return interrupt_flag.load(); }

}  // namespace allot::app
