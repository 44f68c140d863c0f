#include "apps/allot/commands/run_job.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <string_view>
#include <utility>

#include "allot/base/digest.hpp"
#include "allot/base/quote.hpp"
#include "allot/base/words.hpp"
#include "allot/jobs/job_reader.hpp"
#include "apps/allot/input.hpp"
#include "apps/allot/options.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app {
namespace {

constexpr std::string_view kInputsFollow = ":::";
constexpr std::string_view kFileFollows = "::::";
constexpr Count kMostServers = 100'000;
constexpr const char* kOneLiner = "allot run 'gzip -k {}' ::: *.txt";

Count cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
}

/// Whether a word that is not an option is a command or the name of a job file.
bool is_command(const std::string& word, bool has_marker) {
  std::error_code error;
  if (word == "-" || word.ends_with(".toml") || word.ends_with(".json") ||
      std::filesystem::exists(word, error))
    return false;
  return has_marker || word.find_first_of(" \t\n{|;<>") != std::string::npos;
}

[[noreturn]] void usage(const std::string& message) {
  throw Failure(Exit::kUsage, message + "\n'allot run --help' explains.");
}

/// NAME=VALUE, split at the first '='.
std::pair<std::string, std::optional<std::string>> split_at_sign(const std::string& text) {
  const std::size_t sign = text.find('=');
  if (sign == std::string::npos) return {text, std::nullopt};
  return {text.substr(0, sign), text.substr(sign + 1)};
}

/// A number of servers: 4, or 50% of the cores.
Count parse_servers(const std::string& option, const std::string& text) {
  if (!text.ends_with('%')) return static_cast<Count>(parse_whole(option, text, 1, kMostServers));
  const double part = parse_number(option, text.substr(0, text.size() - 1)) / 100;
  if (!(part > 0 && part <= 100))
    throw OptionError(option, "needs a part of the cores above 0%, not " + in_quotes(text));
  return std::max<Count>(1, std::llround(part * static_cast<double>(cores())));
}

std::vector<std::pair<std::string, Count>> resources_of(const JobWords& words) {
  std::vector<std::pair<std::string, Count>> resources;
  for (const std::string& text : words.resources) {
    const auto [name, servers] = split_at_sign(text);
    resources.emplace_back(name, servers ? parse_servers("--resource", *servers) : 1);
  }
  if (resources.empty()) resources.emplace_back("cpu", cores());
  return resources;
}

/// Like other tools: a command without a placeholder for its input gets the input as its last word.
std::string with_input(const std::string& script) {
  std::vector<std::string> problems;
  const TemplateScope scope{{""}, true, true};
  const CommandTemplate parsed = CommandTemplate::from_script(script, scope, problems);
  for (const Template& word : parsed.words()) {
    for (const Template::Part& part : word.parts()) {
      if (part.has_placeholder) return script;
    }
  }
  return problems.empty() ? script + " {}" : script;
}

std::vector<JobCommand::Part> commands_of(const JobWords& words,
                                          const std::vector<std::pair<std::string, Count>>& resources) {
  std::vector<JobCommand::Part> commands;
  std::vector<std::string_view> names;
  for (const auto& [name, servers] : resources) names.push_back(name);
  for (const std::string& text : words.commands) {
    const auto [name, script] = split_at_sign(text);
    if (script && std::find(names.begin(), names.end(), name) != names.end()) {
      commands.push_back({name, with_input(*script)});
      continue;
    }
    // NAME=VALUE may also set a variable of the shell, but probably not if NAME is close to a resource name.
    if (const std::string_view meant = script ? nearest(name, names) : std::string_view(); !meant.empty()) {
      usage("--command: there is no resource " + in_quotes(name) + ". Did you mean " + in_quotes(meant) +
            "?");
    }
    commands.push_back({"", with_input(text)});
  }
  for (const std::string& text : words.words) commands.push_back({"", with_input(text)});
  for (std::size_t at = 0; at < commands.size(); ++at) {
    const bool is_for_all = commands[at].resource.empty();
    if (is_for_all && commands.size() > 1) {
      usage("--command: if there are several, each must name its resource, as in --command " +
            std::string(names.front()) + "='...'; " + in_quotes(commands[at].script) + " names none.");
    }
    for (std::size_t other = 0; other < at; ++other) {
      if (commands[other].resource == commands[at].resource)
        usage("--command: " + in_quotes(commands[at].resource) + " has two.");
    }
  }
  return commands;
}

