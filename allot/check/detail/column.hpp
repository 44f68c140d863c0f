// The largest worth of a resource at given prices, in whole numbers.
//
// Everything is a multiple of a unit so small that rounding to it never matters, and rounded so that a worth
// is never too small. That is all a proof needs: at any prices, the worths are bounds.
#pragma once

#include <gmpxx.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "allot/check/certificate.hpp"

namespace allot::check::detail {

/// Whole numbers from first to last.
struct Range {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// What a resource may hold in one part of the proof.
struct Domain {
  std::vector<Range> totals;        ///< disjoint, ascending
  std::vector<std::int64_t> lower;  ///< per type
  std::vector<std::int64_t> upper;  ///< per type
};

/// The units that numbers are counted in: 2^-rate_bits for completions per second, 2^-time_bits for seconds.
struct Units {
  long rate_bits = 0;
  long time_bits = 0;

  explicit Units(const Machine& machine);
  mpz_class down(const mpq_class& value) const;  ///< completions per second, rounded down
  mpz_class up(const mpq_class& value) const;    ///< rounded up
};

/// Prices in units: of each task (any value is a valid price, so it may be rounded), and premiums, which are
/// not rounded.
struct UnitPrices {
  std::vector<mpz_class> task;
  std::vector<mpq_class> premium;

  UnitPrices(const Units& units, const Prices& prices);
};

/// The largest worth of resource j: the worths of completions, plus premiums for them, minus the prices of
/// its tasks.
class Column {
 public:
  Column(const Machine& machine, const Units& units, std::size_t j, const UnitPrices& prices,
         const Domain& domain);

  /// Over all totals of the domain; nothing if it allows no content.
  std::optional<mpz_class> most();
  /// The totals of the domain whose worth is above the threshold (or not below it: `keep_equal`).
  std::vector<Range> above(const mpz_class& threshold, bool keep_equal);

 private:
  struct Offer {
    mpz_class key;  ///< what one more task of the type is worth, times a common denominator
  };

  mpz_class worth(std::int64_t total);
  mpz_class linear(std::int64_t first, std::int64_t last, const std::vector<mpz_class>& gain);
  mpz_class harmonic(std::int64_t total);
  mpz_class served(std::int64_t first, std::int64_t last);
  mpz_class range_worth(std::int64_t first, std::int64_t last);
  mpz_class fill(std::int64_t first, std::int64_t last);
  void set_slopes(const std::vector<mpz_class>& price);

  const Units& units_;
  std::int64_t servers_;
  bool fcfs_;
  bool one_rate_ = true;  // all types that may be here are equally fast
  bool has_premium_ = false;
  mpq_class least_worth_ = 1;
  std::int64_t least_ = 0;     // sum of the lower bounds
  std::int64_t greatest_ = 0;  // sum of the upper bounds
  std::vector<Range> totals_;  // of the domain, between these
  // Per type that may be here:
  std::vector<std::int64_t> lower_;
  std::vector<std::int64_t> room_;
  std::vector<mpz_class> price_;
  std::vector<mpq_class> premium_;    // for completions, plus the worth above the least worth
  std::vector<mpz_class> gain_;       // (worth + premium) mu, rounded up
  std::vector<mpz_class> most_gain_;  // the same, premiums paid at the fastest rate where a queue may wait
  std::vector<mpz_class> seconds_;    // 1 / mu, rounded down
  std::vector<mpq_class> slopes_;     // one between each pair of neighbouring crossings
  std::vector<Offer> offers_;
  std::vector<std::size_t> order_;
};

}  // namespace allot::check::detail
