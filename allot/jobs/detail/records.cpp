#include "allot/jobs/detail/records.hpp"

#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace allot::detail {

std::int64_t seal(std::string_view task, std::string_view type, std::int64_t final_sequence,
                  std::string_view status) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  const auto add = [&](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    hash = (hash ^ 0xffU) * 0x100000001b3ULL;  // not a byte of UTF-8: separates the texts
  };
  add(task);
  add(type);
  add(std::to_string(final_sequence));
  add(status);
  return static_cast<std::int64_t>(hash);
}

std::unordered_map<std::string, KnownTask> load_tasks(const Database& database) {
  std::unordered_map<std::string, KnownTask> known;
  std::unordered_map<std::int64_t, std::string> names;
  Statement rows(database,
                 "SELECT t.id, t.task, t.type, t.final, t.seal, a.status, a.task FROM tasks t LEFT JOIN "
                 "attempts a ON a.sequence = t.final");
  while (rows.step()) {
    KnownTask task;
    task.id = rows.whole(0);
    task.type = rows.text(2);
    const std::string name = rows.text(1);
    const std::string status = rows.text(5);
    if (rows.whole(4) != seal(name, task.type, rows.whole(3), status))
      database.corrupt("the record of task " + name);
    if (!rows.is_null(3)) {
      if (status.empty() || status == "started" || rows.whole(6) != task.id)
        database.corrupt("the final record of task " + name);
      task.state.kind = status == "ok" ? TaskState::Kind::kDone : TaskState::Kind::kFailed;
    }
    names.emplace(task.id, name);
    known.emplace(name, std::move(task));
  }
  Statement counts(
      database,
      "SELECT task, max(attempt), sum(status IN ('failed', 'timeout') AND NOT forgiven), "
      "sum(status IN ('lost', 'started') AND NOT forgiven), sum(status = 'started'), "
      "max(iif(attempt > 0, start_unix, 0)), max(iif(attempt > 0, run, 0)) FROM attempts GROUP BY "
      "task");
  while (counts.step()) {
    const auto name = names.find(counts.whole(0));
    if (name == names.end()) database.corrupt("an attempt at no task");
    KnownTask& task = known.at(name->second);
    task.state.attempts = static_cast<int>(counts.whole(1));
    task.state.failures = static_cast<int>(counts.whole(2));
    task.state.lost = static_cast<int>(counts.whole(3));
    task.is_open_attempt = counts.whole(4) > 0;
    task.last_start_unix = counts.real(5);
    task.last_run = counts.whole(6);
  }
  return known;
}

std::string changed_work(const Database& database, std::span<const WorkDefinition> work) {
  std::set<std::string> begun;
  Statement types(database,
                  "SELECT DISTINCT t.type FROM attempts a JOIN tasks t ON t.id = a.task WHERE a.attempt > 0");
  while (types.step()) begun.insert(types.text(0));
  std::map<std::tuple<std::string, std::string, std::string>, std::string> before;
  Statement rows(database, "SELECT type, part, resource, text FROM definitions");
  while (rows.step()) before[{rows.text(0), rows.text(1), rows.text(2)}] = rows.text(3);

  std::string changes;
  for (const WorkDefinition& now : work) {
    const auto it = before.find({now.type, now.part, now.resource});
    if (it == before.end() || it->second == now.text || !begun.contains(now.type)) continue;
    if (!now.formerly.empty() && it->second == now.formerly) continue;
    changes += "\n  " + now.type + ", " + now.part + (now.resource.empty() ? "" : " on " + now.resource) +
               "\n    was: " + (it->second.empty() ? "(none)" : it->second) +
               "\n    is:  " + (now.text.empty() ? "(none)" : now.text);
  }
  return changes;
}

}  // namespace allot::detail
