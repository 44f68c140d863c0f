// Certificates by hand: true ones are accepted, false ones of every kind rejected, and what is no certificate
// is named with its place. The system: two resources, ps and fcfs, whose optimum is known.
#include "allot/check/check.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>

namespace allot::check {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

/// x: 2 threads, rates 3 and 1; y: 1 thread, rate 4 at the second resource only. Best: both x at `a` (ps, 3
/// tasks/s), y at `b` (4 tasks/s): 7, as no resource completes more than its fastest type.
Json certificate() {
  return Json::parse(R"({
    "allot_certificate": 1, "objective": "throughput",
    "system": {
      "resources": [{"name": "a", "servers": 1, "discipline": "ps", "min_depth": 1},
                    {"name": "b", "servers": 1, "discipline": "fcfs", "min_depth": 1}],
      "tasks": [{"name": "x", "count": 2}, {"name": "y", "count": 1}],
      "rates": [[3, 1], [0, 4]]},
    "claim": {"assignment": [[2, 0], [0, 1]], "at_least": 7, "at_most": 7},
    "proof": [{"prices": [{"task": [0, 0]}]}]})");
}

Verdict verdict_on(const Json& json) {
  const ReadCertificate read = read_certificate(json.dump());
  EXPECT_TRUE(read.certificate.has_value()) << read.problem;
  return read.certificate ? check(*read.certificate) : Verdict{};
}

void expect_rejected(const Json& json, const std::string& why) {
  const Verdict verdict = verdict_on(json);
  EXPECT_FALSE(verdict.accepted) << json.dump();
  EXPECT_THAT(verdict.reason, HasSubstr(why));
}

TEST(Check, AcceptsATrueCertificate) {
  const Verdict verdict = verdict_on(certificate());
  EXPECT_TRUE(verdict.accepted) << verdict.reason;
  EXPECT_TRUE(verdict.optimal);
}

TEST(Check, AcceptsABoundAlone) {
  Json json = certificate();
  json["claim"] = {{"at_most", 7}};
  const Verdict verdict = verdict_on(json);
  EXPECT_TRUE(verdict.accepted);
  EXPECT_FALSE(verdict.optimal);
}

TEST(Check, RejectsMoreThroughputThanTheAssignmentHasByHoweverLittle) {
  Json json = certificate();
  json["claim"]["at_least"] = 7.000000000000001;
  json["claim"]["at_most"] = 8;
  expect_rejected(json, "has a value of 7 per second, less than");
}

TEST(Check, RejectsABoundThatThePricesDoNotProveByHoweverLittle) {
  Json json = certificate();
  json["claim"] = {{"at_most", 6.999999999999999}};
  expect_rejected(json, "part 0 of the proof is neither split nor closed");
}

TEST(Check, RejectsAssignmentsThatAreNone) {
  Json json = certificate();
  json["claim"]["assignment"] = {{1, 0}, {0, 1}};
  expect_rejected(json, "places 1 threads of 'x', which has 2");
  json["claim"]["assignment"] = {{3, 0}, {0, 1}};
  expect_rejected(json, "places 3 threads of 'x'");
  json["claim"]["assignment"] = {{2, 0}, {1, 0}};
  expect_rejected(json, "cannot run");
  json = certificate();
  json["system"]["resources"][0]["min_depth"] = 3;
  expect_rejected(json, "below its minimum depth");
  json = certificate();
  json["system"]["tasks"][0]["floor"] = 3.0000001;
  expect_rejected(json, "below its floor");
}

TEST(Check, RejectsAStateWithoutAnExactFormula) {
  Json json = certificate();
  json["system"]["resources"][1]["servers"] = 2;
  json["claim"] = {{"assignment", {{2, 0}, {0, 1}}}, {"at_least", 1}, {"at_most", 9}};
  EXPECT_TRUE(verdict_on(json).accepted);
  json["claim"]["assignment"] = {{0, 2}, {0, 1}};
  expect_rejected(json, "no exact formula");
}

