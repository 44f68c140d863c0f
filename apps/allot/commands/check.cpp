// allot check: verifies a certificate.
#include "allot/check/check.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "allot/model/system.hpp"
#include "apps/allot/command.hpp"
#include "apps/allot/input.hpp"
#include "apps/allot/options.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app {
namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  std::string file;
  std::string scenario;
  bool json = false;
};

check::Certificate read_certificate_or_fail(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.good() && !file.eof()) throw Failure(Exit::kInvalidInput, path + ": cannot be read");
  check::ReadCertificate read = check::read_certificate(text);
  if (!read.certificate) throw Failure(Exit::kInvalidInput, path + ": " + shown(read.problem));
  return std::move(*read.certificate);
}

/// What of a scenario a certificate is about.
check::Machine machine_of(const System& system) {
  check::Machine machine;
  for (const Resource& resource : system.resources()) {
    machine.resources.push_back(
        {resource.name, resource.servers, resource.discipline == Discipline::kFcfs, resource.min_depth});
  }
  for (const TaskType i : system.types()) {
    machine.tasks.push_back(
        {system.task(i).name, system.count(i), system.floor(i), system.worth(i), system.task(i).priority});
    machine.rates.emplace_back();
    for (const ResourceId j : system.resource_ids()) machine.rates.back().push_back(system.rate(i, j));
  }
  return machine;
}

std::string difference(const check::Machine& claimed, const check::Machine& meant) {
  if (claimed == meant) return {};
  const char* where = claimed.resources != meant.resources ? "resources"
                      : claimed.tasks != meant.tasks       ? "task types"
                                                           : "rates";
  return std::string("the certificate is about another system than the scenario: their ") + where + " differ";
}

const char* kind_of(const check::Certificate& certificate, const check::Verdict& verdict) {
  if (certificate.claim.infeasible) return "infeasible";
  if (certificate.claim.assignment.empty()) return "bound";
  return verdict.optimal ? "optimal" : "gap";
}

double gap_of(const check::Claim& claim) {
  return claim.at_most > 0 ? std::max(0.0, (claim.at_most - claim.at_least) / claim.at_most) : 0.0;
}

std::string verdict_json(const check::Certificate& certificate, const check::Verdict& verdict) {
  const check::Claim& claim = certificate.claim;
  const bool has_answer = !claim.infeasible && !claim.assignment.empty();
  Json object;
  object["accepted"] = verdict.accepted;
  object["reason"] = verdict.accepted ? Json(nullptr) : Json(verdict.reason);
  object["objective"] = certificate.objective == check::Objective::kShares ? "shares" : "throughput";
  object["claim"] = kind_of(certificate, verdict);
  object["at_least"] = has_answer ? Json(claim.at_least) : Json(nullptr);
  object["at_most"] = claim.infeasible ? Json(nullptr) : Json(claim.at_most);
  object["gap"] = has_answer ? Json(gap_of(claim)) : Json(nullptr);
  object["parts"] = verdict.parts;
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string accepted_text(const check::Certificate& certificate, const check::Verdict& verdict) {
  const check::Claim& claim = certificate.claim;
  const bool shares = certificate.objective == check::Objective::kShares;
  const bool has_worths = std::any_of(certificate.machine.tasks.begin(), certificate.machine.tasks.end(),
                                      [](const check::Task& task) { return task.worth != 1; });
  const std::string unit = has_worths && !shares ? " of value per second" : " tasks/s";
  const std::string whatever =
      shares ? "no time shares that keep the priorities exactly complete" : "no assignment completes";
  if (claim.infeasible) {
    return shares ? "Accepted: no time shares keep the priorities exactly, every least depth and every floor."
                  : "Accepted: no assignment keeps every least depth and meets every floor.";
  }
  if (claim.assignment.empty()) {
    return "Accepted: " + whatever + " more than " + number_above(claim.at_most, 10) + unit + ".";
  }
  if (verdict.optimal) {
    return "Accepted: optimal. The answer completes " + number(claim.at_least) + unit + ", and " + whatever +
           " more.";
  }
  return "Accepted: the answer completes at least " + number(claim.at_least, 10) + unit + ", and " +
         whatever + " more than " + number_above(claim.at_most, 10) + ": it is within " +
         percent(gap_of(claim)) + " of the optimum.";
}

Exit run_check(const Arguments& arguments, Console& console) {
  const check::Certificate certificate = read_certificate_or_fail(arguments.file);
  check::Verdict verdict;
  if (!arguments.scenario.empty()) {
    const Scenario wanted = read_scenario_or_fail(arguments.scenario, console);
    if (!wanted.is_static())
      throw Failure(Exit::kInvalidInput,
                    arguments.scenario + ": no certificate is about work that varies over time");
    const Scenario scenario = wanted;
    verdict.reason = difference(certificate.machine, machine_of(scenario.system));
  }
  if (verdict.reason.empty()) verdict = check::check(certificate);
  if (arguments.json) {
    console.print(verdict_json(certificate, verdict));
  } else {
    const std::string text =
        verdict.accepted ? accepted_text(certificate, verdict) : "Rejected: " + shown(verdict.reason) + ".";
    console.paragraph(text, verdict.accepted ? Style::kGood : Style::kBad);
    if (verdict.accepted) {
      console.line("checked in exact arithmetic: " +
                       counted(static_cast<std::int64_t>(verdict.parts), "part") + " of a proof",
                   Style::kDim);
    }
  }
  return verdict.accepted ? Exit::kOk : Exit::kFailed;
}

std::vector<Option> options_of(Arguments& arguments) {
  return {input_option("FILE", arguments.file, "certificate, as --proof writes it").positional().required(),
          input_option("scenario", arguments.scenario,
                       "reject it unless it is about the system of this scenario file")
              .shown_as("FILE"),
          json_option(arguments.json)};
}

}  // namespace

extern const Command check_command;
const Command check_command{"check", "Verify a certificate of 'certify --proof' in exact arithmetic.",
                            "allot certify examples/workstation.toml --proof proof.json\n"
                            "allot check proof.json --scenario examples/workstation.toml",
                            declared_by(options_of, run_check)};

}  // namespace allot::app
