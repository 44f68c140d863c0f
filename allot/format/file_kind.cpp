#include "allot/format/file_kind.hpp"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace allot::format {
namespace {

bool has_any(const Node& node, std::initializer_list<std::string_view> keys) {
  return std::any_of(keys.begin(), keys.end(),
                     [&](std::string_view key) { return node.find(key) != nullptr; });
}

/// Whether an element of the array under this key has one of the keys.
bool some_have(const Node& root, std::string_view array, std::initializer_list<std::string_view> keys) {
  const Node* const node = root.find(array);
  const auto* elements = node ? node->get<Node::Array>() : nullptr;
  return elements && std::any_of(elements->begin(), elements->end(),
                                 [&](const Node& element) { return has_any(element, keys); });
}

/// By keys that no other kind has.
std::optional<FileKind> kind_of(const Node& root) {
  const bool runs = some_have(root, "tasks", {"command", "inputs", "inputs_from", "repeat"});
  const bool counts = has_any(root, {"threads", "population", "arrivals", "measured"}) ||
                      (some_have(root, "tasks", {"rates"}) && some_have(root, "tasks", {"count"}));
  if (runs) return FileKind::kJob;
  if (has_any(root, {"vary", "generate", "policies", "solvers"}) && !has_any(root, {"tasks", "resources"}))
    return FileKind::kSweep;
  if (counts) return FileKind::kScenario;
  return std::nullopt;
}

}  // namespace

std::string mistaken_for(FileKind wanted, const Node& root) {
  const std::optional<FileKind> kind = kind_of(root);
  if (!kind || *kind == wanted) return {};
  switch (*kind) {
    case FileKind::kScenario:
      return wanted == FileKind::kJob ? "is a scenario, for 'allot solve' and 'allot simulate'; a job file "
                                        "says what to run, with 'inputs' and "
                                        "'command' for each task"
                                      : "is a scenario, for 'allot solve' and 'allot simulate'; a sweep "
                                        "names one under 'scenario' and varies it";
    case FileKind::kJob:
      return "is a job file, for 'allot run' and 'allot profile'; 'allot profile' turns it into a scenario, "
             "with rates as "
             "measured";
    case FileKind::kSweep:
      return "is a sweep, for 'allot sweep'";
  }
  return {};
}

}  // namespace allot::format
