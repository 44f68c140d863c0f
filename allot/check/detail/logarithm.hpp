// Rational lower and upper bounds of logarithms.
#pragma once

#include <gmpxx.h>

namespace allot::check::detail {

struct Between {
  mpq_class low;
  mpq_class high;
};

/// The natural logarithm of x > 0, to about 60 digits.
Between logarithm(const mpq_class& x);

}  // namespace allot::check::detail
