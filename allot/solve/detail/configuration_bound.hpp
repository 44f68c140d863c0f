// An upper bound on the throughput, by column generation on the configuration LP.
//
// Relax "every thread is placed exactly once" with a price lambda_i per task. Then each resource may be
// filled on its own (column_pricing.hpp), and
//
//     L(lambda) = sum_i lambda_i N_i + sum_j max over contents x of [X_j(x) - sum_i lambda_i x_i]
//
// is an upper bound for every lambda. A linear program over the contents seen so far proposes the next
// prices; the smallest L seen is the bound. Floors enter as prices pi_i >= 0 on completions. However the
// program rounds, L is evaluated so that rounding never makes it smaller.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "allot/base/stop.hpp"
#include "allot/solve/detail/column_pricing.hpp"

namespace allot::detail {

/// A content of a resource and the weight that the linear program gives it.
struct WeightedContent {
  ResourceId resource{};
  double weight = 0;
  Count total = 0;
  const std::vector<Count>* content = nullptr;  ///< per type of the resource's pricer; lives with the bound
};

class ConfigurationBound {
 public:
  /// Asks the poll throughout; once it says stop, no bound is lowered any more.
  ConfigurationBound(const System& system, StopPoll& poll);

  const ColumnPricer& pricer(ResourceId j) const noexcept { return pricers_[index(j)]; }
  std::vector<ColumnDomain> whole_domains() const;
  /// The largest throughput that servers and rates allow: the magnitude of the numbers here.
  double scale() const noexcept { return scale_; }

  Prices zero_prices() const;

  /// Offers the columns of an assignment to the linear program.
  void add_assignment(const Assignment& assignment);

  enum class End {
    kBelowCutoff,  ///< the bound is at most the cutoff: nothing better is in these domains
    kConverged,    ///< the bound cannot be lowered by prices
    kStalled,      ///< `max_rounds` have been used up
    kStopped,      ///< the poll said so
    kEmpty,        ///< some domain holds no content at all
  };

  struct Result {
    End end = End::kConverged;
    double bound = 0;
    Prices prices;                         ///< those that gave the bound
    std::vector<WeightedContent> support;  ///< the linear program's last solution
    bool complete = false;                 ///< the support places every thread: no penalty was paid
  };

  /// Lowers the bound over the domains. `start`: prices to begin with. `watch` receives each lower bound.
  Result lower(const std::vector<ColumnDomain>& domains, const Prices& start, double cutoff, int max_rounds,
               const std::function<void(double)>& watch = {});

  /// L at the prices or slightly more, never less, from best contents of each resource; the contents are
  /// offered to the program. Minus infinity when a domain is empty, infinity when stopped. `values`: the
  /// inner maxima, one per resource.
  double lagrangian(const std::vector<ColumnDomain>& domains, const Prices& prices,
                    std::vector<double>& values);

  /// Drops totals that no assignment better than the cutoff can have: with the prices' inner maxima, any
  /// other total lowers L below the cutoff. False when a domain becomes empty.
  bool shrink(std::vector<ColumnDomain>& domains, const Prices& prices, double cutoff);

 private:
  struct Pooled {
    ResourceId resource{};
    Count total = 0;
    std::vector<Count> content;
    double value = 0;
    std::vector<double> by_type;  // X_ij, only with floors
  };

  class Master;

  void offer(ResourceId j, const std::vector<Count>& content);
  bool fits(const Pooled& pooled, const ColumnDomain& domain) const noexcept;

  const System& system_;
  StopPoll& poll_;
  double scale_ = 1;  // of rates: penalties are a multiple of it
  std::vector<ColumnPricer> pricers_;
  std::vector<Count> hints_;
  std::deque<Pooled> pool_;  // a deque: contents stay where they are while it grows
  std::vector<std::vector<std::uint64_t>> pool_hashes_;  // per resource, sorted: contents already there
  ColumnPricer::Best best_;
};

}  // namespace allot::detail
