#include "allot/size/distribution.hpp"

#include "allot/base/error.hpp"

namespace allot {

const DistributionInfo* find_distribution(std::string_view name) noexcept {
  for (const DistributionInfo* kind : builtin_distributions()) {
    if (kind->name == name) return kind;
  }
  return nullptr;
}

std::unique_ptr<const Distribution> make_distribution(std::string_view spec) {
  const std::size_t colon = spec.find(':');
  const std::string_view name = spec.substr(0, colon);
  if (const DistributionInfo* kind = find_distribution(name)) {
    const bool bare = colon == std::string_view::npos;
    const std::string_view parameters = bare ? std::string_view{} : spec.substr(colon + 1);
    if (!bare && parameters.empty()) {
      throw InvalidModel(std::string(name), "nothing follows the colon in '" + std::string(spec) + "'");
    }
    return kind->make(parameters);
  }
  std::string names;
  for (const DistributionInfo* kind : builtin_distributions()) {
    if (!names.empty()) names += ", ";
    names += kind->name;
  }
  throw InvalidModel("distribution", "unknown '" + std::string(name) + "'; there are: " + names);
}

}  // namespace allot