/// The words after ':::', the lines of a file, or the lines of standard input.
InputTable inputs_of(const JobWords& words, const Console& console) {
  std::vector<InputProblem> problems;
  std::string source = "standard input";
  InputTable inputs;
  if (words.marker == kInputsFollow) {
    if (std::find(words.inputs.begin(), words.inputs.end(), kInputsFollow) != words.inputs.end()) {
      usage(
          "only one ':::' is allowed; for combinations, write a table with one row per task, and use "
          "':::: table.csv'.");
    }
    inputs.values = words.inputs;
  } else if (words.marker == kFileFollows && (words.inputs.size() != 1 || words.inputs.front().empty())) {
    usage("'::::' must be followed by one file: a list, or a table whose name ends in '.csv'.");
  } else if (words.marker == kFileFollows && words.inputs.front() != "-") {
    source = words.inputs.front();
    inputs = inputs_from_file(source, kMostInputs, problems);
  } else {
    if (::isatty(STDIN_FILENO) == 1)
      console.note("reading inputs from the terminal, one per line; end with Ctrl-D");
    inputs = inputs_from_stream(std::cin, words.null_separated, kMostInputs, problems);
    if (inputs.values.empty() && problems.size() == 1 && problems.front().line == 0) problems.clear();
  }
  for (const InputProblem& problem : problems) {
    console.error(shown(source) + (problem.line == 0 ? " " : ":" + std::to_string(problem.line) + ": ") +
                  shown(problem.message));
  }
  if (!problems.empty()) throw Failure(Exit::kInvalidInput, "");
  if (inputs.values.empty()) {
    console.note("there are no inputs: nothing to do");
    throw Failure(Exit::kOk, "");
  }
  return inputs;
}

/// -j: servers of the only resource, or of the named one.
void apply_jobs(const JobWords& words, Job& job) {
  for (const std::string& text : words.jobs) {
    const auto [name, servers] = split_at_sign(text);
    const auto named = std::find_if(job.resources.begin(), job.resources.end(),
                                    [&name = name](const JobResource& r) { return r.name == name; });
    std::vector<std::string_view> names;
    for (const JobResource& resource : job.resources) names.emplace_back(resource.name);
    if (servers && named == job.resources.end())
      usage("-j: there is no resource " + in_quotes(name) + "; the resources are: " + quote::list(names) +
            ".");
    if (!servers && job.resources.size() > 1)
      usage("-j: there are several resources; name one, as in -j " + shown(names.front()) + "=" + text + ".");
    JobResource& resource = servers ? *named : job.resources.front();
    resource.servers = parse_servers("-j", servers.value_or(text));
  }
}

/// The same command line finds its journal again; a different one gets a different journal:
/// allot-djpeg-1a2b3c4d.journal.
std::string journal_name(const Job& job, const JobCommand& command) {
  Digest digest;
  for (const WorkDefinition& part : definitions(job)) {
    for (const std::string& text : {part.type, part.part, part.resource, part.text}) digest.add(text);
  }
  std::string_view program = command.commands.front().script;
  program = program.substr(0, program.find_first_of(" \t\n;|&<>"));
  program.remove_prefix(program.rfind('/') == std::string_view::npos ? 0 : program.rfind('/') + 1);
  std::string name;
  for (const char c : program) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          c == '.' || c == '_' || c == '-';
    if (is_plain && name.size() < 40) name += c;
  }
  return "allot-" + (name.empty() ? "" : name + "-") + digest.text().substr(0, 8) + ".journal";
}

