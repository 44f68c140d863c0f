// The table of fields is fit to be walked over: keys and columns are used once, and every row says something.
#include "allot/model/fields.hpp"

#include <gtest/gtest.h>

#include <set>

namespace allot {
namespace {

template <typename Owner>
void check(std::span<const Field<Owner>> fields) {
  std::set<std::string_view> keys;
  std::set<std::string_view> columns;
  static const Owner usual{};
  for (const Field<Owner>& field : fields) {
    SCOPED_TRACE(field.key);
    EXPECT_TRUE(keys.insert(field.key).second);
    EXPECT_TRUE(field.column.empty() || columns.insert(field.column).second);
    EXPECT_FALSE(field.help.empty() || field.help.ends_with('.'));
    const bool is_word = std::holds_alternative<Kind Owner::*>(field.member) ||
                         std::holds_alternative<Discipline Owner::*>(field.member);
    EXPECT_EQ(is_word, !field.words.empty());
    // What is absent must be in range.
    if (const auto* number = std::get_if<double Owner::*>(&field.member)) {
      EXPECT_GE(usual.**number, field.least);
    } else if (const auto* whole = std::get_if<Count Owner::*>(&field.member)) {
      EXPECT_GE(static_cast<double>(usual.**whole), field.least);
      EXPECT_LE(field.most, static_cast<double>(kMaxCount));
    }
  }
}

TEST(Fields, AreNamedOnceAndExplained) {
  check(resource_fields());
  check(task_fields());
  check(thread_fields());
  check(population_fields());
  check(arrival_fields());
  check(measured_fields());
  check(scenario_fields());
}

}  // namespace
}  // namespace allot
