#include "allot/jobs/job_reader.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <utility>

#include "allot/base/quote.hpp"
#include "allot/format/duration.hpp"
#include "allot/format/file_kind.hpp"
#include "allot/format/problems.hpp"
#include "allot/format/read_fields.hpp"
#include "allot/jobs/detail/check_outputs.hpp"
#include "allot/jobs/detail/read_inputs.hpp"
#include "allot/jobs/detail/read_stages.hpp"
#include "allot/jobs/fields.hpp"
#include "allot/jobs/stages.hpp"
#include "allot/jobs/tokens.hpp"

namespace allot {
namespace {

constexpr std::string_view kCommandLine = "command line";
constexpr Count kMostRetries = 1000;
/// Types times resources: more would be a typing error or an attack.
constexpr std::size_t kMostPairs = std::size_t{1} << 20;

Node node_of(Node::Content content) {
  Node node;
  node.content = std::move(content);
  return node;
}

/// Adds the messages of a parser of jobs, each with `what` before it.
void report(const Node& node, const std::string& what, const std::vector<std::string>& found,
            Problems& problems) {
  for (const std::string& message : found) problems.add(node, detail::line(what + ": " + message));
}

/// For work on the command line, which has no keys.
Diagnostic in_words_of_options(Diagnostic found) {
  constexpr std::string_view kPrefix = "'command': ";
  found.place = std::string(kCommandLine);
  if (found.message.starts_with(kPrefix)) found.message.erase(0, kPrefix.size());
  if (found.message.find("'{out}' needs an 'output'") != std::string::npos)
    found.message = "'{out}' needs --output PATH, the file to write";
  return found;
}

class JobReader {
 public:
  /// `given`: the inputs of all task types, which then have none of their own. `reads_input`: `inputs_from`
  /// may be standard input.
  JobReader(const Document& document, std::string folder, std::size_t most, bool reads_input = false,
            const InputTable* given = nullptr)
      : problems_(document), folder_(std::move(folder)), inputs_{folder_, most,      reads_input,
                                                                 given,   problems_, elsewhere_} {}

  ReadResult<Job> run() {
    const Node& top = problems_.document().root();
    if (const std::string other = format::mistaken_for(format::FileKind::kJob, top); !other.empty())
      return std::vector<Diagnostic>{{problems_.document().place(top), other}};
    const std::vector<std::string_view> keys = keys_of(job_fields());
    const TableReader root(top, "a job", keys, problems_);
    if (!root.is_table()) return problems_.diagnostics();
    job_.folder = folder_.empty() ? "." : folder_;
    fields_.read(root, "", 0, job_fields(), job_);
    rules_.title(job_.name);
    read_resources(root);
    read_capacities(root);
    read_tasks(root);
    check();
    if (problems_.empty() && elsewhere_.empty()) {
      fill_stages(job_);
      detail::check_outputs(job_, output_nodes_, problems_);
    }
    if (!problems_.empty() || !elsewhere_.empty()) {
      std::vector<Diagnostic> all = problems_.empty() ? std::vector<Diagnostic>{} : problems_.diagnostics();
      all.insert(all.end(), elsewhere_.begin(), elsewhere_.end());
      return all;
    }
    return std::move(job_);
  }

 private:
  using Environment = std::vector<std::pair<std::string, Template>>;

  void read_resources(const TableReader& root) {
    const std::vector<std::string_view> keys = keys_of(job_resource_fields());
    for (const Node& node : format::named_tables(root, "resources", resources_, problems_)) {
      const TableReader table(node, "a resource", keys, problems_);
      JobResource resource;
      fields_.read<Resource>(table, "resources", job_.resources.size(), job_resource_fields(), resource);
      // The columns depend on the task.
      resource.env = read_environment(table, TemplateScope{{""}, false, true, resource_names()}, true);
      if (const Node* const launch = table.find("launch")) resource.launch = read_launch(*launch);
      job_.resources.push_back(std::move(resource));
    }
  }

  void read_capacities(const TableReader& root) {
    const std::span<const Node> nodes = format::tables(root, "capacities", problems_);
    capacities_.is_complete = resources_.is_complete;
    for (const Node& node : format::tables(root, "resources", problems_)) capacities_.add(node);
    for (const Node& node : nodes) capacities_.add(node);
    const std::vector<std::string_view> keys = keys_of(job_capacity_fields());
    for (const Node& node : nodes) {
      const TableReader table(node, "a capacity", keys, problems_);
      JobCapacity& capacity = job_.capacities.emplace_back();
      fields_.read<Capacity>(table, "capacities", job_.capacities.size() - 1, job_capacity_fields(),
                             capacity);
      if (const Node* const per = table.find("per")) {
        constexpr std::array<std::string_view, 2> kPer = {"all", "machine"};
        if (const auto word = read_word(*per, "per", kPer, problems_))
          capacity.per = static_cast<JobCapacity::Per>(*word);
      }
    }
  }

