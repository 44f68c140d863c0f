// The library as questions and answers in text: what the web page asks, in the words of the command and its
// JSON.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace allot::wasm {

/// A question, as `allot COMMAND FILE OPTIONS --json` would be.
struct Call {
  /// The name of a question (allot/ask), with its options and its answer, as of the command of that name; or
  /// `read`: a scenario in both formats; `evaluate` rates a given assignment as `solve` does its own; `flows`
  /// gives the completions X_ij of an assignment or of time shares; `fairness` the value of plans against
  /// what the least-served type completes, `least` the latter for given completions; `replay` the events of a
  /// short simulation.
  std::string_view command;
  std::string_view scenario;             ///< the text of a scenario file
  bool is_json = true;                   ///< of that file; else it is TOML
  std::string_view options = "{}";       ///< a JSON object: {"time_limit": 2, "policies": ["map", "jsq"]}
  std::function<void(double)> progress;  ///< told the share of the work done, by simulations
};

/// One JSON document: the answer, or {"diagnostics": [{"place", "message"}, ...]} with everything that is
/// wrong with the scenario or the options. Never throws for what a question says. Thread-safe.
std::string answer(const Call& call);

}  // namespace allot::wasm