TEST(Check, RejectsATreeWithAHoleAStrayPartOrALoop) {
  Json json = certificate();
  const Json leaf = {{"prices", {{{"task", {0, 0}}}}}};
  const auto split = [](int low, int high) {
    return Json{{"prices", Json::array()},
                {"split", {{"resource", 0}, {"at", 0}, {"low", low}, {"high", high}}}};
  };
  json["proof"] = {split(1, 2), leaf, leaf};
  EXPECT_TRUE(verdict_on(json).accepted);
  json["proof"] = {split(1, 2), leaf};
  expect_rejected(json, "part 2, which is missing");
  json["proof"] = {split(1, 1), leaf};
  expect_rejected(json, "not a new one");
  json["proof"] = {split(0, 1), leaf};
  expect_rejected(json, "not a new one");
  json["proof"] = {split(1, 2), leaf, leaf, leaf};
  expect_rejected(json, "part 3 of the proof belongs to no split");
  json["proof"] = {split(1, 2), leaf, {{"prices", Json::array()}}};
  expect_rejected(json, "part 2 of the proof is neither");
  json["proof"] = Json::array();
  expect_rejected(json, "no parts");
}

TEST(Check, RejectsThatNothingIsFeasibleWhereSomethingIs) {
  Json json = certificate();
  json["claim"] = {{"infeasible", true}};
  for (const double price : {0.0, 1e9, -1e9}) {
    json["proof"] = {{{"prices", {{{"task", {price, price}}}}}}};
    expect_rejected(json, "nothing feasible");
  }
  // Three threads never make a depth of four at `b`, the only place for y.
  json["system"]["resources"][1]["min_depth"] = 4;
  json["proof"] = {{{"prices", {{{"task", {0, -100}}}}}}};
  EXPECT_TRUE(verdict_on(json).accepted);
}

TEST(Check, CountsPremiumsOfFloorsOnlyWhereTheyArePaid) {
  Json json = certificate();
  json["system"]["tasks"][0]["floor"] = 100;  // far beyond x's rates
  json["claim"] = {{"infeasible", true}};
  json["proof"] = {{{"prices", {{{"task", {0, 0}}, {"completion", {0, 0}}}}}}};
  expect_rejected(json, "nothing feasible");
  json["proof"][0]["prices"][0]["completion"] = {1000, 0};
  EXPECT_TRUE(verdict_on(json).accepted);
  json["system"]["tasks"][0]["floor"] = 3;  // which it completes with both threads at `a`
  expect_rejected(json, "nothing feasible");
}

Json share_certificate() {
  return Json::parse(R"({
    "allot_certificate": 1, "objective": "shares",
    "system": {
      "resources": [{"name": "a", "servers": 1, "discipline": "ps", "min_depth": 1}],
      "tasks": [{"name": "x", "count": 1, "priority": 1}, {"name": "y", "count": 1, "priority": 1}],
      "rates": [[2], [2]]},
    "claim": {"assignment": [[1], [1]], "time_shares": [[0.5], [0.5]], "at_least": 2, "at_most": 2},
    "proof": [{"prices": [{"task": [1, 1], "unit": [2], "depth": [0]}]}]})");
}

TEST(Check, ProvesSharesByDualValues) {
  EXPECT_TRUE(verdict_on(share_certificate()).optimal);
  Json json = share_certificate();
  json["claim"]["at_most"] = 1.999;
  expect_rejected(json, "part 0");
  json = share_certificate();
  json["claim"]["time_shares"] = {{0.6}, {0.6}};  // more than the resource has: counts as what fits
  json["claim"]["at_least"] = 2.1;
  expect_rejected(json, "complete 2 tasks/s, less than");
  json = share_certificate();
  json["claim"]["time_shares"] = {{0.9}, {0.1}};  // uneven: counts as the lower
  expect_rejected(json, "complete 0.4 tasks/s");
  json = share_certificate();
  json["proof"][0]["prices"][0]["task"] = {0.9, 0.9};  // such prices bound nothing
  expect_rejected(json, "part 0");
  json = share_certificate();
  json["proof"][0]["prices"][0]["unit"] = {1};  // too cheap: the threads are worth the difference
  expect_rejected(json, "part 0");
  json = share_certificate();
  json["system"]["tasks"][0].erase("priority");
  expect_rejected(json, "priority of 'x'");
}

Verdict plan_verdict_on(const Json& json) {
  const ReadPlanCertificate read = read_plan_certificate(json.dump());
  EXPECT_TRUE(read.certificate.has_value()) << read.problem;
  return read.certificate ? check(*read.certificate) : Verdict{};
}

