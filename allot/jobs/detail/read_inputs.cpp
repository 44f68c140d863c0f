#include "allot/jobs/detail/read_inputs.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <utility>

#include "allot/base/memory.hpp"
#include "allot/base/quote.hpp"

namespace allot::detail {
namespace {

constexpr std::size_t kLongestMessage = 1000;
constexpr double kBytesPerTask = 300;  // approximate size of a task without an input

constexpr std::array<std::string_view, 3> kSources = {"inputs", "inputs_from", "repeat"};
constexpr const char* kOneOnly = "takes only one of 'inputs', 'inputs_from', 'repeat' and 'from'";

}  // namespace

std::string line(const std::string& message) { return quote::terminal(message, kLongestMessage); }

bool has_zero(const Node& node, std::string_view text, const std::string& what, Problems& problems) {
  if (text.find('\0') == std::string_view::npos) return false;
  problems.add(node, what + " cannot hold a zero byte");
  return true;
}

std::optional<std::vector<std::string>> read_words(const Node& node, const std::string& what,
                                                   Problems& problems) {
  const auto* array = node.get<Node::Array>();
  if (!array) {
    problems.add(node,
                 what + " must be a string or an array of strings, is " + problems.document().describe(node));
    return std::nullopt;
  }
  std::vector<std::string> words;
  bool is_sound = true;
  for (const Node& element : *array) {
    const auto word = read_text(element, "each part of " + what, problems);
    is_sound = is_sound && word && !has_zero(element, *word, "each part of " + what, problems);
    words.push_back(word.value_or(""));
  }
  return is_sound ? std::optional(words) : std::nullopt;
}

bool InputReader::is_from(const TableReader& table) const {
  if (table.find("from") == nullptr) return false;
  if (std::any_of(kSources.begin(), kSources.end(), [&](auto key) { return table.find(key) != nullptr; }))
    problems.add(table.node(), kOneOnly);
  return true;
}

void InputReader::count(const Node& from, std::size_t rows) {
  if (rows > most) problems.add(from, "'from': gives more than " + std::to_string(most) + " tasks");
  most -= std::min(most, rows);
}

bool InputReader::read(const TableReader& table, InputTable& inputs) {
  if (given != nullptr) {
    inputs = *given;
    return true;
  }
  const Node* source = nullptr;
  std::size_t which = 0;
  int found_sources = 0;
  for (std::size_t at = 0; at < kSources.size(); ++at) {
    if (const Node* const node = table.find(kSources[at])) {
      source = node;
      which = at;
      ++found_sources;
    }
  }
  if (found_sources != 1) {
    if (table.is_table()) {
      problems.add(table.node(), found_sources == 0
                                     ? "needs 'inputs', 'inputs_from', 'repeat' or 'from': what its tasks are"
                                     : kOneOnly);
    }
    // A list among the sources may have other columns; then the first problem is enough.
    return found_sources == 0;
  }
  std::vector<InputProblem> found;
  std::string file;
  if (which == 0) {
    std::vector<std::string> entries;
    if (const auto* text = source->get<std::string>()) {
      entries = {*text};
    } else if (const auto words = read_words(*source, "'inputs'", problems)) {
      entries = *words;
      if (entries.empty()) problems.add(*source, "'inputs' must not be empty");
    }
    inputs = inputs_from_patterns(entries, folder, most, found);
  } else if (which == 1) {
    const auto path = table.text("inputs_from");
    if (!path) return false;
    if (path->empty() || has_zero(*source, *path, "'inputs_from'", problems)) {
      if (path->empty()) problems.add(*source, "'inputs_from' must be the path of a list or a .csv file");
      return false;
    }
    if (*path == "-") return read_standard_input(*source, inputs);
    file =
        path->starts_with('/') || folder.empty() ? *path : (std::filesystem::path(folder) / *path).string();
    inputs = inputs_from_file(file, most, found);
  } else if (const auto count = table.whole("repeat", 1, static_cast<Count>(kMostInputs))) {
    if (static_cast<std::size_t>(*count) > most) {
      found.push_back({0, "gives more than " + std::to_string(most) + " tasks"});
    } else if (const double bytes = kBytesPerTask * static_cast<double>(*count);
               bytes > static_cast<double>(memory_available())) {
      found.push_back({0, "gives tasks that would take about " + memory_text(bytes) + " of memory; " +
                              memory_text(static_cast<double>(memory_available())) + " are available"});
    } else {
      inputs = inputs_by_counting(static_cast<std::size_t>(*count));
    }
  }
  for (const InputProblem& problem : found) {
    if (file.empty()) {
      problems.add(*source, line(std::string(quote::name(kSources[which])) + ": " + problem.message));
    } else if (problem.line == 0) {
      problems.add(*source, line("'inputs_from': " + file + " " + problem.message));
    } else {
      elsewhere.push_back({quote::terminal(file, kLongestMessage) + ":" + std::to_string(problem.line),
                           line(problem.message)});
    }
  }
  most -= std::min(most, inputs.rows());
  return which != 1 || found.empty();
}

bool InputReader::read_standard_input(const Node& node, InputTable& inputs) {
  if (!std::exchange(reads_input, false)) {
    problems.add(node, "'inputs_from': standard input is read already, or cannot be read here");
    return true;
  }
  std::vector<InputProblem> found;
  inputs = inputs_from_stream(std::cin, false, most, found);
  for (const InputProblem& problem : found) {
    elsewhere.push_back({"standard input" + (problem.line == 0 ? "" : ":" + std::to_string(problem.line)),
                         line(problem.message)});
  }
  most -= std::min(most, inputs.rows());
  return true;
}

}  // namespace allot::detail
