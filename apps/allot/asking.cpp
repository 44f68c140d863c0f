#include "apps/allot/asking.hpp"

#include <ctime>
#include <filesystem>
#include <system_error>

#include "allot/format/assignment_reader.hpp"
#include "allot/format/probabilities_reader.hpp"
#include "apps/allot/input.hpp"
#include "apps/allot/interrupt.hpp"
#include "apps/allot/options.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app {

Command asking_command(std::string_view question, std::function<Declared()> declare) {
  const QuestionInfo& info = *find_question(question);
  return {info.name, info.summary, info.example, std::move(declare)};
}

std::vector<Option> Asking::options(std::vector<Option> more) {
  std::vector<Option> all;
  if (question_->needs_scenario()) all.push_back(file_option(file_));
  std::vector<Option> own = question_->options();
  const auto add = [&](Option& option) {
    if (!option.is_for_command) return;
    if (std::holds_alternative<AssignmentValue>(option.value) ||
        std::holds_alternative<ProbabilitiesValue>(option.value)) {
      matrices_.push_back(std::make_unique<MatrixFile>(MatrixFile{spelled(option), "", option.value}));
      MatrixFile& matrix = *matrices_.back();
      option.value = TextValue{"", [&matrix](std::string path) { matrix.path = std::move(path); }, true};
    } else if (auto* const text = std::get_if<TextValue>(&option.value); text != nullptr && text->is_output) {
      const auto path = std::make_shared<std::string>();
      outputs_.emplace_back(spelled(option), path);
      text->set = [path, set = text->set](const std::string& value) { set(*path = value); };
    }
    all.push_back(std::move(option));
  };
  // Advanced options come last in the help.
  for (Option& option : own) {
    if (option.group.empty()) add(option);
  }
  for (Option& option : more) add(option);
  all.push_back(json_option(json_));
  for (Option& option : own) {
    if (!option.group.empty()) add(option);
  }
  return all;
}

void Asking::read(const Console& console) {
  spare_inputs();
  std::string reader = file_ == "-" ? "the scenario" : "";
  for (const auto& matrix : matrices_) {
    if (matrix->path != "-") continue;
    if (!reader.empty())
      throw Failure(Exit::kUsage, matrix->option + ": standard input holds " + reader + " already.");
    reader = "the value of '" + matrix->option + "'";
  }
  question_->scenario = std::make_shared<const Scenario>(read_scenario_or_fail(file_, console));
  for (const auto& matrix : matrices_) {
    if (!matrix->path.empty()) read_matrix(*matrix, console);
  }
}

/// If counts vary, an assignment need not place every thread.
void Asking::read_matrix(const MatrixFile& matrix, const Console& console) {
  const System& system = scenario().system;
  if (const auto* const assignment = std::get_if<AssignmentValue>(&matrix.target)) {
    *assignment->target = value_or_fail(
        scenario().is_static() ? read_assignment(matrix.path, system) : read_pattern(matrix.path, system),
        console);
  } else {
    *std::get<ProbabilitiesValue>(matrix.target).target =
        value_or_fail(read_probabilities(matrix.path, system), console);
  }
}

/// Checks that no output overwrites an input.
void Asking::spare_inputs() const {
  std::vector<std::string> inputs{file_};
  for (const auto& matrix : matrices_) inputs.push_back(matrix->path);
  for (const auto& [option, path] : outputs_) {
    for (const std::string& input : inputs) {
      std::error_code ignored;
      if (!path->empty() && !input.empty() && std::filesystem::equivalent(*path, input, ignored))
        throw Failure(Exit::kUsage,
                      option + ": " + in_quotes(*path) + " is an input; it would be overwritten.");
    }
  }
}

Attendance Asking::attendance() {
  Attendance attendance;
  attendance.flag = &catch_interrupts();
  // The time to read a large file counts; waiting for another program to write it does not.
  attendance.used_s = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  return attendance;
}

void Asking::answer(const Attendance& attendance) {
  try {
    question_->answer(attendance);
  } catch (const InvalidModel& error) {
    fail(error);
  } catch (const std::system_error& error) {
    for (const auto& [option, path] : outputs_) {
      if (!path->empty()) {
        throw Failure(Exit::kFailed,
                      "cannot write " + in_quotes(*path) + " (" + option + "): " + error.code().message());
      }
    }
    throw;
  }
}

void Asking::fail(const InvalidModel& error) {
  for (const Option& option : question_->options()) {
    if (option.name != error.field()) continue;
    std::string problem = std::string(error.what()).substr(error.field().size() + 2);
    if (!problem.ends_with('.')) problem += '.';
    throw Failure(Exit::kUsage, spelled(option) + ": " + shown(problem));
  }
  throw Failure(Exit::kInvalidInput, (file_.empty() ? "" : file_ + ": ") + shown(error.what()));
}

}  // namespace allot::app
