// What `allot check` says about certificates of planned service.
#pragma once

#include <string>

#include "allot/check/check.hpp"
#include "allot/model/scenario.hpp"

namespace allot::app {

/// What of a scenario a certificate of even sharing is about.
check::Machine machine_of(const System& system);

/// What of the scenario the certificate is not about; empty where it is.
std::string difference_of_plans(const check::PlanCertificate& certificate, const Scenario& wanted);
std::string accepted_plan_text(const check::PlanCertificate& certificate, const check::Verdict& verdict);
std::string plan_verdict_json(const check::PlanCertificate& certificate, const check::Verdict& verdict);

}  // namespace allot::app
