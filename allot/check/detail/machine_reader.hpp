// The machine of a certificate: resources, tasks and rates.
#pragma once

#include "allot/check/certificate.hpp"
#include "allot/check/detail/value.hpp"

namespace allot::check::detail {

Machine read_machine(const Value& value);

}  // namespace allot::check::detail
