#include "allot/simulate/trace_csv.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <fstream>
#include <sstream>

namespace allot {
namespace {

System system_with(const std::string& resource, const std::string& task) {
  std::vector<Resource> resources(1);
  resources[0].name = resource;
  std::vector<TaskClass> tasks(1);
  tasks[0].name = task;
  tasks[0].count = 1;
  return System(std::move(resources), std::move(tasks), Rates(1, 1, {1}));
}

TEST(TraceCsv, WritesALinePerEvent) {
  std::ostringstream out;
  TraceCsv csv(out, system_with("cpu", "sort"));
  csv.begin("map");
  csv.event({TraceEvent::What::kPlace, 0.1, 7, 3, task_type(0), resource_id(0), 0.25, 0});
  csv.event({TraceEvent::What::kStart, 0.5, 7, 3, task_type(0), resource_id(0), 0.25, 0});
  csv.event({TraceEvent::What::kComplete, 1e300, 7, 3, task_type(0), resource_id(0), 0.25, 1.0 / 3});
  csv.flush();
  EXPECT_EQ(csv.error(), 0);
  EXPECT_EQ(out.str(),
            "time,event,task,thread,type,resource,size,response\n"
            "0.1,place,7,3,sort,cpu,0.25,\n"
            "0.5,start,7,3,sort,cpu,0.25,\n"
            "1e+300,complete,7,3,sort,cpu,0.25,0.3333333333333333\n");
}

TEST(TraceCsv, NamesThePolicyWhereThereAreSeveral) {
  std::ostringstream out;
  TraceCsv csv(out, system_with("cpu", "sort"), true);
  for (const char* const policy : {"map", "jsq"}) {
    csv.begin(policy);
    csv.event({TraceEvent::What::kPlace, 1, 0, 0, task_type(0), resource_id(0), 2, 0});
  }
  csv.flush();
  EXPECT_EQ(out.str(),
            "time,event,task,thread,type,resource,size,response,policy\n"
            "1,place,0,0,sort,cpu,2,,map\n"
            "1,place,0,0,sort,cpu,2,,jsq\n");
}

TEST(TraceCsv, QuotesNamesThatNeedIt) {
  std::ostringstream out;
  TraceCsv csv(out, system_with("a,b", "say \"hi\" there"));
  csv.event({TraceEvent::What::kPlace, 1, 0, 0, task_type(0), resource_id(0), 2, 0});
  csv.flush();
  EXPECT_NE(out.str().find("\"say \"\"hi\"\" there\",\"a,b\",2,"), std::string::npos) << out.str();
}

TEST(TraceCsv, WritesItsHeaderWithoutAnyEvent) {
  std::ostringstream out;
  TraceCsv csv(out, system_with("cpu", "sort"));
  csv.flush();
  EXPECT_EQ(out.str(), "time,event,task,thread,type,resource,size,response\n");
}

TEST(TraceCsv, RemembersAFailedWrite) {
  std::ofstream full("/dev/full");
  if (!full) GTEST_SKIP() << "there is no /dev/full";
  TraceCsv csv(full, system_with("cpu", "sort"));
  for (int at = 0; at < 100'000; ++at)
    csv.event({TraceEvent::What::kPlace, 1, 0, 0, task_type(0), resource_id(0), 2, 0});
  csv.flush();
  EXPECT_EQ(csv.error(), ENOSPC);
}

}  // namespace
}  // namespace allot