  void read_tasks(const TableReader& root) {
    const std::span<const Node> nodes = format::named_tables(root, "tasks", tasks_, problems_);
    if (!nodes.empty() && job_.resources.size() > kMostPairs / nodes.size()) {
      problems_.add(root.node(), "is too large: " + std::to_string(nodes.size()) + " task types times " +
                                     std::to_string(job_.resources.size()) + " resources are more than " +
                                     std::to_string(kMostPairs) + " pairs");
      return;
    }
    const std::vector<std::string_view> keys = keys_of(job_task_fields());
    std::vector<TableReader> tables;
    for (const Node& node : nodes) {
      output_nodes_.push_back(tables.emplace_back(node, "a task", keys, problems_).find("output"));
    }
    job_.tasks.resize(tables.size());
    has_columns_.resize(tables.size());
    for (const TaskType type : detail::read_stages(tables, tasks_, job_, problems_))
      read_task(tables[index(type)], index(type));
    detail::check_stages(tables, job_, problems_);
  }

  /// The placeholders of a table can be checked only if its columns are known.
  bool read_inputs(const TableReader& table, JobTask& task) {
    if (!inputs_.is_from(table)) return inputs_.read(table, task.inputs);
    if (!task.from) return false;
    const std::size_t before = index(*task.from);
    task.inputs.columns = columns_from(job_.tasks[before].inputs.columns);
    inputs_.count(*table.find("from"), job_.tasks[index(first_stage(job_, *task.from))].inputs.rows());
    return has_columns_[before];
  }

  void read_task(const TableReader& table, std::size_t at) {
    JobTask& task = job_.tasks[at];
    fields_.read<TaskClass>(table, "tasks", at, job_task_fields(), task);
    task.count = table.whole("count", 1, kMaxCount).value_or(0);
    if (const auto retries = table.whole("retries", 0, kMostRetries))
      task.retries = static_cast<int>(*retries);
    task.directory = table.text("directory").value_or("");
    if (const Node* const node = table.find("directory"))
      detail::has_zero(*node, task.directory, "'directory'", problems_);
    task.timeout_s = read_timeout(table);

    const bool has_columns = has_columns_[at] = read_inputs(table, task);
    TemplateScope scope{task.inputs.columns, false, false};
    if (const auto output = table.text("output")) {
      const Node& node = *table.find("output");
      if (output->empty()) problems_.add(node, "'output' must not be empty");
      detail::has_zero(node, *output, "'output'", problems_);
      task.output = read_template(node, "'output'", *output, scope, has_columns);
    }
    scope.has_output = table.find("output") != nullptr;
    scope.has_slot = true;
    scope.resources = resource_names();
    task.env = read_environment(table, scope, has_columns);
    read_commands(table, scope, has_columns, task);
    read_rates(table, at, task);
  }

  Template read_template(const Node& node, const std::string& what, std::string_view text,
                         const TemplateScope& scope, bool has_columns) {
    std::vector<std::string> found;
    Template result = Template::parse(text, scope, found);
    if (has_columns) report(node, what, found, problems_);
    return result;
  }

  Environment read_environment(const TableReader& table, const TemplateScope& scope, bool has_columns) {
    Environment environment;
    const Node* const node = table.find("env");
    if (!node) return environment;
    const auto* entries = node->get<Node::Table>();
    if (!entries) {
      problems_.add(*node, "'env' must be " + a_table() + " of names and texts, is " +
                               problems_.document().describe(*node));
      return environment;
    }
    for (const auto& [name, value] : *entries) {
      const std::string what = "the variable " + quote::name(name);
      if (name.empty() || name.find_first_of(std::string_view("=\0", 2)) != std::string::npos) {
        problems_.add(value, what + " must have a name without '=' and zero bytes");
      } else if (name.starts_with("ALLOT_")) {
        problems_.add(value, what + ": names that begin with ALLOT_ are reserved for allot");
      }
      if (const auto number = any_whole(value, problems_.document())) {
        environment.emplace_back(name, Template::literal(std::to_string(*number)));
      } else if (const auto text = read_text(value, what, problems_)) {
        detail::has_zero(value, *text, what, problems_);
        environment.emplace_back(name, read_template(value, what, *text, scope, has_columns));
      }
    }
    return environment;
  }

