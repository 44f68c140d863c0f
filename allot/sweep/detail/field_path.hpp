// Fields of a scenario by a path of names, such as `resources.gpu.servers`. They are set in the document
// before it is read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "allot/format/document.hpp"

namespace allot::detail {

/// Splits `resources.gpu.servers` or `tasks."big sort".count` into parts. Empty if it is not a path.
std::vector<std::string> split_path(std::string_view path);

/// Sets the field; adds it if its table lacks it. Elements of an array are found by `name` or by position,
/// counted from 0. Returns the error, or an empty string; after an error the root is unchanged.
std::string set_field(Node& root, const std::vector<std::string>& path, const Node::Content& value);

}  // namespace allot::detail
