#include "allot/check/certificate.hpp"

#include "allot/check/detail/machine_reader.hpp"
#include "allot/check/detail/value.hpp"

namespace allot::check {
namespace {

using detail::kMostTasks;
using detail::Value;

Claim read_claim(const Value& value, const Certificate& certificate) {
  const std::size_t types = certificate.machine.tasks.size();
  const std::size_t resources = certificate.machine.resources.size();
  Claim claim;
  if (value.has("infeasible")) claim.infeasible = value["infeasible"].truth();
  if (claim.infeasible) return claim;
  claim.at_most = value["at_most"].not_negative();
  if (!value.has("assignment")) return claim;
  claim.at_least = value["at_least"].not_negative();
  const auto count = [](const Value& entry) { return entry.whole(0, kMostTasks); };
  claim.assignment =
      value["assignment"].list([&](const Value& row) { return row.list(count, resources); }, types);
  if (certificate.objective == Objective::kShares) {
    const auto time = [](const Value& entry) { return entry.not_negative(); };
    claim.time_shares =
        value["time_shares"].list([&](const Value& row) { return row.list(time, resources); }, types);
  }
  return claim;
}

Prices read_prices(const Value& value, const Certificate& certificate) {
  const std::size_t types = certificate.machine.tasks.size();
  const std::size_t resources = certificate.machine.resources.size();
  const auto any = [](const Value& entry) { return entry.number(); };
  const auto premium = [](const Value& entry) { return entry.not_negative(); };
  Prices prices;
  prices.task = value["task"].list(any, types);
  if (value.has("completion")) prices.completion = value["completion"].list(premium, types);
  if (certificate.objective == Objective::kShares) {
    prices.unit = value["unit"].list(premium, resources);
    prices.depth = value["depth"].list(premium, resources);
  }
  return prices;
}

Part read_part(const Value& value, const Certificate& certificate) {
  constexpr std::int64_t kMostParts = 100'000'000;
  Part part;
  part.prices = value["prices"].list([&](const Value& entry) { return read_prices(entry, certificate); });
  if (!value.has("split")) return part;
  const Value split = value["split"];
  Split cut;
  const auto below = [](std::size_t size) { return static_cast<std::int64_t>(size) - 1; };
  cut.resource =
      static_cast<std::size_t>(split["resource"].whole(0, below(certificate.machine.resources.size())));
  if (split.has("task")) {
    cut.task = static_cast<std::size_t>(split["task"].whole(0, below(certificate.machine.tasks.size())));
  }
  cut.at = split["at"].whole(-1, kMostTasks * 1000);
  cut.low = static_cast<std::size_t>(split["low"].whole(0, kMostParts));
  cut.high = static_cast<std::size_t>(split["high"].whole(0, kMostParts));
  part.split = cut;
  return part;
}

}  // namespace

ReadCertificate read_certificate(std::string_view text) {
  return detail::read_text<ReadCertificate>(text, [](const Value& root) {
    Certificate certificate;
    const std::string objective = root["objective"].text();
    if (objective != "throughput" && objective != "shares") {
      root["objective"].fail("must be 'throughput' or 'shares'");
    }
    certificate.objective = objective == "shares" ? Objective::kShares : Objective::kThroughput;
    certificate.machine = detail::read_machine(root["system"]);
    certificate.claim = read_claim(root["claim"], certificate);
    certificate.parts = root["proof"].list([&](const Value& value) { return read_part(value, certificate); });
    return certificate;
  });
}

}  // namespace allot::check
