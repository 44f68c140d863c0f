// The policy of a question.
#pragma once

#include <string_view>
#include <vector>

#include "allot/policy/policy.hpp"

namespace allot {

/// A built-in policy, or one of the caller.
struct PolicyChoice {
  const PolicyInfo* builtin = nullptr;
  NamedPolicy own;

  std::string_view name() const noexcept { return builtin != nullptr ? builtin->name : own.name; }
};

/// The built-in policy of that name; InvalidModel lists the known names and suggests the closest one.
const PolicyInfo& policy_named(std::string_view option, std::string_view name);

/// "there is no WHAT 'name'. Did you mean ...? There are ...", for a field.
[[noreturn]] void refuse_unknown(std::string_view field, std::string_view what, std::string_view name,
                                 const std::vector<std::string_view>& names);

}  // namespace allot
