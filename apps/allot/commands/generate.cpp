// allot generate: a random scenario, to try things on.
#include "apps/allot/asking.hpp"

namespace allot::app::generate_command {

extern const Command command;
const Command command = plain_command("generate", "JSON instead of TOML");

}  // namespace allot::app::generate_command
