// Any text as a table or a list of inputs: problems, or rows that can be written and read again.
#include "allot/jobs/inputs.hpp"
#include "tests/fuzz/scenario_check.hpp"

namespace {

std::string quoted(const std::string& field) {
  std::string out = "\"";
  for (const char c : field) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::string record(std::span<const std::string> fields) {
  std::string out;
  for (const std::string& field : fields) out += (&field == fields.data() ? "" : ",") + quoted(field);
  return out + "\n";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace allot;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<InputProblem> problems;
  const InputTable table = inputs_from_csv(text, 100'000, problems);
  for (const InputProblem& problem : problems) fuzz::expect(!problem.message.empty(), "a problem has words");
  if (problems.empty()) {
    fuzz::expect(table.values.size() == table.rows() * table.columns.size() && table.rows() > 0,
                 "rows are whole");
    std::string again = record(table.columns);
    for (std::size_t row = 0; row < table.rows(); ++row) again += record(table.row(row));
    fuzz::expect(inputs_from_csv(again, 100'000, problems) == table && problems.empty(), "a table comes back",
                 again);
  }
  problems.clear();
  const InputTable list = inputs_from_list(text, 100'000, problems);
  for (const std::string& value : list.values) {
    fuzz::expect(!value.empty() && value.find_first_of(std::string_view("\n\0", 2)) == std::string::npos,
                 "a value is one line");
  }
  return 0;
}
