#include "allot/base/words.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "allot/base/quote.hpp"

namespace allot {
namespace {

/// Beyond this a name is no longer compared with others: nobody mistypes it, and the cost is quadratic.
constexpr std::size_t kLongestName = 64;
constexpr std::size_t kMostNames = 1000;

/// Upper and lower case count as the same letter.
bool same_letter(char a, char b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return lower(a) == lower(b);
}

/// Optimal string alignment: insert, delete, replace, or swap neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] =
          std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (same_letter(a[i - 1], b[j - 1]) ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(now);
  }
  return last[b.size()];
}

}  // namespace

std::string alternatives(std::span<const std::string> names) {
  std::string text;
  for (std::size_t at = 0; at < names.size(); ++at) {
    if (at > 0) text += at + 1 == names.size() ? " or " : ", ";
    text += names[at];
  }
  return text;
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> names) {
  if (word.size() > kLongestName || names.size() > kMostNames) return {};
  std::string_view best;
  // A guess that shares too little with the word misleads: one edit in three letters.
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view name : names) {
    if (name.size() > kLongestName) continue;
    std::size_t distance = edit_distance(word, name);
    if (word.size() >= 3 && name.starts_with(word)) distance = std::min<std::size_t>(distance, 1);
    // A distance as long as the name itself shares nothing with it.
    if (distance < least && distance < std::max(word.size(), name.size())) {
      least = distance;
      best = name;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> names) {
  const std::string_view meant = nearest(word, names);
  return meant.empty() ? "" : " Did you mean " + quote::name(meant) + "?";
}

}  // namespace allot
