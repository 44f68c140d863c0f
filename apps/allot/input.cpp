#include "apps/allot/input.hpp"

#include <algorithm>
#include <fstream>
#include <vector>

#include "allot/ask/option.hpp"
#include "allot/format/document.hpp"
#include "allot/format/scenario_reader.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app {

Option file_option(std::string& path) {
  return input_option("FILE", path, "a scenario, .toml or .json; '-' reads JSON from standard input")
      .positional()
      .required();
}

Scenario read_scenario_or_fail(const std::string& path, const Console& console) {
  Scenario scenario = value_or_fail(read_scenario(path), console);
  for (const std::string& note : notes(scenario)) console.note(note);
  return scenario;
}

namespace {

/// The names of the tables under a key.
std::vector<std::string> names_in_file(const std::string& path, std::string_view key) {
  std::vector<std::string> names;
  if (path == "-") return names;
  const ReadResult<Document> document = read_document(path);
  const Node* const tables = document ? document.value().root().find(key) : nullptr;
  const auto* const array = tables != nullptr ? tables->get<Node::Array>() : nullptr;
  if (array == nullptr) return names;
  for (const Node& table : *array) {
    const Node* const name = table.find("name");
    if (const auto* const text = name != nullptr ? name->get<std::string>() : nullptr) names.push_back(*text);
  }
  return names;
}

}  // namespace

std::vector<std::string> task_types_in(const std::string& path) { return names_in_file(path, "tasks"); }

std::vector<std::string> resources_in(const std::string& path) { return names_in_file(path, "resources"); }

std::string last_line(const std::string& path) {
  if (path.empty()) return "";
  std::ifstream file(path, std::ios::binary);
  file.seekg(0, std::ios::end);
  const auto size = static_cast<std::streamoff>(file.tellg());
  file.seekg(std::max<std::streamoff>(0, size - 2000));
  std::string line;
  std::string last;
  while (std::getline(file, line)) {
    if (!line.empty()) last = line;
  }
  return last;
}

void write_or_fail(const std::string& path, std::string_view text, Readers readers) {
  if (const std::error_code error = replace_file(path, text, readers))
    throw Failure(Exit::kFailed, "cannot write " + in_quotes(path) + ": " + error.message());
}

}  // namespace allot::app
