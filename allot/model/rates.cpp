#include "allot/model/rates.hpp"

#include <string>
#include <utility>

#include "allot/base/error.hpp"
#include "allot/base/quote.hpp"
#include "allot/model/violations.hpp"

namespace allot {

namespace {

PerPair<double> shaped(std::size_t types, std::size_t resources, std::vector<double> values) {
  if (values.size() != types * resources) {
    throw InvalidModel("rates", "expected " + std::to_string(types) + " x " + std::to_string(resources) +
                                    " values, got " + std::to_string(values.size()));
  }
  return {types, resources, std::move(values)};
}

}  // namespace

Rates::Rates(std::size_t types, std::size_t resources, std::vector<double> values)
    : Rates(shaped(types, resources, std::move(values))) {}

Rates::Rates(PerPair<double> values) : values_(std::move(values)) {
  for (const TaskType i : values_.type_ids()) {
    for (const ResourceId j : values_.resource_ids()) {
      const double rate = values_(i, j);
      if (rate == 0 || (rate >= 1 / kMaxNumber && rate <= kMaxNumber)) continue;
      throw InvalidModel("rates[" + std::to_string(index(i)) + "][" + std::to_string(index(j)) + "]",
                         wanted_rate(rate) + ", is " + quote::number(rate));
    }
  }
}

Rates Rates::with(TaskType i, ResourceId j, double rate) const {
  PerPair<double> values = values_;
  values(i, j) = rate;
  return Rates(std::move(values));
}

}  // namespace allot