/// One server, which completes 10 tasks/s and takes 1e9 W when idle, under a cap that leaves 0.5 W of the 1 W
/// that work takes: half of the time.
Json capped_plan() {
  return Json::parse(R"({
    "allot_certificate": 1, "service": "planned", "objective": "throughput",
    "system": {
      "resources": [{"name": "cpu", "servers": 1, "discipline": "ps", "min_depth": 1}],
      "tasks": [{"name": "a", "count": 2}], "rates": [[10]],
      "idle_power": [1000000000], "power": [[1000000001]], "power_cap": 1000000000.5},
    "claim": {"service": {"tasks": [[0.5]], "threads": [], "arrivals": []}, "at_least": 5, "at_most": 5},
    "prices": {"power": 10}})");
}

TEST(CheckPlan, RejectsWorkBeyondThePowerCapHoweverMuchTheIdleMachineTakes) {
  EXPECT_TRUE(plan_verdict_on(capped_plan()).optimal);
  Json json = capped_plan();
  json["claim"]["service"]["tasks"] = {{0.50001}};
  EXPECT_THAT(plan_verdict_on(json).reason, HasSubstr("more than the power_cap"));
  json["claim"]["service"]["tasks"] = {{1.0}};
  json["claim"]["at_least"] = 10;
  EXPECT_FALSE(plan_verdict_on(json).accepted);
}

/// Two servers of 10 tasks/s, a task takes half of one and 0.8 of a bus of 1: 1.25 in service.
Json plan_with_needs() {
  return Json::parse(R"({
    "allot_certificate": 1, "service": "planned", "objective": "throughput",
    "system": {
      "resources": [{"name": "cpu", "servers": 2, "discipline": "ps", "min_depth": 1}],
      "tasks": [{"name": "a", "count": 4}], "rates": [[10]], "idle_power": [0], "power": [[1]],
      "capacities": [{"name": "bus", "amount": 1, "shared": true}],
      "needs": [[[{"capacity": 0, "amount": 0.5}, {"capacity": 1, "amount": 0.8}]]]},
    "claim": {"service": {"tasks": [[1.25]], "threads": [], "arrivals": []}, "at_least": 12.5, "at_most": 12.5000001},
    "prices": {"units": [0, 12.5]}})");
}

TEST(CheckPlan, MakesARowForEveryCapacity) {
  EXPECT_TRUE(plan_verdict_on(plan_with_needs()).accepted) << plan_verdict_on(plan_with_needs()).reason;
  Json json = plan_with_needs();
  json["claim"]["service"]["tasks"] = {{1.26}};
  EXPECT_THAT(plan_verdict_on(json).reason, HasSubstr("of 'bus', of which there are 1"));
  json = plan_with_needs();
  json["system"]["needs"][0][0][1]["amount"] = 0.7;  // then more fit, and the prices prove too much
  EXPECT_THAT(plan_verdict_on(json).reason, HasSubstr("the prices prove a bound of"));
  json = plan_with_needs();
  json["system"]["capacities"][0]["amount"] = 1.1;
  EXPECT_FALSE(plan_verdict_on(json).accepted);
  // Without needs, each takes one of two servers.
  json = plan_with_needs();
  json["system"].erase("needs");
  EXPECT_THAT(plan_verdict_on(json).reason, HasSubstr("the prices prove a bound of"));
}

TEST(CheckPlan, RefusesNeedsThatCannotBe) {
  const auto problem_of = [](const Json& json) { return read_plan_certificate(json.dump()).problem; };
  Json json = plan_with_needs();
  json["system"]["needs"][0][0].erase(0);
  EXPECT_THAT(problem_of(json), HasSubstr("must take servers of the resource where it runs"));
  json = plan_with_needs();
  json["system"]["needs"][0][0][1]["capacity"] = 2;
  EXPECT_THAT(problem_of(json), HasSubstr("needs[0][0][1].capacity"));
  json = plan_with_needs();
  json["system"]["needs"][0][0][1]["amount"] = 0;
  EXPECT_THAT(problem_of(json), HasSubstr("must be above 0"));
  json = plan_with_needs();
  json["prices"]["units"] = {1};
  EXPECT_THAT(problem_of(json), HasSubstr("must have 2 elements"));
}

