// Rates that a Python caller knows beforehand.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "allot/dispatch/rate_estimator.hpp"
#include "allot/model/scenario.hpp"
#include "integrations/python/native/convert.hpp"
#include "integrations/python/native/directory.hpp"
#include "integrations/python/native/values.hpp"

namespace allot::python {

inline bool is_amount(double value) { return value >= 0 && std::isfinite(value); }

inline double worth_of(py::handle value) {
  return number(
      "worth", value, [](double given) { return given >= 0 && given <= 1e9; },
      "must be from 0 to 1e9 completions");
}

/// The prior for a rate: above 0, known; 0, it cannot run there; null or NaN, unknown.
inline RatePrior prior_of(const Node& rate, double worth) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  const auto* const whole = rate.get<std::int64_t>();
  const auto* const real = rate.get<double>();
  const bool is_unknown = rate.get<Node::Null>() != nullptr;
  if (whole == nullptr && real == nullptr && !is_unknown)
    raise_invalid("rates", "must be numbers, or None where a rate is unknown");
  const double value = is_unknown ? kUnknown : whole != nullptr ? static_cast<double>(*whole) : *real;
  if (std::isnan(value)) return RatePrior::unknown();
  if (!(value >= 0 && value <= kMaxNumber))
    raise_invalid("rates", "must be numbers from 0 to 1e100, or NaN where a rate is unknown");
  if (value == 0) return RatePrior::cannot_run();
  return worth > 0 ? RatePrior::measured(value, RatePrior().relative_deviation, worth) : RatePrior::unknown();
}

/// One per name; None: all unknown.
inline std::vector<RatePrior> priors_of(const py::object& rates, const Directory& names, double worth) {
  std::vector<Node> row(names.size());
  if (!rates.is_none()) {
    const Node zero = make_node(0.0);
    row.assign(names.size(), zero);
    for (const auto& [at, rate] : names.values("rates", rates, false)) row[at] = to_node(rate, "rates");
  }
  std::vector<RatePrior> priors;
  for (const Node& rate : row) priors.push_back(prior_of(rate, worth));
  return priors;
}

/// One per pair, row-major.
inline std::vector<RatePrior> priors_of(const py::object& rates, const Directory& tasks,
                                        const Directory& resources, double worth) {
  const Node unknown = make_node(Node::Array(resources.size()));
  const Node matrix = matrix_from("rates", rates, tasks, resources);
  const auto* const rows = matrix.get<Node::Array>();
  const auto wrong = [&] {
    raise_invalid("rates", "must be a matrix of numbers, " + std::to_string(tasks.size()) +
                               " task types by " + std::to_string(resources.size()) + " resources");
  };
  if (rows == nullptr || rows->size() != tasks.size()) wrong();
  std::vector<RatePrior> priors;
  for (const Node& row : *rows) {
    const Node& given = row.get<Node::Null>() != nullptr ? unknown : row;  // None: all of the row
    const auto* const entries = given.get<Node::Array>();
    if (entries == nullptr || entries->size() != resources.size()) wrong();
    for (const Node& rate : *entries) priors.push_back(prior_of(rate, worth));
  }
  return priors;
}

/// The scenario with the known rates, and a guess for the others: options of policies refer to it.
inline Scenario with_rates(const Scenario& scenario, const std::vector<RatePrior>& priors) {
  const System& system = scenario.system;
  std::vector<double> rates;
  for (const RatePrior& prior : priors) rates.push_back(prior.can_run ? prior.rate.value_or(1.0) : 0.0);
  Scenario changed = scenario;
  changed.system = system.with_rates(Rates(system.type_count(), system.resource_count(), std::move(rates)));
  return changed;
}

}  // namespace allot::python
