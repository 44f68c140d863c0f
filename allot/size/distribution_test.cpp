// What every distribution owes its caller, over the table of built-ins and the one to copy; and the texts
// that name them.
#include "allot/size/distribution.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <vector>

#include "allot/base/error.hpp"

namespace allot {
namespace sizes {
extern const DistributionInfo template_distribution;
}  // namespace sizes

namespace {

/// A file of this process alone, for the trace.
class SizesFile {
 public:
  SizesFile() { std::ofstream(path_) << "0.5\n1.5\n2.5\n7\n"; }
  ~SizesFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_ = ::testing::TempDir() + "allot_sizes_" + std::to_string(::getpid()) + ".txt";
};

const std::string& trace_path() {
  static const SizesFile kFile;
  return kFile.path();
}

/// With default parameters; the trace with a file.
std::unique_ptr<const Distribution> make_default(const DistributionInfo& kind) {
  return kind.make(kind.name == "trace" ? std::string_view(trace_path()) : std::string_view{});
}

std::vector<double> samples(const Distribution& distribution, std::uint64_t seed, std::size_t count) {
  RandomStream random(seed);
  std::vector<double> values(count);
  distribution.sample(random, values);
  return values;
}

class EveryDistribution : public ::testing::TestWithParam<const DistributionInfo*> {};

TEST_P(EveryDistribution, GivesPositiveFiniteSizesWithMeanAndVarianceAsStated) {
  const auto distribution = make_default(*GetParam());
  EXPECT_EQ(distribution->mean(), 1.0);
  constexpr std::size_t kCount = 200'000;
  double sum = 0;
  for (const double size : samples(*distribution, 7, kCount)) {
    ASSERT_GT(size, 0);
    ASSERT_TRUE(std::isfinite(size));
    sum += size;
  }
  EXPECT_NEAR(sum / kCount, 1, 5 * std::sqrt(distribution->variance() / kCount) + 1e-12);
}

TEST_P(EveryDistribution, GivesTheSameNumbersInOneCallOrInMany) {
  const auto distribution = make_default(*GetParam());
  const std::vector<double> at_once = samples(*distribution, 3, 5000);
  RandomStream random(3);
  std::vector<double> in_pieces(at_once.size());
  std::span<double> rest = in_pieces;
  for (std::size_t piece = 0; !rest.empty(); piece = (piece * 7 + 1) % 701) {
    const std::size_t count = std::min(piece, rest.size());
    distribution->sample(random, rest.first(count));
    rest = rest.subspan(count);
  }
  EXPECT_EQ(in_pieces, at_once);
}

TEST_P(EveryDistribution, TakesOneNumberOfTheStreamForEachSample) {
  const auto distribution = make_default(*GetParam());
  for (const std::size_t count : {0U, 1U, 2U, 3U, 100U, 1025U}) {
    RandomStream random(5);
    RandomStream expected(5);
    std::vector<double> values(count);
    distribution->sample(random, values);
    for (std::size_t at = 0; at < count; ++at) expected.bits();
    EXPECT_EQ(random.bits(), expected.bits()) << count;
  }
}

TEST_P(EveryDistribution, IsMadeAgainFromItsSpec) {
  const auto distribution = make_default(*GetParam());
  const std::string spec = distribution->spec();
  ASSERT_EQ(spec.substr(0, spec.find(':')), GetParam()->name);
  const std::size_t colon = spec.find(':');
  const auto again =
      GetParam()->make(colon == std::string::npos ? "" : std::string_view(spec).substr(colon + 1));
  EXPECT_EQ(again->spec(), spec);
  EXPECT_EQ(again->variance(), distribution->variance());
  EXPECT_EQ(samples(*again, 11, 1000), samples(*distribution, 11, 1000));
}

TEST_P(EveryDistribution, StatesItsDefaultsInItsParameters) {
  const DistributionInfo& kind = *GetParam();
  if (kind.name == "trace") GTEST_SKIP() << "takes a path";
  const std::string spec = make_default(kind)->spec();
  EXPECT_EQ(spec,
            std::string(kind.name) + (kind.parameters.empty() ? "" : ":") + std::string(kind.parameters));
  EXPECT_EQ(kind.make(kind.parameters)->spec(), spec);
}

TEST_P(EveryDistribution, HasALineAboutItself) {
  EXPECT_FALSE(GetParam()->summary.empty());
  EXPECT_EQ(GetParam()->summary.find('\n'), std::string_view::npos);
}

std::vector<const DistributionInfo*> every_distribution() {
  std::vector<const DistributionInfo*> kinds(builtin_distributions().begin(), builtin_distributions().end());
  kinds.push_back(&sizes::template_distribution);
  return kinds;
}

INSTANTIATE_TEST_SUITE_P(Builtin, EveryDistribution, ::testing::ValuesIn(every_distribution()),
                         [](const ::testing::TestParamInfo<const DistributionInfo*>& kind) {
                           std::string name(kind.param->name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(BuiltinDistributions, AreThePromisedOnes) {
  std::vector<std::string_view> names;
  for (const DistributionInfo* kind : builtin_distributions()) {
    names.push_back(kind->name);
    EXPECT_EQ(find_distribution(kind->name), kind);
  }
  EXPECT_EQ(names, (std::vector<std::string_view>{"exponential", "bounded-pareto", "uniform", "deterministic",
                                                  "lognormal", "weibull", "hyperexponential", "trace"}));
  EXPECT_EQ(find_distribution("template"), nullptr);
  EXPECT_EQ(find_distribution(""), nullptr);
}

TEST(MakeDistribution, ReadsParametersInAnyOrderAndFillsInDefaults) {
  EXPECT_EQ(make_distribution("exponential")->spec(), "exponential");
  EXPECT_EQ(make_distribution("bounded-pareto")->spec(), "bounded-pareto:alpha=1.5,ratio=1000");
  EXPECT_EQ(make_distribution("bounded-pareto:ratio=10")->spec(), "bounded-pareto:alpha=1.5,ratio=10");
  EXPECT_EQ(make_distribution("bounded-pareto:ratio=1e2,alpha=0.75")->spec(),
            "bounded-pareto:alpha=0.75,ratio=100");
  EXPECT_EQ(make_distribution("lognormal:cv=0.1")->spec(), "lognormal:cv=0.1");
  EXPECT_EQ(make_distribution("weibull:shape=2")->spec(), "weibull:shape=2");
  EXPECT_EQ(make_distribution("hyperexponential:cv=3.25")->spec(), "hyperexponential:cv=3.25");
}

TEST(MakeDistribution, KeepsEveryDigitOfAParameterInTheSpec) {
  RandomStream random(17);
  for (int at = 0; at < 200; ++at) {
    const auto distribution = make_distribution("lognormal:cv=" + std::to_string(random.uniform(0.1, 3)));
    EXPECT_EQ(make_distribution(distribution->spec())->variance(), distribution->variance());
  }
}

struct BadSpec {
  const char* spec;
  const char* field;
  const char* problem;
};

class BadSpecs : public ::testing::TestWithParam<BadSpec> {};

TEST_P(BadSpecs, AreRefusedByName) {
  const BadSpec& bad = GetParam();
  try {
    (void)make_distribution(bad.spec);
    FAIL() << "'" << bad.spec << "' was accepted";
  } catch (const InvalidModel& error) {
    EXPECT_EQ(error.field(), bad.field);
    EXPECT_EQ(error.what(), std::string(bad.field) + ": " + bad.problem);
  }
}

constexpr const char* kKinds =
    "; there are: exponential, bounded-pareto, uniform, deterministic, lognormal, weibull, hyperexponential, "
    "trace";
const std::string kUnknown = std::string("unknown 'gaussian'") + kKinds;
const std::string kUnknownEmpty = std::string("unknown ''") + kKinds;
const std::string kUnknownCase = std::string("unknown 'Exponential'") + kKinds;

INSTANTIATE_TEST_SUITE_P(
    Text, BadSpecs,
    ::testing::Values(
        BadSpec{"gaussian", "distribution", kUnknown.c_str()},
        BadSpec{"gaussian:mean=1", "distribution", kUnknown.c_str()},
        BadSpec{"", "distribution", kUnknownEmpty.c_str()},
        BadSpec{"Exponential", "distribution", kUnknownCase.c_str()},
        BadSpec{"exponential:", "exponential", "nothing follows the colon in 'exponential:'"},
        BadSpec{"exponential:rate=2", "exponential", "takes no parameters, but got 'rate=2'"},
        BadSpec{"uniform:low=0", "uniform", "takes no parameters, but got 'low=0'"},
        BadSpec{"deterministic:1", "deterministic", "takes no parameters, but got '1'"},
        BadSpec{"bounded-pareto:1.5", "bounded-pareto",
                "parameters are written key=value,key=value; cannot read '1.5'"},
        BadSpec{"bounded-pareto:alpha=1.5,", "bounded-pareto",
                "parameters are written key=value,key=value; cannot read a comma at the end"},
        BadSpec{"bounded-pareto:,alpha=1.5", "bounded-pareto",
                "parameters are written key=value,key=value; cannot read ''"},
        BadSpec{"bounded-pareto:beta=1.5", "bounded-pareto",
                "unknown parameter 'beta'; it takes alpha, ratio"},
        BadSpec{"bounded-pareto:=1.5", "bounded-pareto", "unknown parameter ''; it takes alpha, ratio"},
        BadSpec{"bounded-pareto:alpha=", "bounded-pareto.alpha", "must be a number, not ''"},
        BadSpec{"bounded-pareto:alpha=two", "bounded-pareto.alpha", "must be a number, not 'two'"},
        BadSpec{"bounded-pareto:alpha= 2", "bounded-pareto.alpha", "must be a number, not ' 2'"},
        BadSpec{"bounded-pareto:alpha=2x", "bounded-pareto.alpha", "must be a number, not '2x'"},
        BadSpec{"bounded-pareto:alpha=nan", "bounded-pareto.alpha", "must be a number, not 'nan'"},
        BadSpec{"bounded-pareto:alpha=1e999", "bounded-pareto.alpha", "must be a number, not '1e999'"},
        BadSpec{"bounded-pareto:alpha=1,alpha=2", "bounded-pareto.alpha", "is given twice"},
        BadSpec{"bounded-pareto:alpha=0", "bounded-pareto.alpha", "must be from 1e-06 to 1000, not 0"},
        BadSpec{"bounded-pareto:alpha=-1", "bounded-pareto.alpha", "must be from 1e-06 to 1000, not -1"},
        BadSpec{"bounded-pareto:alpha=inf", "bounded-pareto.alpha", "must be from 1e-06 to 1000, not inf"},
        BadSpec{"bounded-pareto:ratio=0.5", "bounded-pareto.ratio", "must be from 1 to 1e+12, not 0.5"},
        BadSpec{"bounded-pareto:ratio=1e13", "bounded-pareto.ratio", "must be from 1 to 1e+12, not 1e+13"},
        BadSpec{"lognormal:cv=0", "lognormal.cv", "must be from 1e-06 to 1000, not 0"},
        BadSpec{"lognormal:sigma=1", "lognormal", "unknown parameter 'sigma'; it takes cv"},
        BadSpec{"weibull:shape=0.01", "weibull.shape", "must be from 0.1 to 100, not 0.01"},
        BadSpec{"weibull:shape=101", "weibull.shape", "must be from 0.1 to 100, not 101"},
        BadSpec{"hyperexponential:cv=0.5", "hyperexponential.cv", "must be from 1 to 1000, not 0.5"},
        BadSpec{"trace", "trace", "needs a file of sizes: trace:PATH"},
        BadSpec{"trace:", "trace", "nothing follows the colon in 'trace:'"},
        BadSpec{"trace:/nowhere/sizes.txt", "trace:/nowhere/sizes.txt", "cannot be opened"},
        BadSpec{"trace:/tmp", "trace:/tmp", "is a folder, not a file"}));

}  // namespace
}  // namespace allot
