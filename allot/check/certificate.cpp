#include "allot/check/certificate.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace allot::check {
namespace {

using Json = nlohmann::json;

/// What a certificate may count to: as scenario files.
constexpr std::int64_t kMostTasks = 1'000'000'000;

class Problem : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A value of the file and where it stands.
class Value {
 public:
  Value(const Json& json, std::string path) : json_(json), path_(std::move(path)) {}

  [[noreturn]] void fail(const std::string& what) const { throw Problem(path_ + ": " + what); }
  bool has(const char* key) const { return json_.is_object() && json_.contains(key); }
  Value operator[](const char* key) const {
    if (!json_.is_object()) fail("must be an object");
    if (!json_.contains(key)) fail(std::string("'") + key + "' is missing");
    return {json_.at(key), path_ + "." + key};
  }
  /// An array of `size` elements, each read by `read`.
  template <typename Read>
  auto list(Read&& read, std::optional<std::size_t> size = {}) const {
    if (!json_.is_array()) fail("must be an array");
    if (size && json_.size() != *size) {
      fail("must have " + std::to_string(*size) + " elements, has " + std::to_string(json_.size()));
    }
    std::vector<decltype(read(std::declval<Value>()))> result;
    for (std::size_t at = 0; at < json_.size(); ++at) {
      result.push_back(read(Value(json_[at], path_ + "[" + std::to_string(at) + "]")));
    }
    return result;
  }
  std::string text() const {
    if (!json_.is_string()) fail("must be a string");
    return json_.get<std::string>();
  }
  bool truth() const {
    if (!json_.is_boolean()) fail("must be true or false");
    return json_.get<bool>();
  }
  double number() const {
    if (!json_.is_number() || !std::isfinite(json_.get<double>())) fail("must be a finite number");
    return json_.get<double>();
  }
  double not_negative() const {
    const double value = number();
    if (value < 0) fail("must not be negative");
    return value;
  }
  std::int64_t whole(std::int64_t least, std::int64_t most) const {
    const bool fits = json_.is_number_integer() &&
                      (!json_.is_number_unsigned() || json_.get<std::uint64_t>() <= std::uint64_t{INT64_MAX});
    if (!fits || json_.get<std::int64_t>() < least || json_.get<std::int64_t>() > most) {
      fail("must be a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    }
    return json_.get<std::int64_t>();
  }

 private:
  const Json& json_;
  std::string path_;
};

Resource read_resource(const Value& value) {
  Resource resource;
  resource.name = value["name"].text();
  resource.servers = value["servers"].whole(1, kMostTasks);
  resource.min_depth = value["min_depth"].whole(1, kMostTasks);
  const std::string discipline = value["discipline"].text();
  if (discipline != "ps" && discipline != "fcfs") value["discipline"].fail("must be 'ps' or 'fcfs'");
  resource.fcfs = discipline == "fcfs";
  return resource;
}

Task read_task(const Value& value) {
  Task task;
  task.name = value["name"].text();
  task.count = value["count"].whole(0, kMostTasks);
  if (value.has("floor")) task.floor = value["floor"].not_negative();
  if (value.has("worth")) task.worth = value["worth"].not_negative();
  if (value.has("priority")) task.priority = value["priority"].not_negative();
  return task;
}

Machine read_machine(const Value& value) {
  Machine machine;
  machine.resources = value["resources"].list(read_resource);
  machine.tasks = value["tasks"].list(read_task);
  const auto rate = [](const Value& entry) {
    const double mu = entry.not_negative();
    if (mu != 0 && (mu < 1e-100 || mu > 1e100)) entry.fail("must be 0 or from 1e-100 to 1e100");
    return mu;
  };
  const std::size_t width = machine.resources.size();
  machine.rates =
      value["rates"].list([&](const Value& row) { return row.list(rate, width); }, machine.tasks.size());
  return machine;
}

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
  try {
    const Json json = Json::parse(text);
    const Value root(json, "certificate");
    if (root["allot_certificate"].whole(0, 1000) != 1) root["allot_certificate"].fail("must be 1");
    Certificate certificate;
    const std::string objective = root["objective"].text();
    if (objective != "throughput" && objective != "shares") {
      root["objective"].fail("must be 'throughput' or 'shares'");
    }
    certificate.objective = objective == "shares" ? Objective::kShares : Objective::kThroughput;
    certificate.machine = read_machine(root["system"]);
    certificate.claim = read_claim(root["claim"], certificate);
    certificate.parts = root["proof"].list([&](const Value& value) { return read_part(value, certificate); });
    return {std::move(certificate), {}};
  } catch (const Problem& problem) {
    return {std::nullopt, problem.what()};
  } catch (const Json::exception& problem) {
    return {std::nullopt, std::string("not valid JSON: ") + problem.what()};
  }
}

}  // namespace allot::check
