// Everything that a person or a program can ask: each question is one file in ask/questions. Commands, Python
// functions and calls of the page take their options from it and pass on its answer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allot/ask/option.hpp"
#include "allot/base/stop.hpp"
#include "allot/model/scenario.hpp"
#include "allot/solve/options.hpp"

namespace allot {

/// The caller that waits for the answer. Every member is optional.
struct Attendance {
  const StopFlag* flag = nullptr;  ///< when set, the best result so far is the answer
  double used_s = 0;               ///< part of the time limit used before the question was asked
  /// Called from the working threads, one at a time. The question defines what each means.
  std::function<void(const SolveProgress&)> proof;
  std::function<void(double)> share;  ///< share of the work that is done, 0 to 1
  std::function<void(std::uint64_t)> states;

  /// The limits of an answer that starts now.
  StopLimits limits(const std::optional<double>& time_limit_s) const;
};

/// A question to be answered: `options` stores what is asked, `answer` fills in the rest. For one thread, and
/// one answer.
class Question {
 public:
  virtual ~Question() = default;

  /// The subject of the question; null if it needs none. Set it before `answer`.
  std::shared_ptr<const Scenario> scenario;
  virtual bool needs_scenario() const noexcept { return true; }

  /// Bound to this question: valid during its life.
  virtual std::vector<Option> options() = 0;
  /// Throws InvalidModel for an invalid question: the field is the name of an option, or a path in the
  /// scenario.
  virtual void answer(const Attendance& attendance) = 0;
  /// The answer as one JSON document, as described in docs/reference/command.md.
  virtual std::string json() const = 0;
  /// The answer for people, if a command has no output of its own.
  virtual std::string text() const { return json(); }
};

/// The kind of progress that is reported.
enum class ProgressKind { kNone, kProof, kShare, kStates };

struct QuestionInfo {
  std::string_view name;
  std::string_view summary;  ///< one line
  std::string_view example;  ///< command lines
  std::unique_ptr<Question> (*make)();
  ProgressKind progress = ProgressKind::kNone;
  /// Python's class for the answer; empty: a dict with the content of the JSON.
  std::string_view python_class = {};
  /// Docstring of the Python function: details beyond the summary and the options, and an example.
  std::string_view python_doc = {};
  std::string_view python_name = {};  ///< if the usual name is a keyword of the language
};

/// All questions, in the order of the source list in CMakeLists.txt.
std::span<const QuestionInfo* const> all_questions() noexcept;
/// Null if there is no question of that name.
const QuestionInfo* find_question(std::string_view name) noexcept;

/// For tables: creates a question of a class.
template <typename Class>
std::unique_ptr<Question> make_question() {
  return std::make_unique<Class>();
}

}  // namespace allot
