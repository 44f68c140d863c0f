#include "allot/worker/detail/process_table.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "allot/base/numbers.hpp"
#include "allot/worker/detail/descriptor.hpp"

namespace allot::detail {
namespace {

std::string read_all(const char* path) {
  const Descriptor file(::open(path, O_RDONLY | O_CLOEXEC));
  std::string text;
  std::array<char, 4096> part;
  for (;;) {
    const ssize_t size = file ? ::read(file.get(), part.data(), part.size()) : 0;
    if (size <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(size));
  }
}

/// Takes the next word from the front of `text`.
std::string_view next_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \n"), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(" \n"));
  text.remove_prefix(word.size());
  return word;
}

std::optional<ProcessEntry> read_entry(pid_t process) {
  const std::string stat = read_all(("/proc/" + std::to_string(process) + "/stat").c_str());
  // pid (name) state ppid pgrp session ...: the name may contain anything, so search for its end from the
  // back.
  const std::size_t end = stat.rfind(')');
  if (end == std::string::npos) return std::nullopt;
  std::string_view rest = std::string_view(stat).substr(end + 1);
  const std::string_view state = next_word(rest);
  const auto parent = number_in<pid_t>(next_word(rest));
  const auto group = number_in<pid_t>(next_word(rest));
  const auto session = number_in<pid_t>(next_word(rest));
  if (!parent || !group || !session) return std::nullopt;
  return ProcessEntry{process, *parent, *group, *session, state == "Z" || state == "X"};
}

}  // namespace

std::vector<ProcessEntry> process_table() {
  std::vector<ProcessEntry> table;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), ::closedir);
  if (!folder) return table;
  while (const dirent* const entry = ::readdir(folder.get())) {
    const auto process = number_in<pid_t>(entry->d_name);
    if (!process) continue;
    if (const auto found = read_entry(*process)) table.push_back(*found);
  }
  return table;
}

std::vector<ProcessEntry> with_descendants(const std::vector<ProcessEntry>& table,
                                           std::span<const pid_t> roots) {
  std::unordered_multimap<pid_t, const ProcessEntry*> children;
  std::vector<ProcessEntry> found;
  std::unordered_set<pid_t> seen(roots.begin(), roots.end());
  for (const ProcessEntry& entry : table) {
    children.emplace(entry.parent, &entry);
    if (seen.contains(entry.process)) found.push_back(entry);
  }
  for (std::size_t at = 0; at < found.size(); ++at) {
    const auto [first, last] = children.equal_range(found[at].process);
    for (auto child = first; child != last; ++child) {
      if (seen.insert(child->second->process).second) found.push_back(*child->second);
    }
  }
  return found;
}

std::vector<pid_t> own_children() {
  const std::string self = std::to_string(::getpid());
  const std::string text = read_all(("/proc/self/task/" + self + "/children").c_str());
  std::vector<pid_t> children;
  std::string_view rest = text;
  for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest)) {
    if (const auto child = number_in<pid_t>(word)) children.push_back(*child);
  }
  return children;
}

std::string environment_of(pid_t process, const std::string& name) {
  const std::string all = read_all(("/proc/" + std::to_string(process) + "/environ").c_str());
  const std::string wanted = name + "=";
  for (std::size_t from = 0; from < all.size();) {
    const std::size_t to = std::min(all.find('\0', from), all.size());
    const std::string_view variable = std::string_view(all).substr(from, to - from);
    if (variable.starts_with(wanted)) return std::string(variable.substr(wanted.size()));
    from = to + 1;
  }
  return {};
}

}  // namespace allot::detail