  std::vector<std::string> read_launch(const Node& node) {
    std::vector<std::string> words;
    if (const auto* text = node.get<std::string>()) {
      std::vector<std::string> found;
      words = split_command(*text, found);
      if (!found.empty()) {
        problems_.add(node, "'launch' must be words that need no shell, each quote closed");
        return {};
      }
    } else if (const auto given = detail::read_words(node, "'launch'", problems_)) {
      words = *given;
    } else {
      return {};
    }
    if (words.empty() || words.front().empty()) problems_.add(node, "'launch' has no program to run");
    for (const std::string& word : words) {
      if (detail::has_zero(node, word, "'launch'", problems_)) break;
    }
    return words;
  }

  std::optional<double> read_timeout(const TableReader& table) {
    const Node* const node = table.find("timeout");
    if (!node) return std::nullopt;
    std::optional<double> seconds;
    if (const auto* text = node->get<std::string>()) seconds = parse_duration(*text);
    if (const auto* whole = node->get<std::int64_t>()) seconds = static_cast<double>(*whole);
    if (const auto* real = node->get<double>()) seconds = *real;
    if (seconds && *seconds > 0 && *seconds <= 1e9) return seconds;
    problems_.add(*node,
                  "'timeout' must be seconds > 0 or a text such as \"500ms\", \"30s\", \"5m\", \"1.5h\" or "
                  "\"1d\", at most 1e9 s, is " +
                      problems_.document().describe(*node));
    return std::nullopt;
  }

  void read_commands(const TableReader& table, const TemplateScope& scope, bool has_columns, JobTask& task) {
    task.commands.resize(job_.resources.size());
    const bool shell = table.flag("shell").value_or(false);
    const Node* const node = table.find("command");
    if (!node) return;
    if (const auto* by_resource = node->get<Node::Table>()) {
      if (by_resource->empty()) problems_.add(*node, "'command' must name at least one resource");
      for (const auto& [resource, command] : *by_resource) {
        const auto j = format::resolve(resources_, resource, command, problems_);
        auto parsed =
            read_command(command, "the command on " + quote::name(resource), scope, has_columns, shell);
        if (j && *j < task.commands.size()) task.commands[*j] = std::move(parsed);
      }
      return;
    }
    const auto parsed = read_command(*node, "'command'", scope, has_columns, shell);
    std::fill(task.commands.begin(), task.commands.end(), parsed);
  }

  std::optional<CommandTemplate> read_command(const Node& node, const std::string& what,
                                              const TemplateScope& scope, bool has_columns, bool shell) {
    std::vector<std::string> found;
    CommandTemplate command;
    if (const auto* text = node.get<std::string>()) {
      if (detail::has_zero(node, *text, what, problems_)) return std::nullopt;
      command = shell ? CommandTemplate::from_script(*text, scope, found)
                      : CommandTemplate::from_line(*text, scope, found);
    } else if (shell) {
      problems_.add(
          node, what + " must be one string with 'shell = true', is " + problems_.document().describe(node));
      return std::nullopt;
    } else if (const auto words = detail::read_words(node, what, problems_)) {
      command = CommandTemplate::from_words(*words, scope, found);
    } else {
      return std::nullopt;
    }
    if (has_columns) report(node, what, found, problems_);
    return command;
  }

  void read_rates(const TableReader& table, std::size_t at, JobTask& task) {
    const auto runs_on = [&](ResourceId j) {
      return index(j) < task.commands.size() && task.commands[index(j)].has_value();
    };
    if (task.home && !runs_on(*task.home))
      rules_.add({"tasks", at, "home"}, "must be a resource that has a command");
    task.rates.resize(job_.resources.size());
    const Node* const node = table.find("rates");
    if (!node) return;
    format::RateRow row;
    format::read_rates(*node, resources_, row, problems_);
    for (const auto& [j, rate] : row) {
      const std::string& resource = job_.resources[index(j)].name;
      if (const std::string wrong = wanted_rate(rate); !wrong.empty())
        rules_.add({"tasks", at, "rates", resource}, wrong, quote::number(rate));
      if (!(rate > 0)) continue;
      task.rates[index(j)] = rate;
      if (!runs_on(j))
        problems_.add(*node, "a rate on " + quote::name(resource) + ", where there is no command");
    }
  }

