// What must hold for any text given to the scenario reader: diagnostics or a scenario, and a scenario
// survives being written and read again.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "allot/format/assignment_reader.hpp"
#include "allot/format/scenario_reader.hpp"
#include "allot/format/scenario_writer.hpp"
#include "allot/model/throughput.hpp"

namespace allot::fuzz {

inline void expect(bool holds, const char* what, const std::string& detail = {}) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n%s\n", what, detail.c_str());
  std::abort();
}

/// Messages go to terminals and into JSON: one line, no control characters.
inline void check_diagnostics(const std::vector<Diagnostic>& diagnostics) {
  expect(!diagnostics.empty(), "no value needs a reason");
  for (const Diagnostic& diagnostic : diagnostics) {
    expect(!diagnostic.place.empty() && !diagnostic.message.empty(),
           "a diagnostic has a place and a message");
    for (const char c : to_string(diagnostic)) {
      const auto byte = static_cast<unsigned char>(c);
      expect(byte >= 0x20 && byte != 0x7F, "a diagnostic is printable", to_string(diagnostic));
    }
  }
}

inline void check_round_trip(const Scenario& scenario, FileFormat format) {
  const std::string text = write_scenario(scenario, format);
  const ReadResult<Scenario> again = read_scenario_text(text, format);
  expect(again.has_value(), "what was written can be read",
         text + (again ? "" : to_string(again.diagnostics().front())));
  expect(*again == scenario, "what was written reads back as an equal scenario", text);
}

inline void check_text(const std::uint8_t* data, std::size_t size, FileFormat format) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ReadResult<Scenario> read = read_scenario_text(text, format, "fuzz");
  if (!read) {
    check_diagnostics(read.diagnostics());
    return;
  }
  check_round_trip(*read, FileFormat::kToml);
  check_round_trip(*read, FileFormat::kJson);
  const System& system = read->system;
  const Performance performance = evaluate(system, home_assignment(system));
  expect(std::isfinite(performance.throughput) && performance.throughput >= 0, "throughput is finite");
  for (const double x : performance.throughput_by_task) expect(std::isfinite(x) && x >= 0, "X_i is finite");
  if (performance.response_time) expect(std::isfinite(*performance.response_time), "response time is finite");
  notes(*read);
}

}  // namespace allot::fuzz
