#include "allot/model/rates.hpp"

#include <cmath>
#include <string>
#include <utility>

#include "allot/base/error.hpp"

namespace allot {

Rates::Rates(std::size_t types, std::size_t resources, std::vector<double> values)
    : types_(types), resources_(resources), values_(std::move(values)) {
  if (values_.size() != types * resources) {
    throw InvalidModel("rates", "expected " + std::to_string(types) + " x " + std::to_string(resources) +
                                    " values, got " + std::to_string(values_.size()));
  }
  for (std::size_t at = 0; at < values_.size(); ++at) {
    const double rate = values_[at];
    if (rate == 0 || (rate >= 1 / kMaxNumber && rate <= kMaxNumber)) continue;
    throw InvalidModel(
        "rates[" + std::to_string(at / resources) + "][" + std::to_string(at % resources) + "]",
        "must be a finite number >= 0, 0 or from 1e-100 to 1e100, is " + std::to_string(rate));
  }
}

Rates Rates::with(TaskType i, ResourceId j, double rate) const {
  std::vector<double> values = values_;
  values[index(i) * resources_ + index(j)] = rate;
  return Rates(types_, resources_, std::move(values));
}

}  // namespace allot
