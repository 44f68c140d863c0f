// Scenario files, written: reading one back gives an equal scenario.
#pragma once

#include <string>

#include "allot/format/document.hpp"
#include "allot/model/scenario.hpp"

namespace allot {

/// The scenario as the text of a file, defaults left out, numbers as the shortest decimals that read back as
/// the same double. Names must be UTF-8. Reading it back gives an equal scenario for every scenario that the
/// reader can produce.
std::string write_scenario(const Scenario& scenario, FileFormat format);

}  // namespace allot
