// Measured sizes: drawn at random, with replacement, from the lines of a file, and scaled to mean 1.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <vector>

#include "allot/base/error.hpp"
#include "allot/base/numbers.hpp"
#include "allot/size/detail/inversion.hpp"
#include "allot/size/detail/parameters.hpp"

namespace allot::sizes {
namespace {

constexpr std::size_t kLargestFile = std::size_t{1} << 26;  // bytes; keeps an endless /dev/zero out
constexpr std::size_t kListedLines = 100;

/// A sum in the given order that adds up the rounding errors separately (Neumaier).
class ExactSum {
 public:
  void add(double value) noexcept {
    const double next = sum_ + value;
    lost_ += sum_ >= value ? (sum_ - next) + value : (value - next) + sum_;
    sum_ = next;
  }
  double value() const noexcept { return sum_ + lost_; }

 private:
  double sum_ = 0;
  double lost_ = 0;
};

class Trace final : public detail::ByInversion {
 public:
  /// Sizes already scaled to mean 1.
  Trace(std::string spec, std::vector<double> sizes) noexcept
      : spec_(std::move(spec)), sizes_(std::move(sizes)) {
    ExactSum squares;
    for (const double size : sizes_) squares.add((size - 1) * (size - 1));
    variance_ = squares.value() / static_cast<double>(sizes_.size());
  }

  /// The k-th of n lines for u in (k/n, (k + 1)/n).
  void to_sizes(std::span<double> uniform) const noexcept override {
    const auto count = static_cast<double>(sizes_.size());
    for (double& value : uniform) {
      value = sizes_[std::min(static_cast<std::size_t>(value * count), sizes_.size() - 1)];
    }
  }
  double variance() const noexcept override { return variance_; }
  std::string spec() const override { return spec_; }

 private:
  std::string spec_;
  std::vector<double> sizes_;
  double variance_;
};

std::string read_text(const std::string& field, const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) throw InvalidModel(field, "is a folder, not a file");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InvalidModel(field, "cannot be opened");
  std::string text;
  std::vector<char> buffer(std::size_t{1} << 16);
  while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())), file.gcount() > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() > kLargestFile) throw InvalidModel(field, "is larger than 64 MiB");
  }
  if (file.bad()) throw InvalidModel(field, "cannot be read");
  return text;
}

std::string_view trimmed(std::string_view line) {
  line = line.substr(0, line.find('#'));
  const std::size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
}

/// 'text' on one line: short, with anything but printable ASCII as a question mark.
std::string in_quotes(std::string_view text) {
  constexpr std::size_t kShown = 40;
  std::string shown(text.substr(0, kShown));
  for (char& c : shown) c = c >= ' ' && c <= '~' ? c : '?';
  return "'" + shown + (text.size() > kShown ? "..." : "") + "'";
}

/// Collects what is wrong, line by line.
class BadLines {
 public:
  explicit BadLines(std::string_view what = "line ") : what_(what) {}
  void add(std::size_t line, std::string_view text, std::string_view problem) {
    if (++count_ > kListedLines) return;
    if (!message_.empty()) message_ += "; ";
    message_ += std::string(what_) + std::to_string(line) + ": " + in_quotes(text) + " ";
    message_ += problem;
  }
  void throw_if_any(const std::string& field) const {
    if (count_ == 0) return;
    const std::size_t unlisted = count_ - std::min(count_, kListedLines);
    throw InvalidModel(field, message_ + (unlisted > 0 ? "; and " + std::to_string(unlisted) + " more" : ""));
  }

 private:
  std::string_view what_;
  std::size_t count_ = 0;
  std::string message_;
};

struct Entry {
  double size;
  std::size_t line;
};

bool is_size(double size) {
  return size >= std::numeric_limits<double>::min() && size <= std::numeric_limits<double>::max();
}

std::vector<Entry> read_entries(const std::string& field, std::string_view text) {
  std::vector<Entry> entries;
  BadLines bad;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = text.find('\n');
    const std::string_view number = trimmed(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    if (number.empty()) continue;
    const double size = detail::parsed_number(number);
    if (is_size(size)) {
      entries.push_back({size, line});
    } else {
      bad.add(line, number, "is not a positive, finite number");
    }
  }
  bad.throw_if_any(field);
  if (entries.empty()) throw InvalidModel(field, "holds no size; one number per line is expected");
  return entries;
}

std::vector<double> scaled(const std::string& field, const std::vector<Entry>& entries) {
  double largest = 0;
  for (const Entry& entry : entries) largest = std::max(largest, entry.size);
  // In units of a power of two near the largest, so that the sum cannot overflow and scaling does not round.
  const int unit = std::ilogb(largest);
  ExactSum sum;
  for (const Entry& entry : entries) sum.add(std::ldexp(entry.size, -unit));
  const double mean = sum.value() / static_cast<double>(entries.size());
  std::vector<double> sizes;
  sizes.reserve(entries.size());
  BadLines bad;
  for (const Entry& entry : entries) {
    const double size = std::ldexp(entry.size, -unit) / mean;
    sizes.push_back(size);
    if (size < std::numeric_limits<double>::min()) {
      bad.add(entry.line, exact_text(entry.size), "is too small beside the others");
    }
  }
  bad.throw_if_any(field);
  return sizes;
}

std::unique_ptr<const Distribution> make_trace(std::string_view path_text) {
  if (path_text.empty()) throw InvalidModel("trace", "needs a file of sizes: trace:PATH");
  const std::string field = "trace:" + std::string(path_text);
  std::vector<double> sizes = scaled(field, read_entries(field, read_text(field, std::string(path_text))));
  return std::make_unique<Trace>(field, std::move(sizes));
}

}  // namespace

extern const DistributionInfo trace;
const DistributionInfo trace{"trace", "drawn from a file of measured sizes, one number per line", "PATH",
                             make_trace, true};

}  // namespace allot::sizes

namespace allot {

std::unique_ptr<const Distribution> sampled_distribution(std::string name, std::vector<double> values) {
  std::vector<sizes::Entry> entries;
  sizes::BadLines bad("size ");
  for (const double size : values) {
    entries.push_back({size, entries.size() + 1});
    if (!sizes::is_size(size)) bad.add(entries.size(), exact_text(size), "is not a positive, finite number");
  }
  bad.throw_if_any("distribution");
  if (entries.empty()) throw InvalidModel("distribution", "holds no size");
  return std::make_unique<sizes::Trace>(std::move(name), sizes::scaled("distribution", entries));
}

}  // namespace allot
