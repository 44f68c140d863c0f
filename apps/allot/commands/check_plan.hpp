// The output of `allot check` for certificates of planned service.
#pragma once

#include <string>

#include "allot/check/check.hpp"
#include "allot/model/scenario.hpp"

namespace allot::app {

/// The part of a scenario that a certificate of even sharing covers.
check::Machine machine_of(const System& system);

/// How the scenario differs from that of the certificate; empty if it does not.
std::string difference_of_plans(const check::PlanCertificate& certificate, const Scenario& wanted);
std::string accepted_plan_text(const check::PlanCertificate& certificate, const check::Verdict& verdict);
std::string plan_verdict_json(const check::PlanCertificate& certificate, const check::Verdict& verdict);

}  // namespace allot::app