NamedJob make_named(const JobWords& words, const Console& console) {
  JobCommand command;
  if (!words.name.empty()) command.name = words.name;
  command.resources = resources_of(words);
  command.commands = commands_of(words, command.resources);
  if (!words.output.empty()) command.output = words.output;
  command.timeout_s = words.timeout_s;
  command.inputs = inputs_of(words, console);
  Job job = value_or_fail(make_job(command), console);
  job.name = command.commands.front().script;
  std::string journal = journal_name(job, command);
  return {std::move(job), false, std::move(journal)};
}

}  // namespace

void add_job_options(std::vector<Option>& options, JobWords& words) {
  const char* const group = "Without a job file";
  const auto keep_inputs = [&words](const std::vector<std::string>& inputs) {
    for (const std::string& input : inputs) words.inputs.push_back(input.substr(1));
  };
  options.push_back(
      texts_option("FILE", words.words,
                   "the job file (TOML or JSON); or a command in quotes, with its inputs after ':::', in a "
                   "file after '::::', or on standard input, one per line")
          .positional());
  // Set by the command for ':::' and the words after it.
  options.push_back(text_option("inputs_after", words.marker, "").hidden());
  options.push_back(Option{"input", TextsValue{keep_inputs}, ""}.hidden());
  options.push_back(
      texts_option("jobs", words.jobs,
                   "tasks at a time on the resource, or on the one named; 50% means half the cores")
          .with_letter("j")
          .suggesting_in([](const std::string& file) {
            std::vector<std::string> beginnings = resources_in(file);
            for (std::string& name : beginnings) name += "=";
            return beginnings;
          })
          .shown_as("[NAME=]N"));
  options.push_back(texts_option("resource", words.resources, "a resource and its servers")
                        .unless_said("cpu, one server per core")
                        .shown_as("NAME[=N]")
                        .under(group));
  options.push_back(
      texts_option("command", words.commands,
                   "command for the resource, run by 'sh -c'; {} is the input, quoted for the shell")
          .shown_as("[NAME=]COMMAND")
          .under(group));
  options.push_back(
      output_option("output", words.output, "output file of a task: what it writes to {out}, or prints")
          .under(group));
  options.push_back(text_option("name", words.name, "name of the tasks in the log")
                        .unless_said("task")
                        .shown_as("NAME")
                        .under(group));
  options.push_back(
      seconds_option("timeout", words.timeout_s, "time limit of a task, e.g. 30s or 10m").under(group));
  options.push_back(flag_option("null", words.null_separated,
                                "inputs on standard input end with NUL, as from 'find -print0'")
                        .with_letter("0")
                        .under(group));
}

NamedJob read_job_words(const JobWords& words, const Console& console) try {
  const bool has_work = !words.commands.empty() || !words.resources.empty() || !words.output.empty() ||
                        !words.name.empty() || words.timeout_s || words.null_separated;
  if (words.words.size() > 1) {
    const bool looks_typed = is_command(words.words.front(), !words.marker.empty());
    usage("did not expect " + in_quotes(words.words[1]) + "." +
          (looks_typed || words.words[1].find('{') != std::string::npos
               ? std::string(" A command is one argument, in quotes, as in ") + kOneLiner + "."
               : ""));
  }
  if (words.words.empty() && words.commands.empty()) {
    usage(has_work || !words.marker.empty()
              ? std::string("needs a command, as in ") + kOneLiner + "."
              : std::string("needs a job file, or a command and its inputs, as in ") + kOneLiner + ".");
  }
  const bool by_command = words.words.empty() || is_command(words.words.front(), !words.marker.empty());
  if (!words.words.empty() && by_command && !words.commands.empty())
    usage("did not expect " + in_quotes(words.words.front()) + ": '--command' says what to run.");
  NamedJob named;
  if (by_command) {
    named = make_named(words, console);
  } else {
    const std::string& file = words.words.front();
    if (has_work || !words.marker.empty()) {
      usage(in_quotes(file) + " is a job file, which says what to run where; " +
            (words.marker.empty() ? "'--command' and similar options are" : in_quotes(words.marker) + " is") +
            " for work without one.");
    }
    named = {value_or_fail(read_job(file), console), true, file + ".journal"};
  }
  apply_jobs(words, named.job);
  return named;
} catch (const OptionError& error) {  // an invalid number
  usage(std::string(error.what()) + ".");
}

}  // namespace allot::app
