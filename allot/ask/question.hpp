// Everything that a person or a program can ask: one question is one file in ask/questions. Commands, Python
// functions and the page's calls take their options from it and hand its answer on.
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

/// Who waits for the answer. All of it may be left out.
struct Attendance {
  const StopFlag* flag = nullptr;  ///< set: the best so far is the answer
  double used_s = 0;               ///< of the time limit, before the question was put
  /// Called from the threads that work, one at a time. What each means is said by the question.
  std::function<void(const SolveProgress&)> proof;
  std::function<void(double)> share;  ///< of the work done, 0 to 1
  std::function<void(std::uint64_t)> states;

  /// The limits of an answer that begins now.
  StopLimits limits(const std::optional<double>& time_limit_s) const;
};

/// A question that is being put: its options say where what is asked goes; `answer` fills in the rest. For
/// one thread, and one answer.
class Question {
 public:
  virtual ~Question() = default;

  /// What it is about; null where a question needs none. To be set before `answer`.
  std::shared_ptr<const Scenario> scenario;
  virtual bool needs_scenario() const noexcept { return true; }

  /// Bound to this question: valid as long as it is.
  virtual std::vector<Option> options() = 0;
  /// Throws InvalidModel where what is asked cannot be: its field is the name of an option, or a place in the
  /// scenario.
  virtual void answer(const Attendance& attendance) = 0;
  /// Of the answer: one document, as docs/reference/command.md describes it.
  virtual std::string json() const = 0;
  /// Of the answer, for people, where a command draws nothing of its own.
  virtual std::string text() const { return json(); }
};

/// How far the work has come, as those who wait are told.
enum class ProgressKind { kNone, kProof, kShare, kStates };

struct QuestionInfo {
  std::string_view name;
  std::string_view summary;  ///< one line
  std::string_view example;  ///< command lines
  std::unique_ptr<Question> (*make)();
  ProgressKind progress = ProgressKind::kNone;
  /// What Python calls the answer; empty: a dict of what the JSON holds.
  std::string_view python_class = {};
  /// Of Python's function: more than the summary and the options say, and an example.
  std::string_view python_doc = {};
  std::string_view python_name = {};  ///< where the language has taken the name
};

/// All questions, in the order of the source list in CMakeLists.txt.
std::span<const QuestionInfo* const> all_questions() noexcept;
/// Null when there is no question of that name.
const QuestionInfo* find_question(std::string_view name) noexcept;

/// For tables: makes a question of a class.
template <typename Class>
std::unique_ptr<Question> make_question() {
  return std::make_unique<Class>();
}

}  // namespace allot
