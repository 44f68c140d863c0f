#include "allot/ask/policy_choice.hpp"

#include <string>

#include "allot/base/error.hpp"
#include "allot/base/quote.hpp"
#include "allot/base/words.hpp"

namespace allot {

void refuse_unknown(std::string_view field, std::string_view what, std::string_view name,
                    const std::vector<std::string_view>& names) {
  std::vector<std::string> quoted;
  for (const std::string_view known : names) quoted.push_back(quote::name(known));
  throw InvalidModel(std::string(field), "there is no " + std::string(what) + " " + quote::name(name) + "." +
                                             did_you_mean(name, names) + " There are " +
                                             alternatives(quoted) + ".");
}

const PolicyInfo& policy_named(std::string_view option, std::string_view name) {
  if (const PolicyInfo* const policy = find_policy(name)) return *policy;
  std::vector<std::string_view> names;
  for (const PolicyInfo* known : builtin_policies()) names.push_back(known->name);
  refuse_unknown(option, "policy", name, names);
}

}  // namespace allot
