// States by number: each distinct sequence of words is stored once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace allot::detail {

using Word = std::uint32_t;

/// Numbers sequences of words 0, 1, 2, ... in the order of first appearance. Open addressing; the words of
/// all states are stored contiguously.
class StateTable {
 public:
  /// The number of the sequence, and whether it is new.
  std::pair<std::uint32_t, bool> intern(std::span<const Word> words) {
    if ((size() + 1) * 2 > slots_.size()) grow();
    std::size_t at = hash(words) & (slots_.size() - 1);
    while (slots_[at] != kFree) {
      const std::span<const Word> known = (*this)[slots_[at]];
      if (std::equal(known.begin(), known.end(), words.begin(), words.end())) return {slots_[at], false};
      at = (at + 1) & (slots_.size() - 1);
    }
    const auto number = static_cast<std::uint32_t>(size());
    slots_[at] = number;
    words_.insert(words_.end(), words.begin(), words.end());
    end_.push_back(words_.size());
    return {number, true};
  }

  /// Valid until the next `intern`.
  std::span<const Word> operator[](std::size_t number) const noexcept {
    const std::size_t begin = number == 0 ? 0 : end_[number - 1];
    return std::span(words_).subspan(begin, end_[number] - begin);
  }

  std::size_t size() const noexcept { return end_.size(); }

 private:
  static constexpr std::uint32_t kFree = 0xffffffff;

  static std::size_t hash(std::span<const Word> words) noexcept {
    std::uint64_t h = 0x9e3779b97f4a7c15U + words.size();
    for (const Word word : words) {
      h = (h ^ word) * 0xff51afd7ed558ccdU;
      h ^= h >> 32;
    }
    return static_cast<std::size_t>(h);
  }

  void grow() {
    slots_.assign(std::max<std::size_t>(64, slots_.size() * 2), kFree);
    for (std::size_t number = 0; number < size(); ++number) {
      std::size_t at = hash((*this)[number]) & (slots_.size() - 1);
      while (slots_[at] != kFree) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = static_cast<std::uint32_t>(number);
    }
  }

  std::vector<std::uint32_t> slots_;
  std::vector<Word> words_;
  std::vector<std::size_t> end_;
};

}  // namespace allot::detail
