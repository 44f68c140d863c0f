// The allot command: argv -> library -> exit status.
#include "apps/allot/app.hpp"

int main(int argc, char** argv) {
  allot::app::Console console;
  return static_cast<int>(allot::app::run(argc, argv, console));
}
