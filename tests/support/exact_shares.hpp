// The best exact shares by brute force: every assignment, each with a linear program in rational
// arithmetic.
#pragma once

#include <gmpxx.h>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "tests/support/oracle.hpp"

namespace allot::testing {

/// maximise c'x subject to A x <= b, x >= 0, with every b >= 0: the textbook method with Bland's rule,
/// exactly.
inline std::optional<mpq_class> rational_maximum(const std::vector<mpq_class>& c,
                                                 const std::vector<std::vector<mpq_class>>& rows,
                                                 const std::vector<mpq_class>& b) {
  const std::size_t m = rows.size();
  const std::size_t n = c.size();
  std::vector<std::vector<mpq_class>> t(m + 1, std::vector<mpq_class>(n + m + 1));
  std::vector<std::size_t> basis(m);
  for (std::size_t r = 0; r < m; ++r) {
    for (std::size_t k = 0; k < n; ++k) t[r][k] = rows[r][k];
    t[r][n + r] = 1;
    t[r][n + m] = b[r];
    basis[r] = n + r;
  }
  for (std::size_t k = 0; k < n; ++k) t[m][k] = -c[k];
  while (true) {
    std::size_t enter = n + m;
    for (std::size_t k = 0; k < n + m && enter == n + m; ++k) {
      if (t[m][k] < 0) enter = k;
    }
    if (enter == n + m) return t[m][n + m];
    std::size_t leave = m;
    for (std::size_t r = 0; r < m; ++r) {
      if (t[r][enter] <= 0) continue;
      if (leave == m) {
        leave = r;
        continue;
      }
      const mpq_class ratio = t[r][n + m] / t[r][enter];
      const mpq_class best = t[leave][n + m] / t[leave][enter];
      if (ratio < best || (ratio == best && basis[r] < basis[leave])) leave = r;
    }
    if (leave == m) return std::nullopt;
    const mpq_class pivot = t[leave][enter];
    for (mpq_class& a : t[leave]) a /= pivot;
    for (std::size_t r = 0; r <= m; ++r) {
      if (r == leave || t[r][enter] == 0) continue;
      const mpq_class factor = t[r][enter];
      for (std::size_t k = 0; k <= n + m; ++k) {
        if (t[leave][k] != 0) t[r][k] -= factor * t[leave][k];
      }
    }
    basis[leave] = enter;
  }
}

/// The largest X with X_i = p_i X under weighted service; nothing when depths or floors allow none.
inline std::optional<mpq_class> best_exact_shares(const System& system) {
  std::optional<mpq_class> best;
  mpq_class weight = 0;
  for (const TaskClass& task : system.tasks()) weight += mpq_class(*task.priority);
  for_each_assignment(system, [&](const Assignment& counts) {
    if (!keeps_depths(system, counts)) return;
    std::vector<std::pair<TaskType, ResourceId>> cells;
    for (const TaskType i : system.types()) {
      for (const ResourceId j : system.resource_ids()) {
        if (counts(i, j) > 0) cells.emplace_back(i, j);
      }
    }
    const std::size_t level = cells.size();
    std::vector<mpq_class> objective(level + 1);
    objective[level] = weight;
    std::vector<std::vector<mpq_class>> rows;
    std::vector<mpq_class> limits;
    const auto add = [&](std::vector<mpq_class> row, mpq_class limit) {
      rows.push_back(std::move(row));
      limits.push_back(std::move(limit));
    };
    for (const TaskType i : system.types()) {
      std::vector<mpq_class> share(level + 1);
      std::vector<mpq_class> negated(level + 1);
      for (std::size_t at = 0; at < level; ++at) {
        if (cells[at].first == i) share[at] = mpq_class(system.rate(i, cells[at].second));
      }
      share[level] = -mpq_class(*system.task(i).priority);
      for (std::size_t at = 0; at <= level; ++at) negated[at] = -share[at];
      add(std::move(share), 0);
      add(std::move(negated), 0);
    }
    for (const ResourceId j : system.resource_ids()) {
      std::vector<mpq_class> capacity(level + 1);
      for (std::size_t at = 0; at < level; ++at) capacity[at] = cells[at].second == j ? 1 : 0;
      add(std::move(capacity), mpq_class(static_cast<long>(system.resource(j).servers)));
    }
    for (std::size_t at = 0; at < level; ++at) {
      std::vector<mpq_class> room(level + 1);
      room[at] = 1;
      add(std::move(room), mpq_class(static_cast<long>(counts(cells[at].first, cells[at].second))));
    }
    const std::optional<mpq_class> x = rational_maximum(objective, rows, limits);
    for (const TaskType i : system.types()) {
      const mpq_class least = mpq_class(system.floor(i)) * mpq_class(999'999'999, 1'000'000'000);
      if (*x / weight * mpq_class(*system.task(i).priority) < least) return;
    }
    if (!best || *x > *best) best = x;
  });
  return best;
}

}  // namespace allot::testing
