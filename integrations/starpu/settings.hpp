// The user's settings for the policies: the environment, read once for each scheduling context.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "allot/model/scenario.hpp"

namespace allot::starpu {

/// Which tasks have the same type.
enum class TypesBy {
  kCodelet,    ///< tasks of one codelet
  kSymbol,     ///< tasks of codelets whose performance models have the same symbol
  kFootprint,  ///< tasks of one codelet whose data have the same sizes: StarPU's footprint
};

struct Settings {
  std::vector<std::pair<std::string, double>> shares;  ///< ALLOT_SHARES: by name of the type
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

/// An invalid value keeps its default and adds a line to `problems`.
Settings read_settings(const Environment& environment, std::vector<std::string>& problems);

/// Tasks per second of a type on a resource, if the scenario has it.
std::optional<double> scenario_rate(const Settings& settings, const std::string& type,
                                    const std::string& resource);

/// For policies that use shares but do not need them: whether shares were given. In a scenario, priorities of
/// types that also have worths do not count.
bool names_shares(const Settings& settings);

/// Sets the other wishes for a type, by its name: its worth, and the floor and response time of the scenario.
void say_wishes(const Settings& settings, TaskClass& type);

/// The share of each type. Types that neither ALLOT_SHARES nor the scenario names divide the rest of 1
/// evenly, and get 1% of the others' sum if there is no rest: no type waits forever.
std::vector<double> shares_of(const Settings& settings, const std::vector<std::string>& types);

}  // namespace allot::starpu
