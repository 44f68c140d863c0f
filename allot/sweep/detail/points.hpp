// The systems of a sweep: a scenario, or random systems, with values set.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "allot/sweep/detail/read_vary.hpp"

namespace allot::detail {

/// The base of all points: the scenario, or the table of `generate`.
struct Base {
  Document document;
  bool is_generated = false;
};

/// Problems of the scenario's own file are added to `elsewhere`.
std::optional<Base> read_base(const TableReader& root, const std::filesystem::path& folder,
                              Problems& problems, std::vector<Diagnostic>& elsewhere);

/// The problems of the base by itself.
std::vector<Diagnostic> check_base(const Base& base);

/// The systems of all points. If a system is invalid, the value that causes it is reported as a problem.
std::vector<SweepPoint> make_points(const Base& base, std::span<const Vary> varied, Problems& problems);

}  // namespace allot::detail
