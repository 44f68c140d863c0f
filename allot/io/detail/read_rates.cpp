#include "allot/io/detail/read_rates.hpp"

#include <cmath>

#include "allot/io/detail/text.hpp"

namespace allot::detail {

bool read_rates(const Node& node, const Names& resources, RateRow& row, Problems& problems) {
  const auto* table = node.get<Node::Table>();
  if (!table) {
    const char* const kind = problems.document().format() == FileFormat::kToml ? "a table" : "an object";
    problems.add(node, "'rates' must be " + std::string(kind) + " of resource names and rates, is " +
                           problems.document().describe(node));
    return false;
  }
  bool is_read = true;
  for (const Entry& entry : *table) {
    const auto resource = resolve(resources, entry.key, entry.value, problems);
    const auto rate = any_number(entry.value);
    // Nothing else would look at the rate on a resource that is not there.
    const std::string wrong = rate ? (resource ? "" : wanted_rate(*rate)) : wanted_rate(std::nan(""));
    if (!wrong.empty()) {
      problems.add(entry.value, "the rate on " + in_quotes(entry.key) + " " + wrong + ", is " +
                                    problems.document().describe(entry.value));
    }
    is_read = is_read && resource && rate;
    if (resource && rate) row.emplace_back(resource_id(*resource), *rate);
  }
  return is_read;
}

}  // namespace allot::detail
