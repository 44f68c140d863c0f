// A solver's answer as text for people; shared by all commands that print one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allot/ask/questions/solve.hpp"
#include "allot/format/result_field.hpp"
#include "allot/model/scenario.hpp"
#include "allot/solve/explain.hpp"
#include "allot/solve/solution.hpp"
#include "apps/allot/terminal/console.hpp"

namespace allot::app {

/// "workstation: 4 task types, 3 resources, 24 threads"
void print_system(Console& console, const Scenario& scenario);

/// The matrix of an assignment, with threads, throughput, response times and shares around it.
void print_assignment(Console& console, const System& system, const Assignment& assignment,
                      const Performance& performance);

/// Throughput, response time and priority error in one line.
void print_headline(Console& console, const Performance& performance, bool with_error);

/// The resources for which the throughput of a state has no exact formula.
std::string where_approximate(const System& system);

/// Whether the value may differ from the throughput: types have worths, or rounds are counted.
bool tells_value(const Scenario& scenario);
/// The number of units of each resource that work on each type; and the rounds of groups.
void print_time_plan(Console& console, const Scenario& scenario, const Solution& solution);
void print_rounds(Console& console, const Scenario& scenario, const Solution& solution);
/// The unit of the maximised quantity, with a space before it.
std::string value_unit(const Scenario& scenario);
/// "frame", or "Group 2" if it has no name.
std::string group_name(const Scenario& scenario, std::size_t group);
/// Time shares, completions by type, and the capacities.
void print_plan(Console& console, const Scenario& scenario, const Solution& solution);
/// The whole answer: headline, how the solver ended, assignment, time shares, bounds.
void print_solution(Console& console, const Scenario& scenario, const Solution& solution);

/// A number as text for a sentence; absent if there is none.
std::optional<std::string> number_text(const Kept& value);
/// Prints the sentences of the result's table with their values.
template <typename Result>
void print_sentences(Console& console, std::span<const ResultField<Result>> fields, const System& system,
                     const Result& result) {
  for (const ResultField<Result>& field : fields) {
    if (field.sentence.empty() || (field.has_value != nullptr && !field.has_value(system, result))) continue;
    const std::size_t at = field.sentence.find("{}");
    if (const auto number = number_text(kept(field, result)))
      console.print("{}{}{}\n", field.sentence.substr(0, at), *number, field.sentence.substr(at + 2));
  }
}

/// Compares the answer with simple methods: Best Fit, and for priorities the throughput given up.
void print_comparison(Console& console, const SolutionQuestion& question);

/// For each placement, the best alternative and its cost.
void print_explanation(Console& console, const System& system, const Solution& solution,
                       const std::vector<Placement>& placements);

}  // namespace allot::app
