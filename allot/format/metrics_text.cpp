#include "allot/format/metrics_text.hpp"

#include <cmath>

#include "allot/base/quote.hpp"

namespace allot {

void MetricsText::family(std::string_view name, std::string_view type, std::string_view help) {
  name_ = "allot_";
  name_ += name;
  text_ += "# TYPE " + name_ + " " + std::string(type) + "\n";
  if (name_.ends_with("_seconds")) text_ += "# UNIT " + name_ + " seconds\n";
  text_ += "# HELP " + name_ + " " + quote::metrics(help) + "\n";
  suffix_ = type == "counter" ? "_total" : "";
}

void MetricsText::sample(std::initializer_list<Label> labels, std::uint64_t value) {
  begin(suffix_, labels);
  text_ += std::to_string(value) + "\n";
}

void MetricsText::sample(std::initializer_list<Label> labels, double value) {
  begin(suffix_, labels);
  add(value);
}

void MetricsText::summary(std::initializer_list<Label> labels, std::uint64_t count, double sum) {
  begin("_count", labels);
  text_ += std::to_string(count) + "\n";
  begin("_sum", labels);
  add(sum);
}

void MetricsText::begin(std::string_view suffix, std::initializer_list<Label> labels) {
  text_ += name_;
  text_ += suffix;
  char separator = '{';
  for (const auto& [key, value] : labels) {
    text_ += separator;
    text_.append(key).append("=\"").append(quote::metrics(value)).append("\"");
    separator = ',';
  }
  if (labels.size() > 0) text_ += '}';
  text_ += ' ';
}

void MetricsText::add(double value) {
  text_ += std::isnan(value)   ? "NaN"
           : std::isinf(value) ? (value > 0 ? "+Inf" : "-Inf")
                               : quote::number(value);
  text_ += '\n';
}

}  // namespace allot