TEST(CheckPlan, RejectsAPlanThatReachesMoreThanItsBound) {
  // Within the tolerance of the row, each unit of which is worth as much as 10^9 of the other type's.
  const Json json = Json::parse(R"({
    "allot_certificate": 1, "service": "planned", "objective": "throughput",
    "system": {
      "resources": [{"name": "cpu", "servers": 1, "discipline": "ps", "min_depth": 1}],
      "tasks": [{"name": "a", "count": 2, "floor": 10}, {"name": "b", "count": 2, "worth": 1000000000}],
      "rates": [[10], [10]], "idle_power": [0], "power": [[1], [1]]},
    "claim": {"service": {"tasks": [[0.999999999], [0.000000001]], "threads": [], "arrivals": []},
              "at_least": 10, "at_most": 10},
    "prices": {"units": [10000000000], "floors": [1000000000, 0]}})");
  EXPECT_TRUE(plan_verdict_on(json).accepted) << plan_verdict_on(json).reason;
  Json more = json;
  more["claim"]["at_least"] = 19;
  EXPECT_THAT(plan_verdict_on(more).reason, HasSubstr("at_least is above at_most"));
}

TEST(CheckPlan, RejectsASmallShareThatIsNotServedAtAll) {
  Json json = Json::parse(R"({
    "allot_certificate": 1, "service": "planned", "objective": "priority",
    "system": {
      "resources": [{"name": "cpu", "servers": 1, "discipline": "ps", "min_depth": 1}],
      "tasks": [{"name": "a", "count": 2, "priority": 1}, {"name": "b", "count": 2, "priority": 1e-10}],
      "rates": [[10], [10]], "idle_power": [0], "power": [[1], [1]]},
    "claim": {"service": {"tasks": [[1], [0]], "threads": [], "arrivals": []},
              "at_least": 9.99999, "at_most": 10},
    "prices": {"units": [10], "shares": [-1, -1]}})");
  EXPECT_THAT(plan_verdict_on(json).reason, HasSubstr("'b' does not have the share"));
  json["claim"]["service"]["tasks"] = {{0.9999999999}, {0.9999999999e-10}};
  EXPECT_TRUE(plan_verdict_on(json).accepted) << plan_verdict_on(json).reason;
}

TEST(CheckPlan, KnowsThatWithoutWorkNothingIsCompleted) {
  const Json json = Json::parse(R"({
    "allot_certificate": 1, "service": "planned", "objective": "priority",
    "system": {
      "resources": [{"name": "cpu", "servers": 1, "discipline": "ps", "min_depth": 1}],
      "tasks": [{"name": "a", "count": 0, "priority": 1}],
      "rates": [[10]], "idle_power": [0], "power": [[1]]},
    "claim": {"service": {"tasks": [[0]], "threads": [], "arrivals": []}, "at_least": 0, "at_most": 0},
    "prices": {}})");
  EXPECT_TRUE(plan_verdict_on(json).optimal) << plan_verdict_on(json).reason;
  Json more = json;
  more["system"]["tasks"][0]["count"] = 1;
  EXPECT_FALSE(plan_verdict_on(more).accepted);
}

TEST(CheckPlan, RejectsAConflictThatNamesALimitThatIsNotThereOrTwice) {
  Json json = Json::parse(R"({
    "allot_certificate": 1, "service": "planned", "objective": "throughput",
    "system": {
      "resources": [{"name": "cpu", "servers": 1, "discipline": "ps", "min_depth": 1}],
      "tasks": [{"name": "a", "count": 2, "floor": 11}, {"name": "b", "count": 2}],
      "rates": [[10], [10]], "idle_power": [0], "power": [[1], [1]]},
    "claim": {"infeasible": true, "conflict": [{"limit": "floor", "task": 0}]},
    "prices": {"units": [0.95], "floors": [0.095, 0]}})");
  EXPECT_TRUE(plan_verdict_on(json).accepted) << plan_verdict_on(json).reason;
  for (const Json& other :
       {Json{{"limit", "power_cap"}}, Json{{"limit", "arrivals"}}, Json{{"limit", "floor"}, {"task", 1}},
        Json{{"limit", "max_response"}, {"task", 0}}}) {
    Json more = json;
    more["claim"]["conflict"].push_back(other);
    EXPECT_THAT(plan_verdict_on(more).reason, HasSubstr("does not have")) << other;
  }
  json["claim"]["conflict"].push_back(json["claim"]["conflict"][0]);
  EXPECT_THAT(plan_verdict_on(json).reason, HasSubstr("twice"));
}

