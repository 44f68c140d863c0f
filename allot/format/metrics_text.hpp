// Numbers for monitoring: OpenMetrics text, restricted to what readers of the classic Prometheus format
// accept, too.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace allot {

/// Families one after the other, each with its samples. docs/reference/metrics.md has the names.
class MetricsText {
 public:
  using Label = std::pair<std::string_view, std::string_view>;

  /// `name` without "allot_"; `type` is one that the classic format has, too.
  void family(std::string_view name, std::string_view type, std::string_view help);
  void sample(std::initializer_list<Label> labels, std::uint64_t value);
  void sample(std::initializer_list<Label> labels, double value);
  /// A count and a sum, from which monitoring computes means.
  void summary(std::initializer_list<Label> labels, std::uint64_t count, double sum);
  /// The whole text, ending in "# EOF".
  std::string end() && { return std::move(text_) + "# EOF\n"; }

 private:
  void begin(std::string_view suffix, std::initializer_list<Label> labels);
  void add(double value);

  std::string text_;
  std::string name_;
  std::string suffix_;
};

}  // namespace allot
