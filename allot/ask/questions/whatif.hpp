// What would a change of the machine or its work be worth?
#pragma once

#include <optional>

#include "allot/ask/question.hpp"
#include "allot/ask/service_choice.hpp"
#include "allot/solve/whatif.hpp"

namespace allot {

/// Progress: `share`.
class WhatIfQuestion final : public Question {
 public:
  // ---- asked
  std::optional<double> time_limit_s;
  SolveOptions how;
  ServiceChoice service;

  // ---- answered
  WhatIf what_if;

  std::vector<Option> options() override;
  void answer(const Attendance& attendance) override;
  std::string json() const override;
};

}  // namespace allot
