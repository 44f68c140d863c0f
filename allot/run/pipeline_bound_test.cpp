#include "allot/run/pipeline_bound.hpp"

#include <gtest/gtest.h>

#include "allot/jobs/job_reader.hpp"
#include "allot/run/batch.hpp"
#include "allot/run/placer.hpp"

namespace allot {
namespace {

Job job_of(const std::string& tasks) {
  return read_job_text("[[resources]]\nname = \"cpu\"\nservers = 2\n[[resources]]\nname = \"gpu\"\n" + tasks,
                       FileFormat::kToml)
      .value();
}

/// Types by resources: a 1 s on the cpu, b 2 s on the gpu, c 1 s on either.
const std::vector<double> kRates = {1, 0, 0, 0.5, 1, 1};

double bound(const Job& job, std::vector<Count> left) {
  return pipeline_bound(job, job_system(job, kRates, left), left).value();
}

const std::string kChain =
    "[[tasks]]\nname = \"a\"\nrepeat = 9\ncommand = { cpu = \"x\" }\noutput = \"{}.a\"\n"
    "[[tasks]]\nname = \"b\"\nfrom = \"a\"\ncommand = { gpu = \"x\" }\noutput = \"{}.b\"\n";

TEST(PipelineBound, OfOneTaskIsTheSumOfItsStages) {
  const Job job = job_of(kChain + "[[tasks]]\nname = \"c\"\nfrom = \"b\"\ncommand = \"x\"\n");
  EXPECT_DOUBLE_EQ(bound(job, {1, 1, 1}), 1 + 2 + 1);
  EXPECT_DOUBLE_EQ(bound(job, {0, 1, 1}), 2 + 1);
  EXPECT_DOUBLE_EQ(bound(job, {0, 0, 0}), 0);
}

TEST(PipelineBound, OfManyIsThatOfTheStageThatTakesLongestAndTheWayBehindIt) {
  const Job job = job_of(kChain + "[[tasks]]\nname = \"c\"\nfrom = \"b\"\ncommand = \"x\"\n");
  // The gpu has 18 s of b, and the last c comes after that.
  EXPECT_DOUBLE_EQ(bound(job, {9, 9, 9}), 18 + 1);
}

TEST(PipelineBound, WhoComesAfterATypeBeginsAtItsEnd) {
  const Job job = job_of(kChain + "[[tasks]]\nname = \"c\"\nrepeat = 9\nafter = \"b\"\ncommand = \"x\"\n");
  EXPECT_DOUBLE_EQ(bound(job, {9, 9, 9}), 18 + 9.0 / 3);
}

TEST(PipelineBound, WithoutStagesIsThatOfTheBatch) {
  const Job job = job_of(
      "[[tasks]]\nname = \"a\"\nrepeat = 9\ncommand = { cpu = \"x\" }\n"
      "[[tasks]]\nname = \"b\"\nrepeat = 9\ncommand = { gpu = \"x\" }\n"
      "[[tasks]]\nname = \"c\"\nrepeat = 9\ncommand = \"x\"\n");
  const std::vector<Count> left = {9, 9, 9};
  EXPECT_DOUBLE_EQ(bound(job, left), batch_bound(job_system(job, kRates, left), left).value());
}

}  // namespace
}  // namespace allot
