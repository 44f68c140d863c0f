// allot generate: a random scenario, to try things on.
#include "apps/allot/asking.hpp"

namespace allot::app {

extern const Command generate_command;
const Command generate_command = plain_command("generate", "JSON instead of TOML");

}  // namespace allot::app
