#include "allot/format/probabilities_reader.hpp"
#include "tests/fuzz/scenario_check.hpp"

namespace {

/// A system for the assignments, which are JSON too.
const allot::System& small_system() {
  static const allot::System system({{.name = "cpu"}, {.name = "gpu", .min_depth = 2}},
                                    {{.name = "sort", .count = 3}, {.name = "search", .count = 2}},
                                    allot::Rates(2, 2, {9, 2, 0, 4}));
  return system;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace allot;
  fuzz::check_text(data, size, FileFormat::kJson);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ReadResult<Assignment> assignment = read_assignment_text(text, small_system());
  if (assignment) {
    fuzz::expect(is_placement(small_system(), *assignment), "an assignment that is read is a placement");
  } else {
    fuzz::check_diagnostics(assignment.diagnostics());
  }
  const ReadResult<std::vector<double>> probabilities = read_probabilities_text(text, small_system());
  if (probabilities) {
    fuzz::expect(probabilities->size() == 4, "probabilities that are read are for every type and resource");
  } else {
    fuzz::check_diagnostics(probabilities.diagnostics());
  }
  return 0;
}
