// A program that links the library, as its users do: run by entry_test.py under different variables.
#include "integrations/starpu/allot_starpu.h"
#include "tests/starpu/entry_program.hpp"

int main() { return run_twice(&allot_starpu_map); }
