// What is the long run of a policy, exactly?
#pragma once

#include <optional>

#include "allot/analyze/analyze.hpp"
#include "allot/ask/policy_choice.hpp"
#include "allot/ask/question.hpp"

namespace allot {

/// Progress: `states`.
class AnalyzeQuestion final : public Question {
 public:
  // ---- asked
  PolicyChoice policy;
  PolicyOptions told;
  AnalyzeOptions how;
  std::optional<double> time_limit_s;

  Analysis analysis;  ///< answered

  std::vector<Option> options() override;
  void answer(const Attendance& attendance) override;
  std::string json() const override;
};

}  // namespace allot
