// Scenario files: a Scenario, or every problem of the file. The shape is in docs/reference/scenario.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "allot/format/diagnostic.hpp"
#include "allot/format/document.hpp"
#include "allot/model/scenario.hpp"

namespace allot {

/// Reads a scenario file: `.toml` or `.json`, by its extension; `-` is JSON from standard input. The content
/// of the file never makes it throw. With threads given as sequences, the counts of the system are 0.
ReadResult<Scenario> read_scenario(const std::string& path);

/// The same for a given text; `source` names it in the diagnostics and may be empty. Thread-safe.
ReadResult<Scenario> read_scenario_text(std::string_view text, FileFormat format, std::string source = {});

/// The same for a part of a document that holds a scenario.
ReadResult<Scenario> read_scenario_node(const Document& document, const Node& node);

/// What is allowed but worth a word, one line each: task types whose home is not their fastest resource (the
/// paper's affinity rule). At most `most` such lines, then one that counts the rest.
std::vector<std::string> notes(const Scenario& scenario, std::size_t most = 5);

}  // namespace allot
