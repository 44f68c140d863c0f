#include "integrations/python/native/named_rates.hpp"

#include <string>
#include <vector>

#include "integrations/python/native/convert.hpp"
#include "integrations/python/native/directory.hpp"

namespace allot::python {
namespace {

/// Labels as names.
py::list names_of(const py::object& labels) {
  py::list names;
  for (const py::handle label : labels) names.append(py::str(label));
  return names;
}

/// Whether a frame has no labels of its own, but numbers from 0.
bool counts_from_zero(const py::object& labels) {
  std::size_t at = 0;
  for (const py::handle label : labels) {
    if (!PyLong_Check(label.ptr()) || !label.equal(py::int_(at++))) return false;
  }
  return true;
}

/// The rows or columns of a frame in the order of the given names, if these are its own.
py::object in_order(const py::object& frame, const char* axis, const py::list& own, const py::object& given) {
  if (given.is_none() || !py::isinstance<py::iterable>(given)) return frame;
  const py::list wanted(given);
  if (!py::set(wanted).equal(py::set(own)) || wanted.size() != own.size()) return frame;
  py::list order;
  for (const py::handle name : wanted) order.append(own.attr("index")(name));
  return frame.attr("take")(order, py::arg("axis") = axis);
}

}  // namespace

py::object named_rates(const py::object& rates, py::object& tasks, py::object& resources) {
  if (is_frame(rates)) {
    const py::object rows = rates.attr("index").attr("tolist")();
    const py::object columns = rates.attr("columns").attr("tolist")();
    const py::object matrix =
        in_order(in_order(rates, "index", names_of(rows), tasks), "columns", names_of(columns), resources)
            .attr("to_numpy")();
    if (tasks.is_none() && !counts_from_zero(rows)) tasks = names_of(rows);
    if (resources.is_none() && !counts_from_zero(columns)) resources = names_of(columns);
    return matrix;
  }
  if (!is_mapping(rates)) return rates;
  const py::dict by_task = py::module_::import("builtins").attr("dict")(rates);
  if (tasks.is_none()) tasks = names_of(by_task);
  if (resources.is_none()) {  // in order of appearance
    const py::dict seen;
    for (const auto& [task, row] : by_task) {
      if (!is_mapping(row)) raise_invalid("rates", "of " + shown(task) + " must be a dict by resource");
      for (const py::handle name : row) seen[py::str(name)] = true;
    }
    resources = py::list(seen);
  }
  Directory types;
  for (const std::string& name : names_from("tasks", tasks)) types.add(name);
  Directory devices;
  for (const std::string& name : names_from("resources", resources)) devices.add(name);
  std::vector<py::list> rows(types.size());
  for (const auto& [i, given] : types.values("rates", by_task, true)) {
    py::list row;
    for (std::size_t j = 0; j < devices.size(); ++j) row.append(0.0);
    for (const auto& [j, rate] : devices.values("rates", given, false)) row[j] = rate;
    rows[i] = row;
  }
  py::list matrix;
  for (const py::list& row : rows) matrix.append(row);
  return matrix;
}

}  // namespace allot::python
