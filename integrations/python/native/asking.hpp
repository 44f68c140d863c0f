// The library's questions as Python functions: keywords become options, errors become exceptions.
#pragma once

#include <pybind11/pybind11.h>

#include <functional>
#include <string>
#include <system_error>

#include "allot/ask/question.hpp"
#include "integrations/python/native/attend.hpp"
#include "integrations/python/native/convert.hpp"

namespace allot::python {

/// Passes the keywords to the question's options. None keeps the default, or removes a limit. Invalid names
/// the option; `skip` is an option that the caller handles.
void set_options(Question& question, const py::dict& keywords, const std::string& skip = "");

/// Passes progress to a Python function, or None.
Attendance attendance_of(const py::object& progress, Attendant& attendant);

/// The answer to the question of `allot NAME`, as an object of its class, or as a dict.
py::object ask(const std::string& name, const py::object& scenario, const py::dict& keywords,
               const py::object& progress);

/// The path and the reason, as a Python exception.
[[noreturn]] void raise_os_error(const std::system_error& error);

/// Answers the question; other Python threads run in the meantime. Raises OSError if a file cannot be
/// written.
void answer(Question& question, const py::object& progress);

// Answers with a class of their own.
py::object ask_solve(const ScenarioPointer& scenario, const py::dict& keywords, const py::object& progress);
py::object ask_certify(const ScenarioPointer& scenario, const py::dict& keywords, const py::object& progress);
py::object ask_pareto(const ScenarioPointer& scenario, const py::dict& keywords, const py::object& progress);
py::object ask_whatif(const ScenarioPointer& scenario, const py::dict& keywords, const py::object& progress);
py::object ask_simulate(const ScenarioPointer& scenario, const py::dict& keywords,
                        const py::object& progress);
py::object ask_compare(const ScenarioPointer& scenario, const py::dict& keywords, const py::object& progress);
py::object ask_analyze(const ScenarioPointer& scenario, const py::dict& keywords, const py::object& progress);

}  // namespace allot::python
