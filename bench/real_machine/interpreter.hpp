// The branchy, sequential work: a small register machine whose jumps depend on its data, so that nothing can
// be vectorised and threads that run different programs side by side diverge at every step.
#pragma once

#include <array>
#include <cstdint>

#ifdef __CUDACC__
#define REAL_MACHINE_BOTH __host__ __device__
#else
#define REAL_MACHINE_BOTH
#endif

namespace real_machine {

struct Program {
  static constexpr std::uint32_t kLength = 64;
  std::uint32_t seed = 0;
  std::uint32_t code[kLength] = {};  ///< operation in the low 3 bits, two registers, a distance to jump
};

REAL_MACHINE_BOTH inline std::uint32_t interpret(const Program& program, std::uint32_t steps) {
  std::uint32_t r[8];
  for (std::uint32_t k = 0; k < 8; ++k) r[k] = program.seed * (2 * k + 1) + k;
  std::uint32_t at = 0;
  for (std::uint32_t step = 0; step < steps; ++step) {
    const std::uint32_t word = program.code[at];
    std::uint32_t& a = r[(word >> 3) & 7];
    const std::uint32_t b = r[(word >> 6) & 7];
    std::uint32_t jump = 1;
    switch (word & 7) {
      case 0:
        a += b;
        break;
      case 1:
        a ^= b << 7;
        break;
      case 2:
        a = a * 2654435761U + b;
        break;
      case 3:
        a ^= b >> 9;
        break;
      case 4:
        jump = (a & 1) != 0 ? word >> 16 : 1;
        break;
      case 5:
        jump = a < b ? word >> 16 : 1;
        break;
      case 6:
        a = (a << 5) | (a >> 27);
        break;
      default:
        a -= b * 3;
        break;
    }
    at = (at + jump) % Program::kLength;
  }
  std::uint32_t sum = 0;
  for (std::uint32_t k = 0; k < 8; ++k) sum = sum * 31 + r[k];
  return sum;
}

}  // namespace real_machine
