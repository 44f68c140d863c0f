#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <vector>

#include "allot/base/error.hpp"
#include "allot/size/distribution.hpp"

namespace allot {
namespace {

/// A file of this process alone that goes when the test does. Its name has all that parameters are made of.
class TraceFile : public ::testing::Test {
 protected:
  ~TraceFile() override { std::filesystem::remove(path_); }

  std::unique_ptr<const Distribution> read(const std::string& text) {
    std::ofstream(path_, std::ios::binary) << text;
    return make_distribution("trace:" + path_);
  }

  /// What is said about a bad file, without the name of the file.
  std::string refusal(const std::string& text) {
    try {
      (void)read(text);
    } catch (const InvalidModel& error) {
      EXPECT_EQ(error.field(), "trace:" + path_);
      return std::string(error.what()).substr(error.field().size() + 2);
    }
    return "accepted";
  }

  std::string path_ = ::testing::TempDir() + "allot_trace_" + std::to_string(::getpid()) + ":a,b=c.txt";
};

std::map<double, int> histogram(const Distribution& distribution, std::size_t count) {
  RandomStream random(42);
  std::vector<double> values(count);
  distribution.sample(random, values);
  std::map<double, int> hits;
  for (const double value : values) ++hits[value];
  return hits;
}

TEST_F(TraceFile, DrawsEveryLineEquallyOftenScaledToMeanOne) {
  const auto distribution = read("1\n2\n3\n4\n10\n");
  EXPECT_DOUBLE_EQ(distribution->variance(), (9 + 4 + 1 + 0 + 36) / 5.0 / 16);
  constexpr int kCount = 100'000;
  const std::map<double, int> hits = histogram(*distribution, kCount);
  ASSERT_EQ(hits.size(), 5U);
  const double sizes[] = {0.25, 0.5, 0.75, 1, 2.5};
  double chi_square = 0;  // 4 degrees of freedom; 5 standard deviations above the mean
  for (const double size : sizes) {
    ASSERT_TRUE(hits.contains(size)) << size;
    chi_square += std::pow(hits.at(size) - kCount / 5.0, 2) / (kCount / 5.0);
  }
  EXPECT_LT(chi_square, 4 + 5 * std::sqrt(8.0));
}

TEST_F(TraceFile, AllowsCommentsBlankLinesSpacesAndBothLineEnds) {
  const auto plain = read("1\n3\n");
  const auto decorated = read("# measured on Monday\n\n  1\t\r\n   \n3e0 # slow\n#3\n");
  EXPECT_EQ(histogram(*plain, 1000), histogram(*decorated, 1000));
  const auto no_last_newline = read("1\n3");
  EXPECT_EQ(histogram(*plain, 1000), histogram(*no_last_newline, 1000));
}

TEST_F(TraceFile, CountsARepeatedSizeEachTime) {
  const auto distribution = read("1\n1\n1\n5\n");
  const std::map<double, int> hits = histogram(*distribution, 40'000);
  ASSERT_EQ(hits.size(), 2U);
  EXPECT_NEAR(hits.at(0.5), 30'000, 5 * std::sqrt(7500.0));
  EXPECT_DOUBLE_EQ(distribution->variance(), 0.75);
}

TEST_F(TraceFile, WithOneSizeIsDeterministic) {
  const auto distribution = read("0.001\n");
  EXPECT_EQ(distribution->variance(), 0);
  EXPECT_EQ(histogram(*distribution, 100), (std::map<double, int>{{1.0, 100}}));
}

TEST_F(TraceFile, HasMeanOneForManySizesOfAllMagnitudes) {
  std::string text;
  for (int at = 0; at < 1000; ++at) text += std::to_string(std::exp(0.017 * at - 5)) + "\n";
  // All different, and each is drawn: missing one of them has probability 1e-19.
  const std::map<double, int> hits = histogram(*read(text), 50'000);
  ASSERT_EQ(hits.size(), 1000U);
  double sum = 0;
  for (const auto& [size, count] : hits) sum += size;
  EXPECT_NEAR(sum / 1000, 1, 1e-13);
}

TEST_F(TraceFile, ScalesSizesWhoseSumWouldOverflow) {
  const auto distribution = read("1e308\n1e308\n1e308\n");
  EXPECT_EQ(histogram(*distribution, 10), (std::map<double, int>{{1.0, 10}}));
}

TEST_F(TraceFile, NamesEveryBadLineWithItsNumber) {
  EXPECT_EQ(refusal("1\nfast\n# note\n-2\n\n0\nnan\ninf\n1e999\n1 2\n0x10\n+3\n5\n"),
            "line 2: 'fast' is not a positive, finite number; "
            "line 4: '-2' is not a positive, finite number; "
            "line 6: '0' is not a positive, finite number; "
            "line 7: 'nan' is not a positive, finite number; "
            "line 8: 'inf' is not a positive, finite number; "
            "line 9: '1e999' is not a positive, finite number; "
            "line 10: '1 2' is not a positive, finite number; "
            "line 11: '0x10' is not a positive, finite number; "
            "line 12: '+3' is not a positive, finite number");
}

TEST_F(TraceFile, ShowsForeignBytesSafelyAndShort) {
  EXPECT_EQ(refusal(std::string("\x1b[31m\xff") + std::string(100, 'x')),
            "line 1: '?[31m?" + std::string(34, 'x') + "...' is not a positive, finite number");
}

TEST_F(TraceFile, ListsAHundredBadLinesAndCountsTheRest) {
  std::string text;
  for (int at = 0; at < 130; ++at) text += "x\n";
  const std::string message = refusal(text);
  EXPECT_NE(message.find("line 100: "), std::string::npos);
  EXPECT_EQ(message.find("line 101: "), std::string::npos);
  EXPECT_EQ(message.substr(message.rfind("; ")), "; and 30 more");
}

TEST_F(TraceFile, RefusesAFileWithoutSizes) {
  EXPECT_EQ(refusal(""), "holds no size; one number per line is expected");
  EXPECT_EQ(refusal("# nothing\n\n"), "holds no size; one number per line is expected");
}

TEST_F(TraceFile, RefusesSizesThatVanishBesideTheOthers) {
  EXPECT_EQ(refusal("1e300\n1e-300\n2\n"), "line 2: '1e-300' is too small beside the others");
}

TEST_F(TraceFile, IsNamedByItsPath) { EXPECT_EQ(read("1\n2\n")->spec(), "trace:" + path_); }

TEST(Trace, RefusesAnEndlessFile) {
  if (!std::filesystem::exists("/dev/zero")) GTEST_SKIP() << "there is no /dev/zero";
  EXPECT_THROW((void)make_distribution("trace:/dev/zero"), InvalidModel);
}

}  // namespace
}  // namespace allot
