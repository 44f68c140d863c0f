#include "integrations/starpu/settings.hpp"

#include <algorithm>
#include <string_view>

#include "allot/base/numbers.hpp"
#include "allot/format/scenario_reader.hpp"
#include "allot/model/rates.hpp"

namespace allot::starpu {
namespace {

constexpr Count kMostDepth = 64;
/// Part of the sum of all shares, for a type for which nothing is left.
constexpr double kLeastShare = 0.01;

using Named = std::vector<std::pair<std::string, double>>;

/// "A=0.5,B=0.3"; split at the last '=', because names of types may contain one.
std::optional<Named> read_named(std::string_view text) {
  Named shares;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const std::size_t divide = part.rfind('=');
    if (divide == std::string_view::npos || divide == 0) return std::nullopt;
    const auto share = number_in<double>(part.substr(divide + 1));
    if (!share || !(*share >= 0 && *share <= kMaxNumber)) return std::nullopt;
    shares.emplace_back(part.substr(0, divide), *share);
  }
  return shares;
}

std::optional<Named> read_shares(std::string_view text) {
  std::optional<Named> shares = read_named(text);
  const auto is_zero = [](const auto& named) { return named.second == 0; };
  if (shares && std::all_of(shares->begin(), shares->end(), is_zero)) return std::nullopt;
  return shares;
}

/// The scenario's entry for a type; null: none.
const TaskClass* task_named(const Settings& settings, const std::string& name) {
  if (!settings.scenario) return nullptr;
  for (const TaskClass& task : settings.scenario->system.tasks()) {
    if (task.name == name) return &task;
  }
  return nullptr;
}

std::optional<TypesBy> read_types(std::string_view text) {
  if (text == "codelet") return TypesBy::kCodelet;
  if (text == "symbol") return TypesBy::kSymbol;
  if (text == "footprint") return TypesBy::kFootprint;
  return std::nullopt;
}

}  // namespace

Settings read_settings(const Environment& environment, std::vector<std::string>& problems) {
  Settings settings;
  const auto given = [&](const char* name) -> std::string_view {
    const char* const value = environment(name);
    return value == nullptr ? std::string_view() : std::string_view(value);
  };
  const auto complain = [&](const char* name, const char* wanted) {
    problems.push_back(std::string(name) + "=" + std::string(given(name)) + " is ignored: must be " + wanted);
  };

  if (const auto text = given("ALLOT_SHARES"); !text.empty()) {
    if (auto shares = read_shares(text)) {
      settings.shares = *std::move(shares);
    } else {
      complain("ALLOT_SHARES",
               "shares by the name of the type, such as A=0.5,B=0.3, not all of them 0 and none above 1e100");
    }
  }
  if (const auto text = given("ALLOT_WORTHS"); !text.empty()) {
    if (auto worths = read_named(text)) {
      settings.worths = *std::move(worths);
    } else {
      complain("ALLOT_WORTHS", "worths by the name of the type, such as A=2,B=1, none above 1e100");
    }
  }
  if (const auto path = given("ALLOT_SCENARIO"); !path.empty()) {
    auto read = read_scenario(std::string(path));
    if (read) {
      settings.scenario = std::move(read).value();
    } else {
      complain("ALLOT_SCENARIO", "a scenario file");
      for (const Diagnostic& problem : read.diagnostics()) problems.push_back(to_string(problem));
    }
  }
  if (const auto text = given("ALLOT_TYPES"); !text.empty()) {
    if (const auto types = read_types(text)) {
      settings.types = *types;
    } else {
      complain("ALLOT_TYPES", "codelet, symbol or footprint");
    }
  }
  if (const auto text = given("ALLOT_DEPTH"); !text.empty()) {
    const auto depth = number_in<Count>(text);
    if (depth && *depth >= 1 && *depth <= kMostDepth) {
      settings.depth = *depth;
    } else {
      complain("ALLOT_DEPTH", "a whole number from 1 to 64");
    }
  }
  const auto buses = given("ALLOT_BUSES");
  settings.buses = !buses.empty() && buses != "0";
  settings.statistics = given("ALLOT_STATS");
  const auto verbose = given("ALLOT_VERBOSE");
  settings.verbose = !verbose.empty() && verbose != "0";
  return settings;
}

std::optional<double> scenario_rate(const Settings& settings, const std::string& type,
                                    const std::string& resource) {
  if (!settings.scenario) return std::nullopt;
  const System& system = settings.scenario->system;
  for (const TaskType i : system.types()) {
    for (const ResourceId j : system.resource_ids()) {
      if (system.task(i).name == type && system.resource(j).name == resource && system.can_run(i, j)) {
        return system.rate(i, j);
      }
    }
  }
  return std::nullopt;
}

bool names_shares(const Settings& settings) {
  if (!settings.shares.empty()) return true;
  if (!settings.scenario || !settings.worths.empty()) return false;
  const System& system = settings.scenario->system;
  return !system.shares().empty() && !system.has_worths();
}

void say_wishes(const Settings& settings, TaskClass& type) {
  if (const TaskClass* const told = task_named(settings, type.name)) {
    type.worth = told->worth;
    type.floor = told->floor;
    type.max_response = told->max_response;
  }
  for (const auto& [name, worth] : settings.worths) {
    if (name == type.name) type.worth = worth;
  }
}

std::vector<double> shares_of(const Settings& settings, const std::vector<std::string>& types) {
  const auto named = [&](const std::string& type) -> std::optional<double> {
    for (const auto& [name, share] : settings.shares) {
      if (name == type) return share;
    }
    const TaskClass* const told = settings.shares.empty() ? task_named(settings, type) : nullptr;
    return told != nullptr ? told->priority : std::nullopt;
  };
  std::vector<double> shares(types.size(), 0.0);
  double sum = 0;
  for (const auto& [name, share] : settings.shares) sum += share;
  if (settings.shares.empty() && settings.scenario) {
    for (const TaskClass& task : settings.scenario->system.tasks()) sum += task.priority.value_or(0.0);
  }
  const auto unnamed =
      std::count_if(types.begin(), types.end(), [&](const auto& type) { return !named(type); });
  const double least = sum > 0 ? kLeastShare * sum : 1.0;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const double left = std::max((1 - sum) / static_cast<double>(unnamed), least);
    shares[i] = named(types[i]).value_or(std::min(left, kMaxNumber));
  }
  // The given shares may be for types that have not come yet: the present types must not all have share 0.
  if (std::all_of(shares.begin(), shares.end(), [](double share) { return share == 0; })) {
    std::fill(shares.begin(), shares.end(), 1.0);
  }
  return shares;
}

}  // namespace allot::starpu
