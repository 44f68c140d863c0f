// The content of a job file: resources, and the tasks to run on them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "allot/base/ids.hpp"
#include "allot/jobs/command.hpp"
#include "allot/jobs/inputs.hpp"
#include "allot/jobs/template.hpp"
#include "allot/model/system.hpp"

namespace allot {

/// A resource of the model, and how to reach it. `servers` is the number of its slots.
struct JobResource : Resource {
  std::vector<std::pair<std::string, Template>> env;  ///< added to the environment of its tasks
  std::vector<std::string> launch;                    ///< command prefix that starts a worker there; empty:
                                                      ///< this machine
};

/// Something that tasks use besides slots.
struct JobCapacity : Capacity {
  enum class Per {
    kAll,      ///< the amount is for all tasks, wherever they run
    kMachine,  ///< this machine has the amount, and so has each resource behind a `launch` prefix
  };
  Per per = Per::kAll;
};

/// A task type: one task per input, and a command for each resource that can run it. `count` is the maximum
/// number in flight; 0: enough to keep every slot busy.
struct JobTask : TaskClass {
  InputTable inputs;                                     ///< at least one row
  std::vector<std::optional<CommandTemplate>> commands;  ///< by resource; at least one
  std::optional<Template> output;                        ///< path of the task's file after success
  std::vector<std::pair<std::string, Template>> env;     ///< added after the resource's
  std::string directory;  ///< working directory, relative to Job::folder; empty: that folder itself
  std::optional<double> timeout_s;
  std::optional<int> retries;                ///< absent: the run's default
  std::vector<std::optional<double>> rates;  ///< by resource: tasks per second, as known beforehand
  std::optional<TaskType> from;  ///< one task for each of that type, whose output it uses: see stages.hpp
  std::vector<TaskType> after;   ///< none of its tasks starts before all tasks of these types have succeeded
  std::optional<Count> at_most;  ///< maximum outputs that are being made, waiting, or in use
  bool keep = true;              ///< false: an output is removed when all tasks that use it are done
};

/// A job file that has been read and validated.
struct Job {
  std::string path;    ///< of the file, as given
  std::string folder;  ///< of the file, at least "."; inputs, outputs and directories are relative to it
  std::string name;
  /// Outputs may also be outside the folder.
  bool outputs_anywhere = false;
  /// The journal contains the values of `env`; otherwise only digests of them, because they may be secrets.
  bool record_env = false;
  std::vector<JobResource> resources;  ///< at least one
  std::vector<JobTask> tasks;          ///< at least one
  std::vector<JobCapacity> capacities;

  std::size_t task_count() const noexcept {
    std::size_t count = 0;
    for (const JobTask& task : tasks) count += task.inputs.rows();
    return count;
  }
};

/// The capacities of a job for a System: one of each for all machines, or one per machine. In a job, `needs`
/// names a capacity by its position in the file; in the system, needs refer to the capacity of the machine
/// where the task runs.
struct JobNeeds {
  std::vector<Capacity> capacities;
  std::vector<std::vector<Need>> needs;  ///< by task type
  bool any = false;                      ///< some task needs more, or less, than one slot of its resource
};
JobNeeds needs_of(const Job& job);

/// One task of a job.
struct JobItem {
  TaskType type{};
  std::size_t row = 0;   ///< of the type's inputs
  std::string identity;  ///< as text: see identity.hpp
};

/// All tasks, type by type, each type in the order of its inputs: item k is `{#}` = k + 1.
std::vector<JobItem> list_items(const Job& job);

/// The definition of a task type, in parts that are compared when a run is resumed.
struct WorkDefinition {
  std::string type;
  std::string part;      ///< "command" with a resource, "output", "directory", "from", "env" or "env values"
  std::string resource;  ///< of a command; empty otherwise
  std::string text;
  std::string formerly = {};  ///< the text in journals of version 0.1; empty: same as `text`
  friend bool operator==(const WorkDefinition&, const WorkDefinition&) = default;
};
std::vector<WorkDefinition> definitions(const Job& job);

}  // namespace allot
