// Sweep files: which systems to try, and what to try on each. The format is in docs/reference/sweep.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "allot/format/diagnostic.hpp"
#include "allot/format/document.hpp"
#include "allot/model/generate.hpp"
#include "allot/model/scenario.hpp"
#include "allot/sweep/experiment.hpp"

namespace allot {

/// The fields that a `[[vary]]` changes, and their values.
struct SweepAxis {
  std::string label;                ///< its column in the CSV
  std::vector<std::string> fields;  ///< all of them are set to the value
  std::vector<Cell> values;         ///< numbers or texts
  bool is_numeric() const noexcept;
};

/// One combination of values, and its system.
struct SweepPoint {
  std::vector<std::size_t> values;  ///< by axis: index of its value
  std::variant<Scenario, GenerateOptions> source;
};

/// A distribution of task sizes, by its name in the file and by its specification for `make_distribution`.
/// Paths of traces are relative to the file.
struct SweepSizes {
  std::string name;
  std::string spec;
};

struct SweepPlan {
  std::string title;
  std::vector<SweepAxis> axes;
  std::vector<SweepPoint> points;  ///< all combinations, the last axis first; at least one
  std::vector<std::uint64_t> seeds;
  std::vector<std::string> policies;
  std::vector<std::string> solvers;
  std::vector<SweepSizes> distributions;
  std::uint64_t completions = 100'000;
  std::optional<std::uint64_t> warmup;
  std::uint32_t replications = 10;
  bool random_start = true;

  /// Number of rows of the result.
  std::size_t size() const noexcept {
    return points.size() * seeds.size() * (policies.size() * distributions.size() + solvers.size());
  }
};

/// The system of a point. Only a generated one depends on the seed.
Scenario scenario_of(const SweepPoint& point, std::uint64_t seed);

/// Maximum rows of a sweep.
inline constexpr std::size_t kMostSweepRows = 200'000;

/// Reads a sweep file, `.toml` or `.json`, and the scenario that it names; `-` is JSON from standard input.
/// Every point is checked: a value that makes a system invalid is a problem of the file, and so is a policy
/// or solver that does not suit the systems.
ReadResult<SweepPlan> read_sweep(const std::string& path);

/// The same for a text in memory. Paths in it are relative to `folder`.
ReadResult<SweepPlan> read_sweep_text(std::string_view text, FileFormat format, std::string source = {},
                                      const std::string& folder = {});

}  // namespace allot
