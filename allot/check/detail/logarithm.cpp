#include "allot/check/detail/logarithm.hpp"

namespace allot::check::detail {
namespace {

/// Numbers are in units of 2^-kBits. Every operation has an error of at most one unit.
constexpr unsigned kBits = 256;
/// The total error is below 2^kErrorBits units for exponents up to 2^16: about 300 operations, each taken at
/// most 2^17 times.
constexpr unsigned kErrorBits = 40;
constexpr int kTerms = 90;  // (1/3)^(2 * 90) is far below a unit

/// 2 atanh(s) = log((1 + s) / (1 - s)) for |s| <= 1/3, in units.
mpz_class twice_atanh(const mpz_class& s) {
  const mpz_class square = (s * s) >> kBits;
  mpz_class power = s;
  mpz_class sum = 0;
  for (int term = 0; term < kTerms; ++term) {
    sum += power / (2 * term + 1);
    power = (power * square) >> kBits;
  }
  return 2 * sum;
}

}  // namespace

Between logarithm(const mpq_class& x) {
  // x = 2^exponent * (a / b) with 1/2 < a / b < 2, so that |a - b| / (a + b) < 1/3.
  const long exponent = static_cast<long>(mpz_sizeinbase(x.get_num_mpz_t(), 2)) -
                        static_cast<long>(mpz_sizeinbase(x.get_den_mpz_t(), 2));
  mpz_class a = x.get_num();
  mpz_class b = x.get_den();
  if (exponent > 0) b <<= static_cast<mp_bitcnt_t>(exponent);
  if (exponent < 0) a <<= static_cast<mp_bitcnt_t>(-exponent);
  const mpz_class s = ((a - b) << kBits) / (a + b);
  const mpz_class third = (mpz_class(1) << kBits) / 3;
  const mpz_class units = twice_atanh(s) + exponent * twice_atanh(third);
  const mpz_class error = mpz_class(1) << kErrorBits;
  const mpz_class one = mpz_class(1) << kBits;
  Between between{mpq_class(units - error, one), mpq_class(units + error, one)};
  between.low.canonicalize();
  between.high.canonicalize();
  return between;
}

}  // namespace allot::check::detail
