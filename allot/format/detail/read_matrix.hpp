// A matrix of a document, types by resources: bare, or under its key, as the command prints it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "allot/format/problems.hpp"
#include "allot/model/system.hpp"

namespace allot::detail {

/// The node that holds the matrix: the root, or its value under `key`. Reports names beside it that are not
/// the system's. Null, and a problem, unless there is one row per task type.
const Node* find_matrix(const Node& root, std::string_view key, const System& system, Problems& problems);

/// The entries of the row of type i. Empty, and a problem, unless there is one per resource.
std::span<const Node> matrix_row(const Node& matrix, const System& system, TaskType i,
                                 std::string_view of_what, Problems& problems);

}  // namespace allot::detail
