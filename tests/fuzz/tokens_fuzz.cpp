// Any command line: words or problems, and words that come back from being joined.
#include "allot/jobs/tokens.hpp"
#include "tests/fuzz/scenario_check.hpp"
#include "tests/support/identity.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace allot;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto check_round_trip = [](const std::vector<std::string>& words) {
    std::vector<std::string> problems;
    fuzz::expect(split_command(join_command(words), problems) == words && problems.empty(), "words come back",
                 join_command(words));
  };
  std::vector<std::string> problems;
  const std::vector<std::string> words = split_command(text, problems);
  check_round_trip(words);

  // The same bytes as words of their own, cut at zero bytes.
  std::vector<std::string> raw(1);
  for (const char c : text) {
    if (c == '\0') {
      raw.emplace_back();
    } else {
      raw.back() += c;
    }
  }
  check_round_trip(raw);

  const TaskIdentity identity{raw.front(), {raw.begin() + 1, raw.end()}, 1 + text.size() % 3};
  const auto again = parse_identity(to_string(identity));
  fuzz::expect(again && *again == identity, "an identity comes back", to_string(identity));
  if (const auto parsed = parse_identity(text))
    fuzz::expect(to_string(*parsed) == text, "an identity has one text");
  return 0;
}
