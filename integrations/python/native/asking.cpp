#include "integrations/python/native/asking.hpp"

#include <pybind11/stl.h>

#include <cerrno>
#include <system_error>
#include <vector>

#include "allot/ask/questions/generate.hpp"
#include "integrations/python/native/lifetime.hpp"
#include "integrations/python/native/module.hpp"
#include "integrations/python/native/policy_options.hpp"
#include "integrations/python/native/values.hpp"

namespace allot::python {
namespace {

/// Sets one option to the given value.
struct Setter {
  const Question& question;
  const char* option;
  const py::object& given;

  void check(const std::string& problem) const {
    if (!problem.empty()) raise_invalid(option, problem + ", is " + shown(given));
  }
  // The functions also pass default values; a flag is set only if it differs from its default.
  void operator()(const FlagValue& value) const {
    if (const bool wanted = flag(option, given); wanted != value.initial) value.set(wanted);
  }
  void operator()(const WholeValue& value) const {
    if (!value.otherwise.empty() && py::isinstance<py::str>(given) && text(option, given) == value.otherwise)
      return;
    value.set(whole(option, given, value.least, value.most));
  }
  void operator()(const NumberValue& value) const {
    const double wanted = number(option, given);
    if (wanted != value.initial) check(put(value, wanted));
  }
  void operator()(const RangeValue& value) const {
    if (!py::isinstance<py::sequence>(given) || py::isinstance<py::str>(given) || py::len(given) != 2)
      raise_invalid(option, "must be two numbers, is " + shown(given));
    const py::sequence ends = py::reinterpret_borrow<py::sequence>(given);
    value.set(number(option, ends[0]), number(option, ends[1]));
  }
  void operator()(const SecondsValue& value) const { check(put(value, number(option, given))); }
  void operator()(const PartValue& value) const { check(put(value, number(option, given))); }
  void operator()(const WordValue& value) const {
    const std::string word = py::isinstance<py::str>(given) ? text(option, given) : std::string();
    if (!value.initial || word != value.words[*value.initial]) check(put(value, word));
  }
  void operator()(const TextValue& value) const {
    value.set(value.is_path ? path(option, given) : text(option, given));
  }
  void operator()(const TextsValue& value) const {
    if (py::isinstance<py::str>(given) || !py::isinstance<py::iterable>(given))
      raise_invalid(option, "must be a list of strings, is " + shown(given));
    std::vector<std::string> texts;
    for (const py::handle one : given) texts.push_back(text(option, one));
    value.set(std::move(texts));
  }
  void operator()(const AssignmentValue& value) const {
    const Scenario& scenario = *question.scenario;
    *value.target = scenario.is_static() ? assignment_from(option, given, scenario.system)
                                         : pattern_from(option, given, scenario.system);
  }
  void operator()(const ProbabilitiesValue& value) const {
    *value.target = probabilities_from(option, given, question.scenario->system);
  }
};

/// Whether None is accepted: for options whose default is described in words, or that have none.
bool may_be_none(const Option& option) {
  const auto* const number = std::get_if<WholeValue>(&option.value);
  if (!option.absent.empty() || (number != nullptr && !number->otherwise.empty())) return true;
  return !std::holds_alternative<FlagValue>(option.value) && default_of(option).empty();
}

void set_option(const Question& question, const Option& option, const py::object& given) {
  const auto* const seconds = std::get_if<SecondsValue>(&option.value);
  if (given.is_none() && seconds != nullptr && seconds->clear) {
    seconds->clear();
  } else if (!given.is_none() || !may_be_none(option)) {
    std::visit(Setter{question, option.name.c_str(), given}, option.value);
  }
}

ScenarioPointer scenario_of(const py::object& scenario) {
  return scenario.is_none() ? nullptr : scenario.cast<ScenarioPointer>();
}

/// Answers with a class of their own; all others are dicts.
struct Maker {
  std::string_view name;
  py::object (*ask)(const ScenarioPointer& scenario, const py::dict& keywords, const py::object& progress);
};

constexpr Maker kMakers[] = {
    {"solve", ask_solve},       {"certify", ask_certify}, {"pareto", ask_pareto},   {"whatif", ask_whatif},
    {"simulate", ask_simulate}, {"compare", ask_compare}, {"analyze", ask_analyze},
};

}  // namespace

void set_options(Question& question, const py::dict& keywords, const std::string& skip) {
  const auto given = [&](const std::string& name) {
    return keywords.contains(name) ? py::object(keywords[name.c_str()]) : py::object(py::none());
  };
  for (const Option& option : question.options()) {
    if (option.name == skip || !keywords.contains(option.name)) continue;
    py::object value = given(option.name);
    if (!option.old_name.empty() && !given(option.old_name).is_none()) {
      if (!value.is_none())
        raise_invalid(option.old_name.c_str(), "is the old name of '" + option.name + "': say one of them");
      value = given(option.old_name);
    }
    set_option(question, option, value);
  }
}

Attendance attendance_of(const py::object& progress, Attendant& attendant) {
  Attendance attendance;
  attendance.flag = &attendant.stop();
  if (progress.is_none()) return attendance;
  attendance.proof = [&](const SolveProgress& state) {
    attendant.send([&progress, state] { progress(state.best, state.bound); });
  };
  attendance.share = [&](double share) { attendant.send([&progress, share] { progress(share); }); };
  attendance.states = [&](std::uint64_t states) {
    attendant.send([&progress, states] { progress(states); });
  };
  return attendance;
}

void answer(Question& question, const py::object& progress) {
  Attendant attendant;
  const Attendance attendance = attendance_of(function_or_none("progress", progress), attendant);
  try {
    attendant.run([&] { return question.answer(attendance), true; });
  } catch (const std::system_error& error) {
    raise_os_error(error);
  }
}

void raise_os_error(const std::system_error& error) {
  // The message starts with the path.
  std::string path = error.what();
  path.resize(path.rfind(": ") == std::string::npos ? path.size() : path.rfind(": "));
  errno = error.code().value();
  PyErr_SetFromErrnoWithFilename(PyExc_OSError, path.c_str());
  throw py::error_already_set();
}

py::object ask(const std::string& name, const py::object& scenario, const py::dict& keywords,
               const py::object& progress) {
  const NativeCall call;  // also during the conversion of values, which runs Python code
  for (const Maker& maker : kMakers) {
    if (maker.name == name) return maker.ask(scenario_of(scenario), keywords, progress);
  }
  const std::unique_ptr<Question> question = find_question(name)->make();
  question->scenario = scenario_of(scenario);
  set_options(*question, keywords);
  answer(*question, progress);
  if (const auto* const made = dynamic_cast<const GenerateQuestion*>(question.get()))
    return py::cast(std::make_shared<Scenario>(*made->generated));
  return from_json(question->json());
}

void bind_ask(py::module_& module) {
  module.def("ask", &ask, py::arg("name"), py::arg("scenario"), py::arg("options"), py::arg("progress"));
}

}  // namespace allot::python
