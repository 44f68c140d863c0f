// What the user has said about the policies: the environment, read once for each scheduling context.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "allot/model/scenario.hpp"

namespace allot::starpu {

/// Which tasks are of one type.
enum class TypesBy {
  kCodelet,    ///< those of one codelet
  kSymbol,     ///< those of codelets whose performance models have the same symbol
  kFootprint,  ///< those of one codelet whose data have the same sizes: StarPU's footprint
};

struct Settings {
  std::vector<std::pair<std::string, double>> shares;  ///< ALLOT_SHARES: by the name of the type
  std::vector<std::pair<std::string, double>> worths;  ///< ALLOT_WORTHS: the same
  std::optional<Scenario> scenario;                    ///< ALLOT_SCENARIO: priorities, rates as priors
  TypesBy types = TypesBy::kCodelet;                   ///< ALLOT_TYPES
  Count depth = 1;                                     ///< ALLOT_DEPTH: minimum depth of accelerators
  bool buses = false;      ///< ALLOT_BUSES: plan with the buses and memory of devices
  std::string statistics;  ///< ALLOT_STATS: a file; empty: none
  bool verbose = false;    ///< ALLOT_VERBOSE
};

/// The value of a variable, or null.
using Environment = std::function<const char*(const char*)>;

/// What cannot be read keeps its default, and a line in `problems` says so.
Settings read_settings(const Environment& environment, std::vector<std::string>& problems);

/// Tasks per second of a type on a resource, if there is a scenario that says so.
std::optional<double> scenario_rate(const Settings& settings, const std::string& type,
                                    const std::string& resource);

/// For policies that take shares but do not need them: whether any were named. In a scenario, priorities of
/// types that have worths too are not for them.
bool names_shares(const Settings& settings);

/// What else is wanted of a type, by its name: its worth, and the floor and the response time that the
/// scenario asks for.
void say_wishes(const Settings& settings, TaskClass& type);

/// The share of each type. Those that neither ALLOT_SHARES nor the scenario names divide what is left of 1
/// evenly, and get 1% of the others' sum where nothing is left: no type waits for ever.
std::vector<double> shares_of(const Settings& settings, const std::vector<std::string>& types);

}  // namespace allot::starpu
