#include "allot/jobs/detail/read_stages.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "allot/base/quote.hpp"
#include "allot/jobs/detail/read_inputs.hpp"
#include "allot/jobs/stages.hpp"

namespace allot::detail {
namespace {

constexpr std::size_t kMostCircles = 20;

class StageReader {
 public:
  StageReader(std::span<const TableReader> tables, const format::Names& names, Job& job, Problems& problems)
      : tables_(tables), names_(names), job_(job), problems_(problems) {}

  void read() {
    for (std::size_t i = 0; i < tables_.size(); ++i) {
      const TableReader& table = tables_[i];
      JobTask& task = job_.tasks[i];
      if (const auto name = table.text("from")) {
        if (const auto at = format::resolve(names_, *name, *table.find("from"), problems_))
          task.from = task_type(*at);
      }
      if (const Node* const node = table.find("after")) read_after(*node, task);
      task.at_most = table.whole("at_most", 1, kMaxCount);
      task.keep = table.flag("keep").value_or(true);
    }
    refuse_circles();
    refuse_waiting_for_ever();
  }

 private:
  void read_after(const Node& node, JobTask& task) {
    std::vector<std::string> names;
    if (const auto* text = node.get<std::string>()) {
      names = {*text};
    } else if (const auto words = read_words(node, "'after'", problems_)) {
      names = *words;
    }
    for (const std::string& name : names) {
      const auto at = format::resolve(names_, name, node, problems_);
      const auto known = [&](TaskType type) { return index(type) == *at; };
      if (at && std::none_of(task.after.begin(), task.after.end(), known))
        task.after.push_back(task_type(*at));
    }
  }

  const Node& node(std::size_t type, std::string_view key) const {
    const Node* const found = tables_[type].find(key);
    return found != nullptr ? *found : tables_[type].node();
  }

  /// `'a' waits for 'b' waits for 'a'`
  std::string told(std::size_t first, const std::vector<TaskType>& steps) const {
    std::string text = quote::name(names_.order[first]);
    for (const TaskType step : steps) text += " waits for " + quote::name(names_.order[index(step)]);
    return text;
  }

  /// Reports each cycle once, at its first type in the file. Types that wait for one are left out, too.
  void refuse_circles() {
    std::vector<bool> is_left(job_.tasks.size(), true);
    const std::vector<TaskType> order = stage_order(job_);
    for (const TaskType type : order) is_left[index(type)] = false;
    if (order.size() == is_left.size()) return;
    std::vector<bool> told_of(is_left.size(), false);
    std::size_t told_times = 0;
    for (std::size_t i = 0; i < is_left.size() && told_times < kMostCircles; ++i) {
      if (!is_left[i] || told_of[i]) continue;
      std::vector<TaskType> next = job_.tasks[i].after;
      if (job_.tasks[i].from) next.push_back(*job_.tasks[i].from);
      std::vector<TaskType> circle;
      for (const TaskType type : next) {
        const std::vector<TaskType> steps = way_of_waiting(job_, type, task_type(i), false);
        if (!steps.empty() && (circle.empty() || steps.size() < circle.size())) circle = steps;
      }
      if (circle.empty()) continue;
      ++told_times;
      for (const TaskType step : circle) told_of[index(step)] = true;
      problems_.add(node(i, job_.tasks[i].from ? "from" : "after"),
                    line("these tasks could never start: " + told(i, circle)));
    }
    for (std::size_t i = 0; i < is_left.size(); ++i) {
      if (!is_left[i]) continue;
      job_.tasks[i].from.reset();
      job_.tasks[i].after.clear();
    }
  }

  /// A type that may be ahead by only a limited number of outputs never ends if a type that takes them waits
  /// for its end.
  void refuse_waiting_for_ever() {
    if (std::none_of(job_.tasks.begin(), job_.tasks.end(), [](const JobTask& task) { return task.at_most; }))
      return;
    for (std::size_t i = 0; i < job_.tasks.size(); ++i) {
      for (const TaskType before : job_.tasks[i].after) {
        const std::vector<TaskType> circle = way_of_waiting(job_, before, task_type(i), true);
        if (circle.empty()) continue;
        problems_.add(node(i, "after"), line("with 'at_most' this would wait for ever: " + told(i, circle)));
      }
    }
  }

  std::span<const TableReader> tables_;
  const format::Names& names_;
  Job& job_;
  Problems& problems_;
};

}  // namespace

std::vector<TaskType> read_stages(std::span<const TableReader> tables, const format::Names& names, Job& job,
                                  Problems& problems) {
  StageReader(tables, names, job, problems).read();
  return stage_order(job);
}

void check_stages(std::span<const TableReader> tables, const Job& job, Problems& problems) {
  // As written in the file, even if it was refused.
  std::set<std::string_view> taken;
  for (const TableReader& table : tables) {
    const Node* const from = table.find("from");
    if (const auto* name = from ? from->get<std::string>() : nullptr) taken.insert(*name);
  }
  for (std::size_t i = 0; i < tables.size(); ++i) {
    for (const std::string_view key : {"at_most", "keep"}) {
      const bool is_asked = key == "at_most" ? job.tasks[i].at_most.has_value() : !job.tasks[i].keep;
      const Node* const node = tables[i].find(key);
      if (!is_asked || node == nullptr || taken.contains(job.tasks[i].name)) continue;
      problems.add(*node,
                   quote::name(key) +
                       ": no other task type has a 'from' that names this one, so nothing uses its outputs");
    }
    if (!job.tasks[i].from || tables[index(*job.tasks[i].from)].find("output") != nullptr) continue;
    problems.add(
        *tables[i].find("from"),
        "'from': " + quote::name(job.tasks[index(*job.tasks[i].from)].name) + " has no 'output' to use");
  }
}

}  // namespace allot::detail
