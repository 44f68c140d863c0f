#include "bench/real_machine/check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace real_machine {
namespace {

/// Not a number counts as infinitely far.
double mean_difference(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size() || a.empty()) return std::numeric_limits<double>::infinity();
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += std::abs(a[k] - b[k]);
  return std::isfinite(sum) ? sum / static_cast<double>(a.size()) : std::numeric_limits<double>::infinity();
}

double mean_size(const std::vector<double>& a) {
  double sum = 0;
  for (const double x : a) sum += std::abs(x);
  return sum / static_cast<double>(a.size());
}

}  // namespace

std::vector<Agreement> check_kernels(const Machine& machine) {
  std::vector<Agreement> out;
  for (std::size_t type = 0; type < machine.types.size(); ++type) {
    const auto work = static_cast<Work>(type);
    std::vector<std::vector<double>> expected(machine.inputs);
    for (const Station& station : machine.stations) {
      if (station.servers.front().kernels[type] == nullptr) continue;
      const double allowed = work == Work::kDecode ? 1.0 : work == Work::kProduct ? 1e-5 : 0.0;
      Agreement agreement{machine.types[type], station.resource.name, 0, allowed};
      for (const Server& server : station.servers) {
        for (std::size_t input = 0; input < machine.inputs; ++input) {
          server.kernels[type]->run(input);
          std::vector<double> found = server.kernels[type]->result();
          if (expected[input].empty()) expected[input] = found;
          double difference = mean_difference(found, expected[input]);
          if (work == Work::kProduct) difference /= mean_size(expected[input]);
          agreement.difference = std::max(agreement.difference, difference);
        }
      }
      out.push_back(agreement);
    }
  }
  return out;
}

void check_reference(const Machine& machine, const Inputs& inputs) {
  const Server& server = machine.stations.front().servers.front();
  Kernel& product = *server.kernels[static_cast<std::size_t>(Work::kProduct)];
  product.run(0);
  const std::vector<double> entries = product.result();
  const std::size_t n = inputs.sizes.matrix;
  for (std::size_t at = 0; at < n * n; at += n + 3) {  // a winding line of entries
    double sum = 0;
    for (std::size_t k = 0; k < n; ++k) {
      sum += static_cast<double>(inputs.left[0][k * n + at % n]) *
             static_cast<double>(inputs.right[0][at / n * n + k]);
    }
    if (!(std::abs(entries[at] - sum) <= 1e-3))
      throw std::runtime_error("product: entry " + std::to_string(at) + " is wrong");
  }
  Kernel& sort = *server.kernels[static_cast<std::size_t>(Work::kSort)];
  sort.run(0);
  const std::vector<double> sorted = sort.result();
  std::vector<double> keys(inputs.keys[0].begin(), inputs.keys[0].end());
  std::make_heap(keys.begin(), keys.end());
  std::sort_heap(keys.begin(), keys.end());
  if (sorted != keys) throw std::runtime_error("sort: the keys are not those of the input, in order");
}

}  // namespace real_machine
