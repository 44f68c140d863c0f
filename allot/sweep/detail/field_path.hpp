// Fields of a scenario by a path of names, such as `resources.gpu.servers`: set in the document, before it is
// read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "allot/format/document.hpp"

namespace allot::detail {

/// `resources.gpu.servers` or `tasks."big sort".count`, in parts. Empty when it is no path.
std::vector<std::string> split_path(std::string_view path);

/// Sets the field, adding it where its table lacks it. Elements of an array go by their `name` or, counted
/// from 0, by their place. Returns what is wrong, empty when nothing is: then the root is unchanged.
std::string set_field(Node& root, const std::vector<std::string>& path, const Node::Content& value);

}  // namespace allot::detail
