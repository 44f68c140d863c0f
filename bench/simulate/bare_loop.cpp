#include "bench/simulate/bare_loop.hpp"

#include <cmath>
#include <cstdint>

namespace bench {
namespace {

constexpr int kResources = 3;
constexpr int kThreads = 6;  // at each resource
constexpr double kRate[kResources] = {8, 7, 9};

struct Xoshiro {
  std::uint64_t s[4] = {1, 2, 3, 4};
  static std::uint64_t rotl(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  std::uint64_t next() {
    const std::uint64_t r = rotl(s[0] + s[3], 23) + s[0];
    const std::uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
    return r;
  }
  double exponential() { return -std::log(static_cast<double>((next() >> 11) + 1) * 0x1.0p-53); }
};

int first_due(const double* due) {
  return due[0] < due[1] ? (due[0] < due[2] ? 0 : 2) : (due[1] < due[2] ? 1 : 2);
}

struct Sums {
  double now, response;
};

Sums processor_sharing(Xoshiro& rng, long completions) {
  double finish[kResources][kThreads];
  double entered[kResources][kThreads] = {};
  double virtual_now[kResources] = {};
  double next_virtual[kResources];
  double due[kResources];
  double now = 0;
  double response = 0;
  int next_thread[kResources];
  const auto scan = [&](int j) {
    int best = 0;
    for (int i = 1; i < kThreads; ++i) {
      if (finish[j][i] < finish[j][best]) best = i;
    }
    next_thread[j] = best;
    next_virtual[j] = finish[j][best];
  };
  for (int j = 0; j < kResources; ++j) {
    for (double& f : finish[j]) f = rng.exponential() / kRate[j];
    scan(j);
    due[j] = next_virtual[j] * kThreads;
  }
  for (long k = 0; k < completions; ++k) {
    const int j = first_due(due);
    const int i = next_thread[j];
    now = due[j];
    virtual_now[j] = next_virtual[j];
    response += now - entered[j][i];
    entered[j][i] = now;
    finish[j][i] = virtual_now[j] + rng.exponential() / kRate[j];
    scan(j);
    due[j] = now + (next_virtual[j] - virtual_now[j]) * kThreads;
  }
  return {now, response};
}

Sums first_come(Xoshiro& rng, long completions) {
  double entered[kResources][kThreads] = {};
  double due[kResources];
  double now = 0;
  double response = 0;
  int head[kResources] = {};
  for (int j = 0; j < kResources; ++j) due[j] = rng.exponential() / kRate[j];
  for (long k = 0; k < completions; ++k) {
    const int j = first_due(due);
    now = due[j];
    response += now - entered[j][head[j]];
    entered[j][head[j]] = now;
    head[j] = head[j] + 1 == kThreads ? 0 : head[j] + 1;
    due[j] = now + rng.exponential() / kRate[j];
  }
  return {now, response};
}

}  // namespace

BareResult bare_loop(bool fcfs, long completions) {
  Xoshiro rng;
  const Sums sums = fcfs ? first_come(rng, completions) : processor_sharing(rng, completions);
  return {static_cast<double>(completions) / sums.now, sums.response / static_cast<double>(completions)};
}

}  // namespace bench
