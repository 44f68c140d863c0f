#include "allot/jobs/template.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace allot {
namespace {

struct Named {
  std::string_view name;
  Placeholder placeholder;
};
constexpr std::array<Named, 9> kFixed = {{{"", Placeholder::kInput},
                                          {".", Placeholder::kNoSuffix},
                                          {"/", Placeholder::kBase},
                                          {"//", Placeholder::kFolder},
                                          {"/.", Placeholder::kBaseStem},
                                          {"#", Placeholder::kNumber},
                                          {"%", Placeholder::kSlot},
                                          {"%%", Placeholder::kSlots},
                                          {"out", Placeholder::kOutput}}};

/// The path forms.
constexpr std::span<const Named> kForms = std::span(kFixed).subspan(1, 4);

bool is_known(Placeholder placeholder, const TemplateScope& scope) noexcept {
  if (placeholder == Placeholder::kOutput) return scope.has_output;
  const bool is_slot = placeholder == Placeholder::kSlot || placeholder == Placeholder::kSlots;
  return !is_slot || scope.has_slot;
}

std::string_view base(std::string_view path) noexcept {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

/// Up to the last dot of the last step. A dot at either end of the step does not begin an extension.
std::string_view without_suffix(std::string_view path) noexcept {
  const std::size_t start = path.size() - base(path).size();
  const std::size_t dot = path.rfind('.');
  const bool is_suffix = dot != std::string_view::npos && dot > start && dot + 1 < path.size();
  return is_suffix ? path.substr(0, dot) : path;
}

std::string_view folder(std::string_view path) noexcept {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return path.substr(0, std::max<std::size_t>(slash, 1));
}

}  // namespace

bool find_placeholder(std::string_view name, const TemplateScope& scope, Placeholder& placeholder,
                      std::size_t& column) {
  for (const Named& fixed : kFixed) {
    if (fixed.name != name) continue;
    placeholder = fixed.placeholder;
    column = 0;
    return is_known(placeholder, scope);
  }
  if (scope.has_slot && name.starts_with('%')) {
    const auto resource = std::find(scope.resources.begin(), scope.resources.end(), name.substr(1));
    placeholder = Placeholder::kSlotsOf;
    column = static_cast<std::size_t>(resource - scope.resources.begin());
    if (resource != scope.resources.end()) return true;
  }
  const auto find_column = [&](std::string_view wanted) {
    const auto it = std::find(scope.columns.begin(), scope.columns.end(), wanted);
    column = static_cast<std::size_t>(it - scope.columns.begin());
    return it != scope.columns.end();
  };
  placeholder = Placeholder::kColumn;
  if (find_column(name)) return true;
  if (!name.starts_with("from")) return false;
  for (const Named& form : kForms) {
    if (!name.ends_with(form.name) || !find_column(name.substr(0, name.size() - form.name.size()))) continue;
    placeholder = form.placeholder;
    return true;
  }
  return false;
}

std::string known_placeholders(const TemplateScope& scope) {
  std::string out;
  const auto add = [&](std::string_view name) {
    out += (out.empty() ? "{" : " {") + std::string(name) + "}";
  };
  for (const Named& fixed : kFixed) {
    if (is_known(fixed.placeholder, scope)) add(fixed.name);
  }
  for (const std::string& column : scope.columns) {
    if (column.empty()) continue;
    add(column);
    if (column != "from") continue;
    for (const Named& form : kForms) add(column + std::string(form.name));
  }
  return out;
}

std::string placeholder_value(Placeholder placeholder, std::size_t column, const TemplateValues& values) {
  const std::string_view value =
      column < values.columns.size() ? std::string_view(values.columns[column]) : std::string_view();
  switch (placeholder) {
    case Placeholder::kInput:
      return std::string(value);
    case Placeholder::kNoSuffix:
      return std::string(without_suffix(value));
    case Placeholder::kBase:
      return std::string(base(value));
    case Placeholder::kFolder:
      return std::string(folder(value));
    case Placeholder::kBaseStem:
      return std::string(without_suffix(base(value)));
    case Placeholder::kNumber:
      return std::to_string(values.number);
    case Placeholder::kSlot:
      return std::to_string(values.slot);
    case Placeholder::kSlots:
      return std::string(values.slots);
    case Placeholder::kSlotsOf:
      return column < values.slots_of.size() ? values.slots_of[column] : std::string();
    case Placeholder::kOutput:
      return std::string(values.output);
    case Placeholder::kColumn:
      return std::string(value);
  }
  return {};
}

Template Template::literal(std::string text) {
  Template result;
  result.source_ = text;
  if (!text.empty()) result.parts_.push_back({std::move(text), false, Placeholder::kInput, 0});
  return result;
}

Template Template::from_parts(std::vector<Part> parts, std::string source) {
  Template result;
  result.parts_ = std::move(parts);
  result.source_ = std::move(source);
  return result;
}

Template Template::parse(std::string_view text, const TemplateScope& scope,
                         std::vector<std::string>& problems) {
  std::vector<Part> parts;
  Part part;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c != '{' && c != '}') {
      part.text += c;
      ++at;
      continue;
    }
    if (at + 1 < text.size() && text[at + 1] == c) {
      part.text += c;
      at += 2;
      continue;
    }
    const std::size_t end = c == '{' ? text.find_first_of("{}", at + 1) : std::string_view::npos;
    if (end == std::string_view::npos || text[end] != '}') {
      problems.push_back(std::string("'") + c +
                         "' without its counterpart; for the character itself write '" + c + c + "'");
      part.text += c;
      ++at;
      continue;
    }
    const std::string_view name = text.substr(at + 1, end - at - 1);
    part.has_placeholder = true;
    if (find_placeholder(name, scope, part.placeholder, part.column)) {
      parts.push_back(std::exchange(part, {}));
    } else {
      part = {};
      problems.push_back((name == "out" ? std::string("'{out}' needs an 'output'")
                                        : "unknown placeholder '{" + std::string(name) + "}'") +
                         " (known here: " + known_placeholders(scope) + "; for braces write '{{' and '}}')");
    }
    at = end + 1;
  }
  if (!part.text.empty()) parts.push_back(std::move(part));
  return from_parts(std::move(parts), std::string(text));
}

std::string Template::expand(const TemplateValues& values) const {
  std::string out;
  for (const Part& part : parts_) {
    out += part.text;
    if (part.has_placeholder) out += placeholder_value(part.placeholder, part.column, values);
  }
  return out;
}

bool Template::uses(Placeholder placeholder) const noexcept {
  return std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) {
    return part.has_placeholder && part.placeholder == placeholder;
  });
}

}  // namespace allot
