#include "allot/io/detail/text.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "allot/base/quote.hpp"

namespace allot::detail {
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

std::size_t utf8_length(std::string_view text, std::size_t at) { return quote::utf8_length(text, at); }

std::string printable(std::string_view text, std::size_t limit) { return quote::terminal(text, limit); }

std::string in_quotes(std::string_view text) { return quote::name(text); }

std::string shortest(double value) { return quote::number(value); }

bool is_bare_key(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

std::optional<std::string_view> nearest(std::string_view name, std::span<const std::string_view> names) {
  if (name.size() > kLongestName || names.size() > kMostNames) return std::nullopt;
  std::optional<std::string_view> best;
  std::size_t least = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (const std::string_view other : names) {
    const std::size_t gap = std::max(other.size(), name.size()) - std::min(other.size(), name.size());
    if (gap >= least || other.size() > kLongestName) continue;
    const std::size_t distance = edit_distance(name, other);
    // A distance as long as the name itself shares nothing with it.
    if (distance < least && distance < std::max(name.size(), other.size())) {
      least = distance;
      best = other;
    }
  }
  return best;
}

std::string listed(std::span<const std::string_view> names, bool with_quotes) {
  return with_quotes ? quote::names(names) : quote::list(names);
}

std::string suggestion(std::string_view name, std::span<const std::string_view> names) {
  const auto meant = nearest(name, names);
  return meant ? "; did you mean " + in_quotes(*meant) + "?" : "";
}

}  // namespace allot::detail
