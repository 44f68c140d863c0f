#include "allot/sweep/sweep.hpp"

#include <algorithm>
#include <utility>

namespace allot {
namespace {

constexpr std::size_t kMany = 100;  // experiments
constexpr std::chrono::milliseconds kEstimateAge{100};

/// The state of one experiment during the sweep.
struct Ledger {
  std::vector<std::optional<UnitResult>> results;
  std::size_t left = 0;  ///< units not tried yet
  std::size_t measured = 0;
  double seconds = 0;  ///< of the measured ones together
};

class Sweep {
 public:
  Sweep(const SweepJob& job, Store& store, Workers& workers, const SweepOptions& options)
      : job_(job), store_(store), workers_(workers), options_(options) {}

  SweepOutcome run() {
    load();
    report();
    const auto done = [this](UnitOutcome outcome) { take(std::move(outcome)); };
    const std::vector<Unit> shared = missing(false);
    if (!shared.empty()) workers_.run(job_, shared, options_.stop, done);
    for (const Unit& unit : missing(true)) {
      if (StopPoll(options_.stop).stopped()) break;
      if (std::optional<UnitOutcome> outcome = do_unit(job_, unit, options_.stop)) done(*std::move(outcome));
    }
    return finish();
  }

 private:
  void load() {
    for (const Experiment& experiment : job_.experiments) {
      Ledger ledger;
      ledger.results.resize(experiment.units(job_.effort));
      for (StoredUnit& unit : store_.load(experiment, job_.effort.seed, ledger.results.size())) {
        ledger.results[unit.unit] = std::move(unit.result);
        ledger.seconds += unit.seconds;
        ++ledger.measured;
      }
      ledger.left = ledger.results.size() - ledger.measured;
      outcome_.found += ledger.measured;
      outcome_.all += ledger.results.size();
      ledgers_.push_back(std::move(ledger));
    }
  }

  /// The units left to do: first one of each experiment, because the remaining time is known only when each
  /// has been measured; then the others in order.
  std::vector<Unit> missing(bool exclusive) const {
    std::vector<Unit> first;
    std::vector<Unit> rest;
    for (std::size_t at = 0; at < ledgers_.size(); ++at) {
      if (job_.experiments[at].exclusive != exclusive) continue;
      bool measured = ledgers_[at].measured > 0;
      for (std::size_t unit = 0; unit < ledgers_[at].results.size(); ++unit) {
        if (ledgers_[at].results[unit]) continue;
        (measured ? rest : first).push_back({at, unit});
        measured = true;
      }
    }
    first.insert(first.end(), rest.begin(), rest.end());
    return first;
  }

  void take(UnitOutcome outcome) {
    const auto [at, unit] = outcome.unit;
    const Experiment& experiment = job_.experiments[at];
    Ledger& ledger = ledgers_[at];
    --ledger.left;
    if (!outcome.error.empty()) {
      outcome_.failures.push_back({experiment.name, unit, std::move(outcome.error)});
      failed_.push_back(outcome.unit);
      return;
    }
    StoredUnit stored{unit, std::move(outcome.result), outcome.seconds};
    store_.save(experiment, job_.effort.seed, stored);
    ledger.results[unit] = std::move(stored.result);
    ledger.seconds += stored.seconds;
    ++ledger.measured;
    ++outcome_.done;
    report();
  }

  /// With many experiments, the estimate is renewed only from time to time.
  std::optional<double> seconds_left() {
    const Clock::time_point now = Clock::now();
    const bool is_fresh = ledgers_.size() > kMany && estimate_ && now - estimated_at_ < kEstimateAge;
    if (is_fresh && outcome_.found + outcome_.done < outcome_.all) return estimate_;
    estimated_at_ = now;
    estimate_ = estimate();
    return estimate_;
  }

  std::optional<double> estimate() const {
    double seconds = 0;
    std::size_t measured = 0;
    for (const Ledger& ledger : ledgers_) {
      seconds += ledger.seconds;
      measured += ledger.measured;
    }
    if (measured == 0) return std::nullopt;
    const double typical = seconds / static_cast<double>(measured);  // for experiments that have not been
                                                                     // measured
    double left = 0;
    for (std::size_t at = 0; at < ledgers_.size(); ++at) {
      const Ledger& ledger = ledgers_[at];
      const double each =
          ledger.measured > 0 ? ledger.seconds / static_cast<double>(ledger.measured) : typical;
      const std::size_t hands = job_.experiments[at].exclusive ? 1 : workers_.count();
      left += each * static_cast<double>(ledger.left) / static_cast<double>(std::max<std::size_t>(hands, 1));
    }
    return left;
  }

  void report() {
    if (options_.progress) options_.progress({outcome_.found + outcome_.done, outcome_.all, seconds_left()});
  }

  SweepOutcome finish() {
    // Failures came in random order.
    std::vector<std::size_t> order(failed_.size());
    for (std::size_t at = 0; at < order.size(); ++at) order[at] = at;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(failed_[a].experiment, failed_[a].unit) <
             std::pair(failed_[b].experiment, failed_[b].unit);
    });
    std::vector<SweepFailure> failures;
    for (const std::size_t at : order) failures.push_back(std::move(outcome_.failures[at]));
    outcome_.failures = std::move(failures);

    for (Ledger& ledger : ledgers_) {
      if (ledger.left > 0) outcome_.stopped = true;
      std::vector<UnitResult> results;
      const bool complete = std::all_of(ledger.results.begin(), ledger.results.end(),
                                        [](const auto& result) { return !!result; });
      if (complete) {
        for (std::optional<UnitResult>& result : ledger.results) results.push_back(*std::move(result));
      }
      outcome_.complete.push_back(complete);
      outcome_.results.push_back(std::move(results));
    }
    return std::move(outcome_);
  }

  const SweepJob& job_;
  Store& store_;
  Workers& workers_;
  const SweepOptions& options_;
  std::vector<Ledger> ledgers_;
  std::vector<Unit> failed_;
  SweepOutcome outcome_;
  std::optional<double> estimate_;
  Clock::time_point estimated_at_{};
};

}  // namespace

SweepOutcome run_sweep(const SweepJob& job, Store& store, Workers& workers, const SweepOptions& options) {
  return Sweep(job, store, workers, options).run();
}

}  // namespace allot
