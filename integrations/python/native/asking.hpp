// The questions of the library as Python functions: keywords become options, refusals become exceptions.
#pragma once

#include <pybind11/pybind11.h>

#include <functional>
#include <string>
#include <system_error>

#include "allot/ask/question.hpp"
#include "integrations/python/native/attend.hpp"
#include "integrations/python/native/convert.hpp"

namespace allot::python {

/// Hands the keywords to the question's options. None leaves the default, or takes a limit away. Invalid
/// names the option; what the caller does itself is in `skip`.
void set_options(Question& question, const py::dict& keywords, const std::string& skip = "");

/// Who waits: hands progress to a Python function, or None.
Attendance attendance_of(const py::object& progress, Attendant& attendant);

/// The answer of the question that `allot NAME` puts, as an object of its class, or as a dict.
py::object ask(const std::string& name, const py::object& scenario, const py::dict& keywords,
               const py::object& progress);

/// The path and the reason, as Python knows them.
[[noreturn]] void raise_os_error(const std::system_error& error);

/// Has it answered; other Python threads run meanwhile. Raises OSError where a file cannot be written.
void answer(Question& question, const py::object& progress);

// Answers that are objects of a class of their own.
py::object ask_solve(const ScenarioPointer& scenario, const py::dict& keywords, const py::object& progress);
py::object ask_certify(const ScenarioPointer& scenario, const py::dict& keywords, const py::object& progress);
py::object ask_pareto(const ScenarioPointer& scenario, const py::dict& keywords, const py::object& progress);
py::object ask_whatif(const ScenarioPointer& scenario, const py::dict& keywords, const py::object& progress);
py::object ask_simulate(const ScenarioPointer& scenario, const py::dict& keywords,
                        const py::object& progress);
py::object ask_compare(const ScenarioPointer& scenario, const py::dict& keywords, const py::object& progress);
py::object ask_analyze(const ScenarioPointer& scenario, const py::dict& keywords, const py::object& progress);

}  // namespace allot::python
