#include "bench/real_machine/sharing_runs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <utility>

#include "allot/dispatch/sharing_correction.hpp"
#include "allot/model/throughput.hpp"

namespace real_machine {
namespace {

using allot::Assignment;
using allot::Count;

/// How much a mix of a design counts in the fit beside a placement.
constexpr double kDesignWeight = 0.3;

/// "median error 4.0%, 41 within 10%, worst 18.1%"
std::string summary(std::vector<double> errors) {
  std::sort(errors.begin(), errors.end());
  const std::size_t n = errors.size();
  const double median = n % 2 == 1 ? errors[n / 2] : 0.5 * (errors[n / 2 - 1] + errors[n / 2]);
  const auto within = std::upper_bound(errors.begin(), errors.end(), 0.1) - errors.begin();
  char text[100];
  std::snprintf(text, sizeof text, "median error %.1f%%, %td within 10%%, worst %.1f%%", 100 * median, within,
                100 * errors.back());
  return text;
}

void write_fit(const allot::System& shape, std::size_t streams, const allot::SharingFit& fit,
               SharingTables& tables) {
  const auto number = [&](const std::string& what, allot::TaskType i, allot::ResourceId j,
                          const allot::FittedNumber& fitted) {
    tables.fits.row(streams, what, shape.task(i).name, shape.resource(j).name, fitted.value, fitted.low,
                    fitted.high);
  };
  for (const allot::TaskType i : shape.types()) {
    for (const allot::ResourceId j : shape.resources_for(i)) {
      number("rate", i, j, fit.rates(i, j));
      for (std::size_t r = 0; r < fit.needs.size(); ++r)
        number("need" + std::to_string(r + 1), i, j, fit.needs[r](i, j));
    }
  }
  const auto error = [&](const std::string& what, std::size_t capacities, const allot::SharingError& found) {
    tables.errors.row(streams, what, capacities, fit.mixes, found.median, found.within_tenth, found.worst);
    std::printf("  %s, %zu shared: median error %.1f%%, within 10%% %.0f%%, worst %.1f%%\n", what.c_str(),
                capacities, 100 * found.median, 100 * found.within_tenth, 100 * found.worst);
  };
  for (std::size_t count = 0; count < fit.left_out.size(); ++count)
    error("left_out", count, fit.left_out[count]);
  error("in_sample", fit.needs.size(), fit.in_sample);
  std::fflush(stdout);
}

}  // namespace

SharingTables::SharingTables(const std::filesystem::path& folder)
    : fits(folder, "fits.csv", "streams,what,type,resource,value,low,high"),
      errors(folder, "errors.csv", "streams,what,capacities,mixes,median,within_tenth,worst"),
      predictions(folder, "predictions.csv",
                  "streams,workload,placement,counts,predicted,measured,error,alone,alone_error,little,"
                  "by_station,mix,corrected,corrected_error") {}

allot::System shape_of(const Machine& machine, const std::vector<Count>& counts) {
  std::vector<allot::Resource> resources;
  for (const Station& station : machine.stations) resources.push_back(station.resource);
  std::vector<allot::TaskClass> tasks;
  allot::PerPair<double> rates(machine.types.size(), machine.stations.size(), 0.0);
  for (std::size_t i = 0; i < machine.types.size(); ++i) {
    tasks.push_back({.name = machine.types[i], .count = counts[i]});
    for (std::size_t j = 0; j < machine.stations.size(); ++j)
      rates(allot::task_type(i), allot::resource_id(j)) = machine.can_run(i, j) ? 1.0 : 0.0;
  }
  return {std::move(resources), std::move(tasks), allot::Rates(std::move(rates))};
}

allot::PerPair<double> in_service(const allot::System& shape, const Assignment& placement) {
  allot::PerPair<double> out(shape.type_count(), shape.resource_count(), 0.0);
  for (const allot::ResourceId j : shape.resource_ids()) {
    const auto there = static_cast<double>(placement.column_sum(j));
    const auto servers = static_cast<double>(shape.resource(j).servers);
    for (const allot::TaskType i : shape.types())
      out(i, j) = static_cast<double>(placement(i, j)) * (there > servers ? servers / there : 1.0);
  }
  return out;
}

allot::System without_sharing(const allot::System& system) {
  std::vector<allot::TaskClass> tasks = system.tasks();
  for (allot::TaskClass& task : tasks) task.needs.clear();
  return {system.resources(), std::move(tasks), system.rates()};
}

allot::SharingFit fit_runs(const allot::System& shape, std::size_t streams, std::vector<SharingRun>& runs,
                           std::uint64_t seed, SharingTables& tables) {
  std::vector<allot::MixMeasurement> seen;
  for (SharingRun& run : runs) {
    if (run.is_predicted()) continue;
    run.measured.weight = run.origin == "design" ? kDesignWeight : 1.0;
    seen.push_back(run.measured);
  }
  allot::SharingFit fit = allot::fit_sharing(seen, {.seed = seed});
  write_fit(shape, streams, fit, tables);
  return fit;
}

bool has_all_rates(const allot::System& shape, const allot::SharingFit& fit) {
  for (const allot::TaskType i : shape.types()) {
    for (const allot::ResourceId j : shape.resources_for(i)) {
      if (fit.rates(i, j).value > 0) continue;
      std::printf("  no mix had %s on %s: nothing is predicted\n", shape.task(i).name.c_str(),
                  shape.resource(j).name.c_str());
      return false;
    }
  }
  return true;
}

void predict_runs(const allot::System& shape, std::size_t streams, const allot::SharingFit& fit,
                  const std::vector<SharingRun>& runs, SharingTables& tables) {
  const allot::System system = with_sharing(shape, fit);
  allot::SharingCorrection correction(fit, shape);
  std::vector<double> errors;
  std::vector<double> corrected_errors;
  for (const SharingRun& run : runs) {
    if (run.is_predicted()) {
      std::vector<Count> counts;
      for (const allot::TaskType i : shape.types()) counts.push_back(run.placement.row_sum(i));
      const allot::System shared = system.with_counts(counts);
      const allot::Performance predicted = evaluate(shared, run.placement);
      const double alone = evaluate(without_sharing(shared), run.placement).throughput;
      const allot::PerPair<double> now = correction.predict(run.began, in_service(shape, run.placement));
      const double corrected = std::accumulate(now.values().begin(), now.values().end(), 0.0);
      std::string by_station;
      for (std::size_t j = 0; j < run.by_station.size(); ++j) {
        by_station += (j == 0 ? "" : " ") + rounded(predicted.throughput_by_resource[j]) + ":" +
                      rounded(run.by_station[j]);
      }
      const auto error_of = [&](double said) { return said / run.throughput - 1; };
      errors.push_back(std::abs(error_of(predicted.throughput)));
      corrected_errors.push_back(std::abs(error_of(corrected)));
      tables.predictions.row(streams, run.workload, run.origin, as_text(run.placement), predicted.throughput,
                             run.throughput, error_of(predicted.throughput), alone, error_of(alone),
                             run.little, by_station, run.number, corrected, error_of(corrected));
    }
    correction.learn(run.began, run.measured);
  }
  if (errors.empty()) return;
  std::printf("  %zu placements that the fit has not seen: %s\n  corrected by the runs before: %s\n",
              errors.size(), summary(errors).c_str(), summary(corrected_errors).c_str());
  std::fflush(stdout);
}

}  // namespace real_machine