TEST(CheckPlan, RejectsMoreOfAStreamThanArrives) {
  Json json = Json::parse(R"({
    "allot_certificate": 1, "service": "planned", "objective": "throughput",
    "system": {
      "resources": [{"name": "cpu", "servers": 1, "discipline": "ps", "min_depth": 1}],
      "tasks": [{"name": "a", "count": 0, "floor": 5}, {"name": "b", "count": 1}],
      "rates": [[10], [10]], "idle_power": [0], "power": [[1], [1]], "arrivals": [{"task": 0, "rate": 5}]},
    "claim": {"service": {"tasks": [[0], [0.5]], "threads": [], "arrivals": [[0.5]]},
              "at_least": 10, "at_most": 10},
    "prices": {"units": [10], "streams": [1], "arrivals": 5}})");
  EXPECT_TRUE(plan_verdict_on(json).optimal) << plan_verdict_on(json).reason;
  Json more = json;
  more["claim"]["service"]["arrivals"] = {{0.50001}};
  EXPECT_THAT(plan_verdict_on(more).reason, HasSubstr("more than there are"));
  more = json;  // a floor that only more arrivals could keep: priced by there being no more
  more["system"]["tasks"][0]["floor"] = 6;
  more["claim"] = {{"infeasible", true}, {"conflict", {{{"limit", "floor"}, {"task", 0}}}}};
  more["prices"] = {{"floors", {1, 0}}, {"streams", {-1}}, {"arrivals", -5}};
  EXPECT_TRUE(plan_verdict_on(more).accepted) << plan_verdict_on(more).reason;
  more["system"]["tasks"][0]["floor"] = 5;
  EXPECT_FALSE(plan_verdict_on(more).accepted);
  more = json;  // what never comes
  more["system"]["arrivals"][0]["rate"] = 0;
  more["system"]["tasks"][0]["floor"] = 0;
  EXPECT_THAT(plan_verdict_on(more).reason, HasSubstr("more than there are"));
}

TEST(ReadCertificate, NamesWhatIsWrongAndWhere) {
  const auto problem = [](const Json& json) { return read_certificate(json.dump()).problem; };
  EXPECT_THAT(read_certificate("").problem, HasSubstr("not valid JSON"));
  EXPECT_THAT(read_certificate("[1").problem, HasSubstr("not valid JSON"));
  EXPECT_THAT(problem(Json::array()), HasSubstr("certificate: must be an object"));
  Json json = certificate();
  json["allot_certificate"] = 2;
  EXPECT_THAT(problem(json), HasSubstr("certificate.allot_certificate: must be 1"));
  json = certificate();
  json["system"]["rates"][1] = {0};
  EXPECT_THAT(problem(json), HasSubstr("certificate.system.rates[1]: must have 2 elements, has 1"));
  json = certificate();
  json["system"]["rates"][0][0] = -3;
  EXPECT_THAT(problem(json), HasSubstr("rates[0][0]: must not be negative"));
  json = certificate();
  json["claim"]["assignment"][0][0] = 1.5;
  EXPECT_THAT(problem(json), HasSubstr("claim.assignment[0][0]: must be a whole number"));
  json = certificate();
  json["proof"][0]["prices"][0]["completion"] = {0, -1};
  EXPECT_THAT(problem(json), HasSubstr("completion[1]: must not be negative"));
  json = certificate();
  json["proof"][0].erase("prices");
  EXPECT_THAT(problem(json), HasSubstr("certificate.proof[0]: 'prices' is missing"));
  json = certificate();
  json["system"]["resources"][0]["discipline"] = "lifo";
  EXPECT_THAT(problem(json), HasSubstr("must be 'ps' or 'fcfs'"));
  std::string text = certificate().dump();
  text.replace(text.find("\"at_least\":7"), 12, "\"at_least\":1e999");
  EXPECT_FALSE(read_certificate(text).certificate.has_value());
}

}  // namespace
}  // namespace allot::check
