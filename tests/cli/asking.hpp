// What tests of the command ask and expect again and again.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/process.hpp"

namespace allot::testing {

/// A file that is gone after the test.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& extension, const std::string& text)
      : path_(std::filesystem::temp_directory_path() /
              ("allot-cli-" + std::to_string(::getpid()) + "-" + std::to_string(next_++) + extension)) {
    std::ofstream(path_) << text;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  static inline int next_ = 0;
  std::filesystem::path path_;
};

/// A scenario with one resource, one task and this.
inline std::string with_work(const std::string& work) {
  return R"({"resources": [{"name": "cpu"}], "tasks": [{"name": "a", "count": 1, "rates": {"cpu": 1}}], )" +
         work + "}";
}

/// One document, nothing else on either stream, status 0.
inline nlohmann::json json_of(std::vector<std::string> arguments) {
  arguments.emplace_back("--json");
  const Finished finished = run_allot(arguments);
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.err, ::testing::IsEmpty());
  EXPECT_THAT(finished.out, ::testing::Not(::testing::HasSubstr("nan")));
  EXPECT_THAT(finished.out, ::testing::Not(::testing::HasSubstr("inf,")));
  return nlohmann::json::parse(finished.out);
}

inline void expect_usage_error(const std::vector<std::string>& arguments, const std::string& says) {
  const Finished finished = run_allot(arguments);
  EXPECT_EQ(finished.status, 2);
  EXPECT_THAT(finished.out, ::testing::IsEmpty());
  EXPECT_THAT(finished.err, ::testing::HasSubstr(says));
}

inline void expect_invalid_input(const std::vector<std::string>& arguments, const std::string& says) {
  const Finished finished = run_allot(arguments);
  EXPECT_EQ(finished.status, 3);
  EXPECT_THAT(finished.out, ::testing::IsEmpty());
  EXPECT_THAT(finished.err, ::testing::HasSubstr(says));
}

/// The fields that every answer of a solver has, of the right kind and shape.
inline void expect_solution(const nlohmann::json& answer, std::size_t types, std::size_t resources) {
  EXPECT_TRUE(answer.at("solver").is_string());
  EXPECT_THAT(answer.at("objective").get<std::string>(), ::testing::AnyOf("throughput", "priority"));
  EXPECT_THAT(answer.at("outcome").get<std::string>(),
              ::testing::AnyOf("optimal", "converged", "time_limit", "budget", "interrupted", "infeasible"));
  EXPECT_EQ(answer.at("tasks").size(), types);
  EXPECT_EQ(answer.at("resources").size(), resources);
  ASSERT_EQ(answer.at("assignment").size(), types);
  for (const nlohmann::json& row : answer.at("assignment")) {
    EXPECT_EQ(row.size(), resources);
    for (const nlohmann::json& count : row) EXPECT_TRUE(count.is_number_unsigned());
  }
  EXPECT_TRUE(answer.at("throughput").is_number());
  double by_task = 0;
  double by_resource = 0;
  for (const nlohmann::json& x : answer.at("throughput_by_task")) by_task += x.get<double>();
  for (const nlohmann::json& x : answer.at("throughput_by_resource")) by_resource += x.get<double>();
  EXPECT_NEAR(by_task, answer.at("throughput").get<double>(), 1e-9 * by_task);
  EXPECT_NEAR(by_resource, answer.at("throughput").get<double>(), 1e-9 * by_resource);
  for (const char* const field : {"response_time", "upper_bound", "gap", "priority_error"}) {
    EXPECT_TRUE(answer.at(field).is_number() || answer.at(field).is_null()) << field;
  }
  EXPECT_EQ(answer.at("upper_bound").is_null(), answer.at("gap").is_null());
  EXPECT_TRUE(answer.at("shares").is_array() || answer.at("shares").is_null());
  EXPECT_TRUE(answer.at("proven_optimal").is_boolean());
  EXPECT_TRUE(answer.at("approximate").is_boolean());
  EXPECT_GE(answer.at("seconds").get<double>(), 0);
}

}  // namespace allot::testing