  void check() {
    rules_.names("resources", "resource", names_of(job_.resources));
    rules_.names("tasks", "task", names_of(job_.tasks));
    const std::vector<Resource> resources(job_.resources.begin(), job_.resources.end());
    const std::vector<Capacity> capacities(job_.capacities.begin(), job_.capacities.end());
    rules_.capacities(resources, capacities);
    std::vector<std::optional<double>> priorities;
    PerPair<double> runs(job_.tasks.size(), resources.size());
    for (const TaskType i : runs.type_ids()) {
      const JobTask& task = job_.tasks[index(i)];
      priorities.push_back(task.priority);
      for (const ResourceId j : runs.resource_ids()) runs(i, j) = task.commands[index(j)] ? 1 : 0;
      check_lanes(index(i), task);
    }
    rules_.tasks(resources, capacities, {job_.tasks.begin(), job_.tasks.end()}, job_task_fields(), runs,
                 "command", "command");
    rules_.priorities(priorities);
    for (std::size_t j = 0; j < job_.resources.size(); ++j) {
      rules_.fields<Resource>("resources", j, job_.resources[j], job_resource_fields());
      std::vector<std::string_view> users;
      for (const JobTask& task : job_.tasks) {
        if (task.commands[j]) users.push_back(task.name);
      }
      rules_.accelerator(j, job_.resources[j], users, "command");
    }
    format::report(rules_.found(), problems_.document().root(), problems_);
  }

  /// A lane runs one task at a time.
  void check_lanes(std::size_t i, const JobTask& task) {
    for (const Need& need : task.needs) {
      if (index(need.capacity) >= job_.resources.size()) continue;
      const JobResource& taken = job_.resources[index(need.capacity)];
      if (!taken.launch.empty() && need.amount != std::floor(need.amount))
        rules_.add({"tasks", i, "needs", job_.resources[index(need.resource)].name, {}, taken.name},
                   "must be a whole number: each lane of a resource with 'launch' runs one task at a time",
                   quote::number(need.amount));
    }
  }

  std::vector<std::string> resource_names() const {
    return {resources_.order.begin(), resources_.order.end()};
  }

  static std::vector<std::string_view> names_of(const auto& entries) {
    std::vector<std::string_view> names;
    for (const auto& entry : entries) names.emplace_back(entry.name);
    return names;
  }

  std::string a_table() const {
    return problems_.document().format() == FileFormat::kToml ? "a table" : "an object";
  }

  Problems problems_;
  std::vector<Diagnostic> elsewhere_;  // of lists and tables
  std::string folder_;
  detail::InputReader inputs_;
  Job job_;
  format::Names resources_{"resource", "resources", {}, {}, true};
  format::Names tasks_{"task", "tasks", {}, {}, true};
  format::Names capacities_{"capacity", "capacities", {}, {}, true};
  Rules rules_;
  format::FieldReader fields_{resources_, tasks_, capacities_, rules_, problems_};
  std::vector<const Node*> output_nodes_;
  std::vector<bool> has_columns_;  // by type: whether its columns are known
};

}  // namespace

ReadResult<Job> read_job(const std::string& path) {
  const ReadResult<Document> document = read_document(path);
  if (!document) return document.diagnostics();
  const std::string folder = path == "-" ? "" : std::filesystem::path(path).parent_path().string();
  ReadResult<Job> result = JobReader(*document, folder, kMostInputs, path != "-").run();
  if (!result) return result;
  Job job = std::move(result).value();
  job.path = path;
  return job;
}

ReadResult<Job> make_job(const JobCommand& command) {
  const auto text = [](std::string value) { return node_of(std::move(value)); };
  Node::Array resources;
  for (const auto& [name, servers] : command.resources) {
    resources.push_back(
        node_of(Node::Table{{"name", text(name)}, {"servers", node_of(std::int64_t{servers})}}));
  }
  Node::Table commands;
  Node::Table task = {{"name", text(command.name)}, {"shell", node_of(true)}};
  for (const JobCommand::Part& part : command.commands) {
    if (part.resource.empty()) {
      task.push_back({"command", text(part.script)});
    } else {
      commands.push_back({part.resource, text(part.script)});
    }
  }
  if (!commands.empty()) task.push_back({"command", node_of(std::move(commands))});
  if (command.output) task.push_back({"output", text(*command.output)});
  if (command.timeout_s) task.push_back({"timeout", node_of(*command.timeout_s)});
  Node::Table root = {{"resources", node_of(std::move(resources))},
                      {"tasks", node_of(Node::Array{node_of(std::move(task))})}};
  const Document document(FileFormat::kJson, std::string(kCommandLine), node_of(std::move(root)));
  ReadResult<Job> job = JobReader(document, "", kMostInputs, false, &command.inputs).run();
  if (job) return job;
  std::vector<Diagnostic> found = job.diagnostics();
  for (Diagnostic& diagnostic : found) diagnostic = in_words_of_options(std::move(diagnostic));
  return found;
}

ReadResult<Job> read_job_text(std::string_view text, FileFormat format, std::string source,
                              const std::string& folder, std::size_t most) {
  const ReadResult<Document> document = parse_document(text, format, std::move(source));
  if (!document) return document.diagnostics();
  return JobReader(*document, folder, most).run();
}

}  // namespace allot
