// The library as questions and answers in text: the web page's questions, in the terms of the command and its
// JSON.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace allot::wasm {

/// A question, like `allot COMMAND FILE OPTIONS --json`.
struct Call {
  /// The name of a question (allot/ask), with the options and the answer of the command of that name. Or one
  /// of these: `read` converts a scenario to both formats; `evaluate` rates a given assignment as `solve`
  /// does its own; `flows` gives the completions X_ij of an assignment or of time shares; `fairness` gives
  /// the value of plans against the completions of the least-served type, and `least` the latter for given
  /// completions; `replay` gives the events of a short simulation.
  std::string_view command;
  std::string_view scenario;             ///< the text of a scenario file
  bool is_json = true;                   ///< its format; otherwise it is TOML
  std::string_view options = "{}";       ///< a JSON object: {"time_limit": 2, "policies": ["map", "jsq"]}
  std::function<void(double)> progress;  ///< receives the share of the work that is done, from simulations
};

/// One JSON document: the answer, or {"diagnostics": [{"place", "message"}, ...]} with all problems of the
/// scenario or the options. Never throws because of the content of a question. Thread-safe.
std::string answer(const Call& call);

}  // namespace allot::wasm
