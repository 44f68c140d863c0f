// Reads entries of a document by the table of fields: one reader for resources, task types and all the rest.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "allot/format/problems.hpp"
#include "allot/model/violations.hpp"

namespace allot::format {

/// The names of one array of tables, in order.
struct Names {
  std::string_view noun;  ///< "resource", "task" or "capacity"
  std::string_view plural;
  std::vector<std::string_view> order;  ///< views into the document
  std::unordered_map<std::string_view, std::size_t> index;
  bool is_complete = true;  ///< false if some entry has no usable name: then unknown names are not reported

  /// The next entry. Takes its name, if it has one.
  void add(const Node& entry);
};

/// The index of a name, or a problem at `where`.
std::optional<std::size_t> resolve(const Names& names, std::string_view name, const Node& where,
                                   Problems& problems);

/// Reads entries key by key. Checks the kinds of values; the rules check the values themselves.
class FieldReader {
 public:
  /// `capacities`: the resources, followed by the other capacities.
  FieldReader(const Names& resources, const Names& tasks, const Names& capacities, Rules& rules,
              Problems& problems)
      : resources_(resources), tasks_(tasks), capacities_(capacities), rules_(rules), problems_(problems) {}

  /// Reads all fields except the special ones. A value that cannot be read is added to the problems and
  /// marked as unread in the rules, and so is one under a misspelt key.
  template <typename Owner>
  void read(const TableReader& table, std::string_view section, std::size_t entry,
            std::span<const Field<Owner>> fields, Owner& owner) const {
    for (const Field<Owner>& field : fields) {
      if (field.required) table.require(field.key, field.help);
      const Node* const node = table.find(field.key);
      const bool is_read =
          node ? std::visit([&](auto member) { return take(*node, field, owner, member); }, field.member)
               : table.is_table() && !field.required && !table.is_misnamed(field.key);
      if (!is_read) rules_.unread(section, entry, field.key);
    }
  }

 private:
  template <typename Owner>
  bool take(const Node&, const Field<Owner>&, Owner&, Special) const {
    return true;
  }
  template <typename Owner, typename Value>
  bool take(const Node& node, const Field<Owner>& field, Owner& owner, Value Owner::*member) const {
    return value(node, field.key, {field.least, field.most, field.unit, field.words}, owner.*member);
  }

  struct Wanted {
    double least;
    double most;
    std::string_view unit;
    std::span<const std::string_view> words;
  };
  bool value(const Node& node, std::string_view key, const Wanted& wanted, std::string& out) const;
  bool value(const Node& node, std::string_view key, const Wanted& wanted, Count& out) const;
  bool value(const Node& node, std::string_view key, const Wanted& wanted, double& out) const;
  bool value(const Node& node, std::string_view key, const Wanted& wanted, bool& out) const;
  bool value(const Node& node, std::string_view key, const Wanted& wanted, std::optional<double>& out) const;
  bool value(const Node& node, std::string_view key, const Wanted& wanted, TaskType& out) const;
  bool value(const Node& node, std::string_view key, const Wanted& wanted, ResourceId& out) const;
  bool value(const Node& node, std::string_view key, const Wanted& wanted,
             std::optional<ResourceId>& out) const;
  bool value(const Node& node, std::string_view key, const Wanted& wanted, std::vector<TaskType>& out) const;
  bool value(const Node& node, std::string_view key, const Wanted& wanted,
             std::vector<ResourceNumber>& out) const;
  bool value(const Node& node, std::string_view key, const Wanted& wanted, std::vector<Need>& out) const;
  /// One of a few words.
  template <typename Word>
  bool value(const Node& node, std::string_view key, const Wanted& wanted, Word& out) const {
    const auto at = read_word(node, key, wanted.words, problems_);
    if (at) out = static_cast<Word>(*at);
    return at.has_value();
  }
  /// A table, or a problem: "must be a table of `what`".
  const Node::Table* table(const Node& node, const std::string& subject, std::string_view what) const;
  std::optional<std::size_t> named(const Node& node, std::string_view key, const Names& names) const;

  const Names& resources_;
  const Names& tasks_;
  const Names& capacities_;
  Rules& rules_;
  Problems& problems_;
};

/// The tables under a key; none (and a problem) if there is something else.
std::span<const Node> tables(const TableReader& root, std::string_view key, const Problems& problems);
/// The same under `resources` or `tasks`, with their names: at least one, or a problem.
std::span<const Node> named_tables(const TableReader& root, std::string_view key, Names& names,
                                   Problems& problems);

using RateRow = std::vector<std::pair<ResourceId, double>>;
/// The rates of a task type, a table of resource names and numbers, as written; the rules check their values.
/// Returns whether all could be read.
bool read_rates(const Node& node, const Names& resources, RateRow& row, Problems& problems);

/// Adds the violations, each at the place of its value.
void report(const std::vector<Violation>& violations, const Node& root, Problems& problems);

}  // namespace allot::format
