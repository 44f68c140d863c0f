// Any text as a job file: diagnostics, or a job whose tasks can be told apart and run.
#include <algorithm>
#include <set>

#include "allot/jobs/job_reader.hpp"
#include "tests/fuzz/scenario_check.hpp"
#include "tests/support/identity.hpp"

namespace {

constexpr std::size_t kMostTasks = 200;

void check(const allot::Job& job) {
  using namespace allot;
  fuzz::expect(!job.resources.empty() && !job.tasks.empty(), "a job has resources and tasks");
  const std::vector<JobItem> items = list_items(job);
  fuzz::expect(items.size() == job.task_count() && items.size() <= kMostTasks,
               "a job has as many tasks as allowed");
  std::set<std::string> identities;
  for (std::size_t k = 0; k < items.size(); ++k) {
    const JobTask& task = job.tasks[index(items[k].type)];
    fuzz::expect(identities.insert(items[k].identity).second, "identities differ", items[k].identity);
    const auto identity = parse_identity(items[k].identity);
    fuzz::expect(identity && identity->type == task.name, "an identity can be read back", items[k].identity);
    const TemplateValues values{task.inputs.row(items[k].row), k + 1, 0, "out"};
    bool runs = false;
    for (const auto& command : task.commands) {
      if (!command) continue;
      runs = true;
      const std::vector<std::string> words = command->expand(values);
      fuzz::expect(!words.empty() && words.size() == command->words().size(), "as many words as templates");
      for (const std::string& word : words)
        fuzz::expect(word.find('\0') == std::string::npos, "a word can be passed to a program");
    }
    fuzz::expect(runs, "every task can run somewhere");
    for (const auto& [name, value] : task.env) value.expand(values);
  }
  definitions(job);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace allot;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // A folder that is not there: what files there are must not matter.
  const ReadResult<Job> job = read_job_text(text, FileFormat::kToml, "fuzz", "/nonexistent", kMostTasks);
  if (job) {
    check(*job);
  } else {
    fuzz::check_diagnostics(job.diagnostics());
  }
  return 0;
}
