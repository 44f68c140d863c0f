// A command that puts a question: reads what it is about, says who waits, and turns refusals into statuses.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "allot/ask/question.hpp"
#include "allot/base/error.hpp"
#include "allot/solve/solution.hpp"
#include "apps/allot/command.hpp"
#include "apps/allot/exit.hpp"

namespace allot::app {

class Asking {
 public:
  explicit Asking(const QuestionInfo& info) : question_(info.make()) {}

  Question& question() noexcept { return *question_; }
  const Scenario& scenario() const noexcept { return *question_->scenario; }
  const std::string& file() const noexcept { return file_; }
  bool json() const noexcept { return json_; }

  /// FILE, the question's own, `more`, `--json`.
  std::vector<Option> options(std::vector<Option> more = {});

  /// Reads the scenario and the matrices that were named; notes and problems go to standard error. Throws
  /// Failure.
  void read(const Console& console);

  /// From here on Ctrl-C asks for the best so far; the processor time used up to now counts.
  static Attendance attendance();

  /// Has the question answered. Throws Failure.
  void answer(const Attendance& attendance);

  /// What is wrong, in the terms of the command line: wrong usage where it is about an option.
  [[noreturn]] void fail(const InvalidModel& error);

 private:
  /// A matrix that stands in a file.
  struct MatrixFile {
    std::string option;
    std::string path;
    OptionValue target;
  };

  void read_matrix(const MatrixFile& matrix, const Console& console);
  void spare_inputs() const;

  std::unique_ptr<Question> question_;
  std::string file_;
  std::vector<std::unique_ptr<MatrixFile>> matrices_;
  std::vector<std::pair<std::string, std::shared_ptr<std::string>>> outputs_;  ///< options and their paths
  bool json_ = false;
};

/// How a command ends that has shown an answer.
inline Exit exit_of(Outcome outcome) noexcept {
  return outcome == Outcome::kInfeasible ? Exit::kFailed : Exit::kOk;
}

/// A question of a known class, and what the command takes beside the question's own options.
template <typename Class>
struct Asked {
  Asking asking;
  Class& question;
  explicit Asked(std::string_view name)
      : asking(*find_question(name)), question(static_cast<Class&>(asking.question())) {}
  std::vector<Option> more() { return {}; }
};

/// The command that puts the question of that name, and is called so.
Command asking_command(std::string_view question, std::function<Declared()> declare);

/// The same, where `run` does the work. `Arguments` are an Asked, or made from one.
template <typename Arguments>
Command asking_command(std::string_view question, Exit (*run)(Arguments&, Console&)) {
  return asking_command(question, [=]() -> Declared {
    const auto arguments = std::make_shared<Arguments>(question);
    return {arguments->asking.options(arguments->more()),
            [=](Console& console) { return run(*arguments, console); }};
  });
}

}  // namespace allot::app
