#include "integrations/python/native/policy_options.hpp"

#include "allot/io/assignment_reader.hpp"
#include "allot/io/probabilities_reader.hpp"

namespace allot::python {
namespace {

bool is_path(const py::object& value) {
  return py::isinstance<py::str>(value) || py::hasattr(value, "__fspath__");
}

/// The file that a path names, or the tree that the value is; of a result its assignment.
Document document_of(const py::object& value) {
  if (is_path(value))
    return value_or_raise(read_document(py::module_::import("os").attr("fspath")(value).cast<std::string>()));
  if (py::hasattr(value, "assignment")) return to_document(value.attr("assignment"));
  return to_document(value);
}

}  // namespace

Assignment assignment_from(const py::object& value, const System& system) {
  return value_or_raise(read_assignment(document_of(value), system));
}

Assignment pattern_from(const py::object& value, const System& system) {
  return value_or_raise(read_pattern(document_of(value), system));
}

PolicyOptions policy_options(const Scenario& scenario, const py::object& assignment,
                             const py::object& probabilities, const std::string& shares) {
  PolicyOptions options;
  options.shares = share_reading(shares);
  if (!assignment.is_none()) {
    options.assignment = scenario.is_static() ? assignment_from(assignment, scenario.system)
                                              : pattern_from(assignment, scenario.system);
  }
  if (!probabilities.is_none()) {
    options.placement_probabilities =
        value_or_raise(read_probabilities(document_of(probabilities), scenario.system));
  }
  return options;
}

ShareReading share_reading(const std::string& word) {
  return choice<ShareReading>("shares", word,
                              {{"exact", ShareReading::kExact}, {"floor", ShareReading::kFloor}});
}

}  // namespace allot::python
