#include "allot/sweep/encoding.hpp"

#include <bit>
#include <cstdint>

namespace allot {
namespace {

using Rows = std::vector<std::vector<double>>;

/// Lowest byte first.
void put(std::string& bytes, std::uint64_t value, int width) {
  for (int at = 0; at < width; ++at) bytes.push_back(static_cast<char>(value >> (8 * at) & 0xff));
}

void put(std::string& bytes, const Rows& rows) {
  put(bytes, rows.size(), 4);
  for (const std::vector<double>& row : rows) {
    put(bytes, row.size(), 4);
    for (const double number : row) put(bytes, std::bit_cast<std::uint64_t>(number), 8);
  }
}

/// Takes numbers from the front. If there are too few bytes, gives 0 and is no longer sound.
class Taker {
 public:
  explicit Taker(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t take(std::size_t width) {
    if (bytes_.size() < width) {
      is_sound_ = false;
      bytes_ = {};
      return 0;
    }
    std::uint64_t value = 0;
    for (std::size_t at = 0; at < width; ++at)
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes_[at])) << (8 * at);
    bytes_.remove_prefix(width);
    return value;
  }

  /// A count of elements that take at least `least` bytes each: a wrong count allocates nothing.
  std::size_t take_count(std::size_t least) {
    const std::uint64_t count = take(4);
    if (count <= bytes_.size() / least) return count;
    is_sound_ = false;
    return 0;
  }

  bool is_sound() const noexcept { return is_sound_; }
  bool is_empty() const noexcept { return bytes_.empty(); }

 private:
  std::string_view bytes_;
  bool is_sound_ = true;
};

Rows take_rows(Taker& taker) {
  Rows rows(taker.take_count(4));
  for (std::vector<double>& row : rows) {
    row.resize(taker.take_count(8));
    for (double& number : row) number = std::bit_cast<double>(taker.take(8));
  }
  return rows;
}

}  // namespace

std::string encode_result(const UnitResult& result) {
  std::string bytes;
  put(bytes, result.rows);
  put(bytes, result.timing);
  return bytes;
}

std::optional<UnitResult> decode_result(std::string_view bytes) {
  Taker taker(bytes);
  UnitResult result;
  result.rows = take_rows(taker);
  result.timing = take_rows(taker);
  if (!taker.is_sound() || !taker.is_empty()) return std::nullopt;
  return result;
}

}  // namespace allot
