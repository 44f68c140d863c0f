// Options of a single solver, declared in the solver's own file; everything else that a user sees of them
// comes from the declaration.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace allot {

/// A number, a choice or a flag. As in tables of options, the first line of `help` does not mention the
/// default.
struct Setting {
  std::string_view name;
  std::string_view help;
  double initial = 0;                            ///< of a choice: the index of its word; of a flag: 0 or 1
  double least = 0;                              ///< of a number
  std::span<const std::string_view> words = {};  ///< of a choice
  bool is_flag = false;
  std::string_view off = {};  ///< of a flag that is on: the name of the command-line option that turns it off
};

/// Settings that differ from their defaults. A plain value; empty ones allocate nothing.
class Settings {
 public:
  Settings() = default;
  /// By name; an enumeration by its value.
  Settings(std::initializer_list<std::pair<std::string_view, double>> values) {
    for (const auto& [name, value] : values) set(name, value);
  }

  /// The name must outlive the settings, as the names of declarations do.
  void set(std::string_view name, double value) {
    for (auto& [known, old] : values_) {
      if (known == name) {
        old = value;
        return;
      }
    }
    values_.emplace_back(name, value);
  }
  template <typename Enum>
  requires std::is_enum_v<Enum>
  void set(std::string_view name, Enum value) { set(name, static_cast<double>(value)); }

  /// What was set, or the default.
  double get(const Setting& setting) const noexcept {
    for (const auto& [name, value] : values_) {
      if (name == setting.name) return value;
    }
    return setting.initial;
  }
  template <typename Enum>
  Enum get(const Setting& setting) const noexcept {
    return static_cast<Enum>(static_cast<int>(get(setting)));
  }

  bool has(std::string_view name) const noexcept {
    for (const auto& entry : values_) {
      if (entry.first == name) return true;
    }
    return false;
  }

 private:
  std::vector<std::pair<std::string_view, double>> values_;
};

}  // namespace allot
