// A random scenario for experiments.
#pragma once

#include "allot/ask/question.hpp"
#include "allot/model/generate.hpp"

namespace allot {

class GenerateQuestion final : public Question {
 public:
  GenerateOptions how;                ///< asked
  std::optional<Scenario> generated;  ///< answered

  bool needs_scenario() const noexcept override { return false; }
  std::vector<Option> options() override;
  void answer(const Attendance& attendance) override;
  std::string json() const override;
  std::string text() const override;
};

}  // namespace allot
