// Pinned samples, to the last bit. A difference is a platform that does not compute as IEEE 754 says, or a
// change of a sampler, which changes every simulation result: pin again only when that is meant.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "allot/size/distribution.hpp"

namespace allot {
namespace {

struct Pinned {
  std::string spec;
  std::array<double, 4> first;  ///< samples of RandomStream(1)
  std::uint64_t digest;         ///< FNV-1a over the bits of the first 100,000
};

void PrintTo(const Pinned& pinned, std::ostream* out) { *out << pinned.spec; }

class PinnedSamples : public ::testing::TestWithParam<Pinned> {};

TEST_P(PinnedSamples, AreTheSameToTheLastBit) {
  const Pinned& pinned = GetParam();
  RandomStream random(1);
  std::vector<double> sizes(100'000);
  make_distribution(pinned.spec)->sample(random, sizes);
  std::uint64_t digest = 0xcbf29ce484222325;
  for (const double size : sizes) digest = (digest ^ std::bit_cast<std::uint64_t>(size)) * 0x100000001b3;
  for (std::size_t at = 0; at < pinned.first.size(); ++at) {
    EXPECT_EQ(sizes[at], pinned.first[at]) << at << ": " << std::hexfloat << sizes[at];
  }
  EXPECT_EQ(digest, pinned.digest) << std::hex << "0x" << digest;
}

INSTANTIATE_TEST_SUITE_P(
    Golden, PinnedSamples,
    ::testing::Values(
        Pinned{"exponential",
               {0x1.504a2ab703324p-4, 0x1.11d02dda12fd5p+1, 0x1.4d09e0230cbe3p-3, 0x1.260af4b97a994p+0},
               0x9993ca7e2cdbd131},
        Pinned{"bounded-pareto",
               {0x1.df349ebf15bf5p+0, 0x1.7f2bb96ef4392p-2, 0x1.37f9d47da318dp+0, 0x1.c68082a2b7615p-2},
               0x34a1e95c1607dcb0},
        Pinned{"bounded-pareto:alpha=1",
               {0x1.d04653b0e5bebp+0, 0x1.4fab17dc0a26ap-3, 0x1.ea95e704d0d98p-1, 0x1.b17f4ce2c23e2p-3},
               0x198ad6f83785ca96},
        Pinned{"bounded-pareto:alpha=0.75,ratio=100",
               {0x1.73bf05b3b6dbcp+1, 0x1.674b2368c8579p-3, 0x1.80ab04dcc664fp+0, 0x1.f2964351e4135p-3},
               0x1bb47de35f356071},
        Pinned{"uniform",
               {0x1.d7a4a4f00a661p+0, 0x1.e251065d078a8p-3, 0x1.b32854b84bb9dp+0, 0x1.44b0540b6eb3ep-1},
               0x6992d4f506c8d3a7},
        Pinned{"deterministic", {0x1p+0, 0x1p+0, 0x1p+0, 0x1p+0}, 0x7a594018df3e37a5},
        Pinned{"lognormal",
               {0x1.be93c8bb28bfdp-3, 0x1.e60638a4ae0c6p+0, 0x1.319bee9eb8eb5p-2, 0x1.0d06447d20952p+0},
               0x287198472091df9b},
        Pinned{"lognormal:cv=2.5",
               {0x1.a0600245b273cp-5, 0x1.f8e6b6dea89b7p+0, 0x1.61e5a60819e09p-4, 0x1.7386c0b14b8d4p-1},
               0xc27ae57c6853d051},
        Pinned{"weibull",
               {0x1.b9c2c59d21526p-9, 0x1.24ddab15a7158p+1, 0x1.b142b17cb5dbp-7, 0x1.51bd2a920e07bp-1},
               0xbaa0aa9018226123},
        Pinned{"weibull:shape=1.7",
               {0x1.07c1425dd4b1p-2, 0x1.c0c3731cb9484p+0, 0x1.8a4578bd5b566p-2, 0x1.37478e629eeb8p+0},
               0x9d5ea0aec1e0f932},
        Pinned{"hyperexponential",
               {0x1.9616457b6d29ap+0, 0x1.2357aee55cd33p+0, 0x1.8d63fcf45f323p-6, 0x1.28e45f76a146fp-1},
               0x436b5b38d86333a},
        Pinned{"hyperexponential:cv=10",
               {0x1.3d708803e9822p-5, 0x1.128a6a6d5b01bp+0, 0x1.447020830ab3ap-4, 0x1.263ad585d696bp-1},
               0xb5882fb608e5d646}));

}  // namespace
}  // namespace allot
