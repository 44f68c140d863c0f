#include "integrations/python/native/policy_options.hpp"

#include <string_view>

#include "allot/format/assignment_reader.hpp"
#include "allot/format/probabilities_reader.hpp"
#include "integrations/python/native/directory.hpp"
#include "integrations/python/native/values.hpp"

namespace allot::python {
namespace {

/// The document of a file that a path names, of the content of a file, or of a matrix given directly or
/// inside a result.
Document document_of(const char* option, const char* key, const py::object& value, const System& system) {
  if (is_path(value)) return value_or_raise(read_document(readable_path(option, value)));
  if (is_mapping(value) && value.contains(key)) return to_document(value);
  py::object matrix = value;
  for (const char* attribute : {"assignment", "target"}) {
    if (!is_frame(value) && py::hasattr(value, attribute)) matrix = value.attr(attribute);
  }
  Node::Table root;
  root.push_back(
      {key, matrix_from(option, matrix, Directory(system.tasks()), Directory(system.resources()))});
  return {FileFormat::kJson, "", make_node(std::move(root))};
}

/// The value; problems are reported under the name of the option.
template <typename Value>
Value named(std::string_view option, std::string_view key, ReadResult<Value> result) {
  if (result || option == key) return value_or_raise(std::move(result));
  std::vector<Diagnostic> problems = result.diagnostics();
  for (Diagnostic& problem : problems) {
    if (problem.place.starts_with(key)) problem.place.replace(0, key.size(), option);
  }
  raise_invalid(std::move(problems));
}

}  // namespace

Assignment assignment_from(const char* option, const py::object& value, const System& system) {
  return named(option, "assignment",
               read_assignment(document_of(option, "assignment", value, system), system));
}

Assignment pattern_from(const char* option, const py::object& value, const System& system) {
  return named(option, "assignment", read_pattern(document_of(option, "assignment", value, system), system));
}

std::vector<double> probabilities_from(const char* option, const py::object& value, const System& system) {
  return value_or_raise(read_probabilities(document_of(option, "probabilities", value, system), system));
}

PolicyOptions policy_options(const Scenario& scenario, const py::object& assignment,
                             const py::object& probabilities, py::handle shares) {
  PolicyOptions options;
  options.shares = share_reading(shares);
  const System& system = scenario.system;
  if (!assignment.is_none()) {
    options.assignment = scenario.is_static() ? assignment_from("assignment", assignment, system)
                                              : pattern_from("assignment", assignment, system);
  }
  if (!probabilities.is_none()) {
    options.placement_probabilities = probabilities_from("probabilities", probabilities, system);
  }
  return options;
}

ShareReading share_reading(py::handle word) {
  return choice<ShareReading>(
      "shares", word, {{kShareWords[0], ShareReading::kExact}, {kShareWords[1], ShareReading::kFloor}});
}

}  // namespace allot::python
