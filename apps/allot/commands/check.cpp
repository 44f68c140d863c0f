// allot check: verifies a certificate.
#include "allot/check/check.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>

#include "allot/format/json.hpp"
#include "apps/allot/command.hpp"
#include "apps/allot/commands/check_plan.hpp"
#include "apps/allot/input.hpp"
#include "apps/allot/options.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app::check_command {
namespace {

struct Arguments {
  std::string file;
  std::string scenario;
  bool json = false;
};

std::string text_of(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    throw Failure(Exit::kInvalidInput, path + ": is a directory, not a file");
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.good() && !file.eof()) throw Failure(Exit::kInvalidInput, path + ": cannot be read");
  return text;
}

/// The certificate of a reader's result, or Failure.
template <typename Read>
auto certificate_or_fail(Read read, const std::string& path) {
  if (!read.certificate) throw Failure(Exit::kInvalidInput, path + ": " + shown(read.problem));
  return std::move(*read.certificate);
}

std::string difference(const check::Machine& claimed, const check::Machine& meant) {
  if (claimed == meant) return {};
  const char* where = claimed.resources != meant.resources ? "resources"
                      : claimed.tasks != meant.tasks       ? "task types"
                                                           : "rates";
  return std::string("the certificate is not about the system of the scenario: their ") + where + " differ";
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
  return Json::object(
             {{"accepted", verdict.accepted},
              {"reason", verdict.accepted ? Json() : Json(verdict.reason)},
              {"objective", certificate.objective == check::Objective::kShares ? "shares" : "throughput"},
              {"claim", kind_of(certificate, verdict)},
              {"at_least", has_answer ? Json(claim.at_least) : Json()},
              {"at_most", claim.infeasible ? Json() : Json(claim.at_most)},
              {"gap", has_answer ? Json(gap_of(claim)) : Json()},
              {"parts", verdict.parts}})
      .text();
}

std::string accepted_text(const check::Certificate& certificate, const check::Verdict& verdict) {
  const check::Claim& claim = certificate.claim;
  const bool shares = certificate.objective == check::Objective::kShares;
  const bool has_worths = std::any_of(certificate.machine.tasks.begin(), certificate.machine.tasks.end(),
                                      [](const check::Task& task) { return task.worth != 1; });
  const std::string unit = has_worths && !shares ? " of value per second" : " tasks/s";
  const std::string whatever =
      shares ? "no time shares that match the priorities exactly complete" : "no assignment completes";
  if (claim.infeasible) {
    return shares ? "Accepted: no time shares match the priorities exactly and meet every minimum depth and "
                    "every floor."
                  : "Accepted: no assignment meets every minimum depth, every floor and every max_response.";
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

/// The result of a check, for the output.
struct Report {
  check::Verdict verdict;
  std::string accepted;  ///< the sentence, if it was accepted
  std::string what;      ///< what was checked
  std::string json;
};

Report report_on(const check::Certificate& certificate, const Scenario* wanted, const std::string& path) {
  Report report;
  if (wanted != nullptr) {
    if (!wanted->is_static())
      throw Failure(Exit::kInvalidInput,
                    path + ": there are no certificates of even sharing for work that varies over time");
    report.verdict.reason = difference(certificate.machine, machine_of(wanted->system));
  }
  if (report.verdict.reason.empty()) report.verdict = check::check(certificate);
  report.accepted = report.verdict.accepted ? accepted_text(certificate, report.verdict) : "";
  report.what = counted(static_cast<std::int64_t>(report.verdict.parts), "part") + " of a proof";
  report.json = verdict_json(certificate, report.verdict);
  return report;
}

Report report_on(const check::PlanCertificate& certificate, const Scenario* wanted) {
  Report report;
  if (wanted != nullptr) report.verdict.reason = difference_of_plans(certificate, *wanted);
  if (report.verdict.reason.empty()) report.verdict = check::check(certificate);
  report.accepted = report.verdict.accepted ? accepted_plan_text(certificate, report.verdict) : "";
  report.what = certificate.claim.service ? "the plan and its prices" : "its prices";
  report.json = plan_verdict_json(certificate, report.verdict);
  return report;
}

Exit run_check(const Arguments& arguments, Console& console) {
  const std::string text = text_of(arguments.file);
  std::optional<Scenario> wanted;
  if (!arguments.scenario.empty()) wanted = read_scenario_or_fail(arguments.scenario, console);
  const Scenario* const scenario = wanted ? &*wanted : nullptr;
  const Report report =
      check::is_about_a_plan(text)
          ? report_on(certificate_or_fail(check::read_plan_certificate(text), arguments.file), scenario)
          : report_on(certificate_or_fail(check::read_certificate(text), arguments.file), scenario,
                      arguments.scenario);
  const check::Verdict& verdict = report.verdict;
  if (arguments.json) {
    console.print(report.json);
  } else {
    console.paragraph(verdict.accepted ? report.accepted : "Rejected: " + shown(verdict.reason) + ".",
                      verdict.accepted ? Style::kGood : Style::kBad);
    if (verdict.accepted) console.line("checked in exact arithmetic: " + report.what, Style::kDim);
  }
  return verdict.accepted ? Exit::kOk : Exit::kFailed;
}

std::vector<Option> options_of(Arguments& arguments) {
  return {
      input_option("FILE", arguments.file, "a certificate written by --proof").positional().required(),
      input_option("scenario", arguments.scenario, "reject the certificate unless it is for this scenario")
          .shown_as("FILE"),
      json_option(arguments.json)};
}

}  // namespace

extern const Command command;
const Command command{"check", "Verify a certificate written by 'certify --proof', in exact arithmetic.",
                      "allot certify examples/workstation.toml --proof proof.json\n"
                      "allot check proof.json --scenario examples/workstation.toml",
                      declared_by(options_of, run_check)};

}  // namespace allot::app::check_command
