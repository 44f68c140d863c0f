#include "allot/io/scenario_writer.hpp"

#include <utility>
#include <vector>

#include "allot/io/detail/text.hpp"

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
    section("resources", system_.resources(), [&](const Resource& resource) { return fields(resource); });
    std::size_t at = 0;
    section("tasks", system_.tasks(), [&](const TaskClass& task) { return fields(task, task_type(at++)); });
    section("threads", scenario_.threads, [&](const ThreadGroup& group) { return fields(group); });
    section("population", scenario_.population, [&](const PopulationChange& change) {
      return Fields{
          {"at", number(change.at)}, {"task", name(change.task)}, {"change", std::to_string(change.change)}};
    });
    section("arrivals", scenario_.arrivals, [&](const Arrivals& arrivals) {
      return Fields{{"task", name(arrivals.task)}, {"rate", number(arrivals.rate)}};
    });
    section("measured", scenario_.measured, [&](const MeasuredRate& rate) { return fields(rate); });
    return is_toml_ ? std::move(out_) : "{\n" + out_ + "\n}\n";
  }

 private:
  Fields fields(const Resource& resource) const {
    const Resource usual;
    Fields out{{"name", text(resource.name)}};
    if (resource.kind != usual.kind) out.emplace_back("kind", text("sa"));
    if (resource.servers != usual.servers) out.emplace_back("servers", std::to_string(resource.servers));
    if (resource.discipline != usual.discipline) out.emplace_back("discipline", text("fcfs"));
    if (resource.min_depth != usual.min_depth)
      out.emplace_back("min_depth", std::to_string(resource.min_depth));
    if (resource.power != usual.power) out.emplace_back("power", number(resource.power));
    if (resource.idle_power != usual.idle_power) out.emplace_back("idle_power", number(resource.idle_power));
    return out;
  }

  Fields fields(const TaskClass& task, TaskType i) const {
    Fields out{{"name", text(task.name)}};
    if (scenario_.threads.empty() || task.count > 0) out.emplace_back("count", std::to_string(task.count));
    if (task.home) out.emplace_back("home", text(system_.resource(*task.home).name));
    if (task.priority) out.emplace_back("priority", number(*task.priority));
    if (task.floor) out.emplace_back("floor", number(*task.floor));
    Fields rates;
    for (const ResourceId j : system_.resources_for(i)) {
      rates.emplace_back(system_.resource(j).name, number(system_.rate(i, j)));
    }
    out.emplace_back("rates", inline_table(rates));
    return out;
  }

  Fields fields(const ThreadGroup& group) const {
    std::string sequence;
    for (const TaskType i : group.sequence) sequence += (sequence.empty() ? "" : ", ") + name(i);
    return {{"count", std::to_string(group.count)}, {"sequence", "[" + sequence + "]"}};
  }

  Fields fields(const MeasuredRate& rate) const {
    Fields out{{"task", name(rate.task)},
               {"resource", text(system_.resource(rate.resource).name)},
               {"low", number(rate.low)},
               {"high", number(rate.high)},
               {"runs", std::to_string(rate.runs)}};
    if (rate.alone) out.emplace_back("alone", number(*rate.alone));
    if (rate.mixed) out.emplace_back("mixed", number(*rate.mixed));
    if (!rate.converged) out.emplace_back("converged", "false");
    return out;
  }

  template <typename T, typename FieldsOf>
  void section(const std::string& key, const std::vector<T>& entries, FieldsOf fields_of) {
    if (entries.empty()) return;
    if (!is_toml_) out_ += (out_.empty() ? "  \"" : ",\n  \"") + key + "\": [\n";
    bool is_first = true;
    for (const T& entry : entries) {
      const Fields fields = fields_of(entry);
      if (is_toml_) {
        out_ += (out_.empty() ? "[[" : "\n[[") + key + "]]\n";
        for (const auto& [field, value] : fields) out_ += field + " = " + value + "\n";
      } else {
        out_ += (std::exchange(is_first, false) ? "    " : ",\n    ") + inline_table(fields);
      }
    }
    if (!is_toml_) out_ += "\n  ]";
  }

  std::string inline_table(const Fields& fields) const {
    if (fields.empty()) return "{}";
    std::string out;
    for (const auto& [key, value] : fields) {
      out += out.empty() ? (is_toml_ ? "{ " : "{") : ", ";
      out += is_toml_ && detail::is_bare_key(key) ? key : text(key);
      out += (is_toml_ ? " = " : ": ") + value;
    }
    return out + (is_toml_ ? " }" : "}");
  }

  std::string name(TaskType i) const { return text(system_.task(i).name); }
  std::string number(double value) const { return detail::shortest(value); }

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
