#include "allot/format/scenario_writer.hpp"

#include <type_traits>
#include <utility>
#include <vector>

#include "allot/base/quote.hpp"
#include "allot/model/fields.hpp"

namespace allot {
namespace {

/// The keys of one table and their values, already in the syntax of the format.
using Fields = std::vector<std::pair<std::string, std::string>>;

class Writer {
 public:
  Writer(const Scenario& scenario, FileFormat format)
      : scenario_(scenario), system_(scenario.system), is_toml_(format == FileFormat::kToml) {}

  std::string write() {
    if (!scenario_.name.empty())
      out_ += is_toml_ ? "name = " + text(scenario_.name) + "\n" : "  \"name\": " + text(scenario_.name);
    if (scenario_.power_cap) {
      const std::string cap = value(*scenario_.power_cap);
      out_ += is_toml_ ? "power_cap = " + cap + "\n"
                       : (out_.empty() ? "" : ",\n") + std::string("  \"power_cap\": ") + cap;
    }
    section("resources", system_.resources(), resource_fields());
    section("tasks", system_.tasks(), task_fields());
    section("capacities", system_.capacities(), capacity_fields());
    section("threads", scenario_.threads, thread_fields());
    section("population", scenario_.population, population_fields());
    section("arrivals", scenario_.arrivals, arrival_fields());
    section("measured", scenario_.measured, measured_fields());
    return is_toml_ ? std::move(out_) : "{\n" + out_ + "\n}\n";
  }

 private:
  /// The fields of an entry that differ from the defaults.
  template <typename Owner>
  Fields fields(const Owner& owner, std::size_t entry, std::span<const Field<Owner>> table) const {
    const Owner usual;
    Fields out;
    for (const Field<Owner>& field : table) {
      std::visit(
          [&](auto member) {
            if constexpr (std::is_same_v<decltype(member), Special>) {
              out.emplace_back(field.key, rates_of(task_type(entry)));
            } else if (field.required || owner.*member != usual.*member || is_told<Owner>(field.key)) {
              out.emplace_back(field.key, value(owner.*member, field.words));
            }
          },
          field.member);
    }
    return out;
  }

  /// Counts are written even if they are 0, unless threads replace them.
  template <typename Owner>
  bool is_told(std::string_view key) const {
    return key == "count" && (scenario_.threads.empty() || std::is_same_v<Owner, ThreadGroup>);
  }

  std::string rates_of(TaskType i) const {
    Fields rates;
    for (const ResourceId j : system_.resources_for(i))
      rates.emplace_back(system_.resource(j).name, value(system_.rate(i, j)));
    return inline_table(rates);
  }

  using Words = std::span<const std::string_view>;
  std::string value(const std::string& value, Words = {}) const { return text(value); }
  std::string value(Count value, Words = {}) const { return std::to_string(value); }
  std::string value(double value, Words = {}) const { return quote::number(value); }
  std::string value(bool value, Words = {}) const { return value ? "true" : "false"; }
  std::string value(TaskType i, Words = {}) const { return text(system_.task(i).name); }
  std::string value(ResourceId j, Words = {}) const { return text(system_.resource(j).name); }
  template <typename T>
  std::string value(const std::optional<T>& given, Words words) const {
    return value(*given, words);
  }
  std::string value(const std::vector<TaskType>& tasks, Words) const {
    std::string list;
    for (const TaskType i : tasks) list += (list.empty() ? "" : ", ") + value(i);
    return "[" + list + "]";
  }
  std::string value(const std::vector<ResourceNumber>& numbers, Words) const {
    Fields table;
    for (const ResourceNumber& one : numbers)
      table.emplace_back(system_.resource(one.resource).name, value(one.value));
    return inline_table(table);
  }
  std::string value(const std::vector<Need>& needs, Words) const {
    Fields table;
    for (const ResourceId j : system_.resource_ids()) {
      Fields taken;
      for (const Need& need : needs) {
        if (need.resource == j) taken.emplace_back(system_.capacity_name(need.capacity), value(need.amount));
      }
      if (!taken.empty()) table.emplace_back(system_.resource(j).name, inline_table(taken));
    }
    return inline_table(table);
  }
  std::string value(Kind kind, Words words) const { return text(words[static_cast<std::size_t>(kind)]); }
  std::string value(Discipline discipline, Words words) const {
    return text(words[static_cast<std::size_t>(discipline)]);
  }

  template <typename Owner>
  void section(const std::string& key, const std::vector<Owner>& entries,
               std::span<const Field<Owner>> table) {
    if (entries.empty()) return;
    if (!is_toml_) out_ += (out_.empty() ? "  \"" : ",\n  \"") + key + "\": [\n";
    for (std::size_t at = 0; at < entries.size(); ++at) {
      const Fields fields = this->fields(entries[at], at, table);
      if (is_toml_) {
        out_ += (out_.empty() ? "[[" : "\n[[") + key + "]]\n";
        for (const auto& [field, value] : fields) out_ += field + " = " + value + "\n";
      } else {
        out_ += (at == 0 ? "    " : ",\n    ") + inline_table(fields);
      }
    }
    if (!is_toml_) out_ += "\n  ]";
  }

  std::string inline_table(const Fields& fields) const {
    if (fields.empty()) return "{}";
    std::string out;
    for (const auto& [key, value] : fields) {
      out += out.empty() ? (is_toml_ ? "{ " : "{") : ", ";
      out += is_toml_ && is_bare_key(key) ? key : text(key);
      out += (is_toml_ ? " = " : ": ") + value;
    }
    return out + (is_toml_ ? " }" : "}");
  }

  /// A string with escapes that TOML and JSON share.
  static std::string text(std::string_view value) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out = "\"";
    for (const char c : value) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\') {
        out += '\\';
        out += c;
      } else if (c == '\n') {
        out += "\\n";
      } else if (c == '\t') {
        out += "\\t";
      } else if (byte < 0x20 || byte == 0x7F) {
        out += "\\u00";
        out += digits[byte >> 4];
        out += digits[byte & 15];
      } else {
        out += c;
      }
    }
    return out + '"';
  }

  const Scenario& scenario_;
  const System& system_;
  bool is_toml_;
  std::string out_;
};

}  // namespace

std::string write_scenario(const Scenario& scenario, FileFormat format) {
  return Writer(scenario, format).write();
}

}  // namespace allot
