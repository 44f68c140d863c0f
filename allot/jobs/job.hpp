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
  std::vector<std::string> launch;                    ///< what starts a worker there; empty: this machine
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
  std::optional<Template> output;                        ///< where the task's file is put when it succeeded
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
  std::string path;    ///< of the file, as it was given
  std::string folder;  ///< of the file: inputs, outputs and directories are relative to it; "." at least
  std::string name;
  /// Outputs may also be outside the folder.
  bool outputs_anywhere = false;
  /// The journal has the values of `env` as they are; otherwise only digests of them, since they may be
  /// secrets.
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

/// The capacities of a job as a System has them: one of each for all, or for every machine. `needs` names a
/// capacity by its place in the file; the needs of the system are for those of the machine where a task runs.
struct JobNeeds {
  std::vector<Capacity> capacities;
  std::vector<std::vector<Need>> needs;  ///< by task type
  bool any = false;                      ///< some task takes more, or less, than a slot of its resource
};
JobNeeds needs_of(const Job& job);

/// One task of a job.
struct JobItem {
  TaskType type{};
  std::size_t row = 0;   ///< of the type's inputs
  std::string identity;  ///< its text: see identity.hpp
};

/// All tasks, type after type, each in the order of its inputs: item k is what `{#}` calls k + 1.
std::vector<JobItem> list_items(const Job& job);

/// What a task type does, in parts that are compared when a run is resumed.
struct WorkDefinition {
  std::string type;
  std::string part;      ///< "command" with a resource, "output", "directory", "from", "env" or "env values"
  std::string resource;  ///< of a command; empty otherwise
  std::string text;
  std::string formerly = {};  ///< the same as a journal of version 0.1 has it; empty: as `text`
  friend bool operator==(const WorkDefinition&, const WorkDefinition&) = default;
};
std::vector<WorkDefinition> definitions(const Job& job);

}  // namespace allot
