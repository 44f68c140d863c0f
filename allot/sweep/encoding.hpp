// The result of a unit as bytes: exact to the last bit, the same on every platform. For the store, and for
// messages between machines.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "allot/sweep/experiment.hpp"

namespace allot {

/// About 8 bytes per number.
std::string encode_result(const UnitResult& result);

/// Absent unless the bytes come from `encode_result`.
std::optional<UnitResult> decode_result(std::string_view bytes);

}  // namespace allot
