// A program that knows nothing of allot: run by entry_test.py under different variables.
#include "tests/starpu/entry_program.hpp"

int main() { return run_twice(nullptr); }
