// The limit that the simulator's speed is measured against: a closed network as a bare loop, without
// policies, distributions, statistics or choice.
#pragma once

namespace bench {

struct BareResult {
  double throughput = 0;
  double response_time = 0;
};

/// 3 resources with rates 8, 7 and 9, 6 threads of its own type at each (best fit), exponential sizes,
/// response times summed, nothing else.
BareResult bare_loop(bool fcfs, long completions);

}  // namespace bench
