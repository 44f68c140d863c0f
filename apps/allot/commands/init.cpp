// allot init: a first scenario or job file for this machine.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "allot/base/memory.hpp"
#include "allot/base/quote.hpp"
#include "allot/format/json.hpp"
#include "apps/allot/command.hpp"
#include "apps/allot/installed.hpp"
#include "apps/allot/machine.hpp"
#include "apps/allot/options.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app::init_command {
namespace {

struct Arguments {
  std::string file;
  std::string root;
  bool is_job = false;
  bool json = false;
};

std::string gpu_remark(const GpuKind& gpu) {
  return gpu.model + (gpu.memory > 0 ? ", " + memory_text(static_cast<double>(gpu.memory)) +
                                           (gpu.count > 1 ? " each" : "")
                                     : "");
}

/// "line   # remark"
std::string remarked(std::string line, const std::string& remark) {
  line.resize(std::max<std::size_t>(line.size() + 1, 34), ' ');
  return line + "# " + remark + "\n";
}

/// The environment with which a task sees only the cards of its slots.
std::string gpu_env(const GpuKind& gpu, const Machine& machine) {
  const auto is_other = [&](const GpuKind& other) {
    return other.visible_by == gpu.visible_by && other.first != gpu.first;
  };
  const bool is_alone = std::none_of(machine.gpus.begin(), machine.gpus.end(), is_other);
  std::string text = "env = { " + gpu.visible_by + " = \"" +
                     (gpu.first == 0 && gpu.count > 1 ? "{%%}" : std::to_string(gpu.first)) + "\"";
  // By default CUDA counts the fastest card first.
  if (!is_alone && gpu.visible_by.starts_with("CUDA")) text += ", CUDA_DEVICE_ORDER = \"PCI_BUS_ID\"";
  return text + " }\n";
}

std::string resources_of(const Machine& machine, bool is_job) {
  std::string text;
  for (const CoreKind& kind : machine.cores) {
    text += "\n[[resources]]\nname = \"" + kind.name + "\"\n";
    text += remarked("servers = " + std::to_string(kind.cores), "cores; hardware threads " + kind.threads);
    if (is_job && machine.cores.size() > 1)
      text += "# 'taskset', '-c', '" + kind.threads + "' before a command keeps it on these.\n";
  }
  for (const GpuKind& gpu : machine.gpus) {
    text += "\n[[resources]]\nname = \"" + gpu.name + "\"\n";
    text += remarked("servers = " + std::to_string(gpu.count), gpu_remark(gpu));
    if (is_job) {
      if (!gpu.visible_by.empty()) text += gpu_env(gpu, machine);
      text += "# Tasks that need half of a card, such as half of its memory: 'needs = { " + gpu.name +
              " = { " + gpu.name + " = 0.5 } }'.\n";
    } else {
      text += remarked("discipline = \"fcfs\"", "a card runs one task after another; 'ps': all at once");
    }
  }
  if (machine.memory > 0) {
    text += "\n# Memory that tasks can hold by naming it in their needs; remove the # to use it.\n";
    text += "# [[capacities]]\n# name = \"memory\"\n" +
            remarked("# amount = " + std::to_string(machine.memory >> 30), "GiB");
  }
  for (const Partition& partition : machine.partitions) {
    text += "\n# A partition of Slurm" + (partition.gres.empty() ? "" : ", with " + partition.gres) +
            "; remove the # to use it.\n";
    text += "# [[resources]]\n# name = \"slurm-" + partition.name + "\"\n" +
            remarked("# servers = " + std::to_string(partition.nodes), "nodes");
    if (is_job)
      text +=
          "# launch = [\"srun\", \"--partition=" + partition.name + "\", \"--nodes=1\", \"--ntasks=1\"]\n";
  }
  return text;
}

/// `{ cpu = 1.0, gpu = 10.0 }`, with `value` for each kind.
template <typename Value>
std::string by_resource(const Machine& machine, const Value& value) {
  std::string text;
  const auto add = [&](const std::string& name, std::size_t rank, bool is_gpu) {
    text += (text.empty() ? "{ " : ", ") + name + " = " + value(rank, is_gpu);
  };
  for (std::size_t k = 0; k < machine.cores.size(); ++k) add(machine.cores[k].name, k, false);
  for (std::size_t k = 0; k < machine.gpus.size(); ++k) add(machine.gpus[k].name, k, true);
  return text + " }";
}

std::string scenario_text(const Machine& machine) {
  Count threads = 0;
  for (const CoreKind& kind : machine.cores) threads += kind.cores;
  for (const GpuKind& gpu : machine.gpus) threads += gpu.count;
  const std::string rates = by_resource(machine, [](std::size_t rank, bool is_gpu) {
    return is_gpu ? quote::number(10) : quote::number(1 / static_cast<double>(rank + 1));
  });
  std::string text =
      "\n# The work, one block per task type. These are examples: replace them with yours. 'allot "
      "profile'\n"
      "# measures rates of real commands ('allot init --jobs'), 'allot help scenario' lists all keys.\n";
  text += "\n[[tasks]]\nname = \"first\"\n" +
          remarked("count = " + std::to_string(threads), "tasks of this type always in flight");
  text += remarked("rates = " + rates, "tasks per second of one server");
  text += "\n[[tasks]]\nname = \"second\"\ncount = " + std::to_string(threads) + "\n";
  text += "rates = { " + machine.cores.front().name + " = 2.0 }\n";
  return text;
}

std::string job_text(const Machine& machine) {
  const std::string commands = by_resource(machine, [](std::size_t, bool is_gpu) {
    return std::string(is_gpu ? "[\"sleep\", \"0.02\"]" : "[\"sleep\", \"0.1\"]");
  });
  std::string text =
      "\n# The work, a block for each type of task. These are examples: replace the commands with yours.\n"
      "# 'allot help jobs' lists all keys and placeholders.\n";
  text += "\n[[tasks]]\nname = \"first\"\n" +
          remarked("repeat = 20", "or inputs = \"images/*.jpg\"; {} is one of them");
  text += "command = " + commands + "\n";
  text += "\n[[tasks]]\nname = \"second\"\nrepeat = 20\ncommand = { " + machine.cores.front().name +
          " = [\"sleep\", \"0.05\"] }\n";
  return text;
}

std::string file_text(const Machine& machine, bool is_job) {
  std::string text = "#:schema " + schema_of(is_job ? "jobs" : "scenario") + "\n";
  text += is_job ? "# Work for this machine: 'allot run' runs it, 'allot profile' measures its rates.\n"
                 : "# This machine as allot sees it: 'allot solve' says where tasks belong.\n";
  if (!machine.processor.empty()) text += "# " + machine.processor + "\n";
  text += resources_of(machine, is_job);
  return text + (is_job ? job_text(machine) : scenario_text(machine));
}

/// Never overwrites an existing file.
void write_new(const std::string& path, const std::string& text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0 && errno == EEXIST)
    throw Failure(Exit::kFailed,
                  in_quotes(path) + " exists already and is not overwritten; name another file, or '-'.");
  bool good = file >= 0;
  for (std::size_t done = 0; good && done < text.size();) {
    const ssize_t count = ::write(file, text.data() + done, text.size() - done);
    good = count >= 0 || errno == EINTR;
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  const int problem = errno;
  if (file >= 0) ::close(file);
  if (!good) throw Failure(Exit::kFailed, "cannot write " + in_quotes(path) + ": " + std::strerror(problem));
}

std::string found_json(const Machine& machine, const std::string& file) {
  Json document;
  document.add("file", file == "-" ? Json() : Json(file));
  document.add("processor", machine.processor.empty() ? Json() : Json(machine.processor));
  Json::Array cores;
  for (const CoreKind& kind : machine.cores) {
    cores.push_back(Json::object({{"name", kind.name}, {"cores", kind.cores}, {"threads", kind.threads}}));
  }
  document.add("cores", std::move(cores));
  Json::Array gpus;
  for (const GpuKind& gpu : machine.gpus) {
    gpus.push_back(Json::object({{"name", gpu.name},
                                 {"model", gpu.model},
                                 {"count", gpu.count},
                                 {"memory", gpu.memory > 0 ? Json(gpu.memory) : Json()}}));
  }
  document.add("gpus", std::move(gpus));
  document.add("memory", machine.memory > 0 ? Json(machine.memory) : Json());
  Json::Array partitions;
  for (const Partition& partition : machine.partitions) {
    partitions.push_back(Json::object({{"name", partition.name}, {"nodes", partition.nodes}}));
  }
  document.add("partitions", std::move(partitions));
  return document.text();
}

Exit run_init(const Arguments& arguments, Console& console) {
  const std::string path = !arguments.file.empty() ? arguments.file
                           : arguments.is_job      ? "jobs.toml"
                                                   : "scenario.toml";
  if (path.ends_with(".json"))
    throw Failure(Exit::kUsage, "FILE: 'init' writes TOML with comments; JSON has no comments.");
  if (path == "-" && arguments.json)
    throw Failure(Exit::kUsage, "'--json' and '-' both write to standard output");
  const Machine machine = look_at_machine(arguments.root);
  const std::string text = file_text(machine, arguments.is_job);
  if (path == "-") {
    console.document(text);
    return Exit::kOk;
  }
  write_new(path, text);
  if (arguments.json) {
    console.document(found_json(machine, path));
    return Exit::kOk;
  }
  std::vector<std::string> found;
  for (const CoreKind& kind : machine.cores)
    found.push_back(counted(kind.cores, "core") + (machine.cores.size() > 1 ? " (" + kind.name + ")" : ""));
  for (const GpuKind& gpu : machine.gpus) found.push_back(fmt::format("{} x {}", gpu.count, gpu_remark(gpu)));
  for (const Partition& partition : machine.partitions)
    found.push_back("Slurm's partition " + partition.name);
  for (const std::string& line : found) console.print("  {}\n", shown(line));
  console.print("{}: now describe your work in it, then run 'allot {} {}'.\n", shown(path),
                arguments.is_job ? "run" : "solve", shown(path));
  return Exit::kOk;
}

std::vector<Option> options_of(Arguments& arguments) {
  return {
      output_option("FILE", arguments.file, "the file to write, which must not exist; '-' is standard output")
          .unless_said("scenario.toml, or jobs.toml")
          .positional(),
      flag_option("jobs", arguments.is_job,
                  "write a job file, for 'run' and 'profile', instead of a scenario"),
      // For tests: a folder with another machine's /sys, /proc and /usr/bin.
      text_option("root", arguments.root, "").hidden(),
      flag_option("json", arguments.json, "print what was found as JSON; the file is still TOML")};
}

}  // namespace

extern const Command command;
const Command command{
    "init", "Write a first scenario or job file for this machine, with the cores and GPUs found.",
    "allot init                   # scenario.toml; edit it, then 'allot solve scenario.toml'\n"
    "allot init --jobs            # jobs.toml, for 'allot profile' and 'allot run'\n"
    "allot init - | less          # only show it",
    declared_by(options_of, run_init)};

}  // namespace allot::app::init_command
