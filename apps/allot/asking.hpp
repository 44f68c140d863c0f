// A command that asks a question: reads its input, reports progress, and converts errors to exit statuses.
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

  /// FILE, the question's own options, `more`, `--json`.
  std::vector<Option> options(std::vector<Option> more = {});

  /// Reads the scenario and the given matrices; notes and problems go to standard error. Throws Failure.
  void read(const Console& console);

  /// From here on Ctrl-C asks for the best so far; processor time used before counts towards the time limit.
  static Attendance attendance();

  /// Answers the question. Throws Failure.
  void answer(const Attendance& attendance);

  /// Reports the error in terms of the command line: as wrong usage if it concerns an option.
  [[noreturn]] void fail(const InvalidModel& error);

 private:
  /// A matrix in a file.
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

/// The exit status of a command that has shown an answer.
inline Exit exit_of(Outcome outcome) noexcept {
  return outcome == Outcome::kInfeasible ? Exit::kFailed : Exit::kOk;
}

/// A question of a known class, and the command's options beside those of the question.
template <typename Class>
struct Asked {
  Asking asking;
  Class& question;
  explicit Asked(std::string_view name)
      : asking(*find_question(name)), question(static_cast<Class&>(asking.question())) {}
  std::vector<Option> more() { return {}; }
};

/// The command for the question of that name; it has the same name.
Command asking_command(std::string_view question, std::function<Declared()> declare);

/// The same; `run` does the work. `Arguments` is an Asked, or derived from one.
template <typename Arguments>
Command asking_command(std::string_view question, Exit (*run)(Arguments&, Console&)) {
  return asking_command(question, [=]() -> Declared {
    const auto arguments = std::make_shared<Arguments>(question);
    return {arguments->asking.options(arguments->more()),
            [=](Console& console) { return run(*arguments, console); }};
  });
}

}  // namespace allot::app
