// Any template with any value: a value comes out as it went in, and nothing of it is read again.
#include "allot/jobs/command.hpp"
#include "tests/fuzz/scenario_check.hpp"

namespace {

using namespace allot;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// The text with the value put in is the text with a stand-in put in, which is then replaced.
void check_template(const std::string& text, const std::vector<std::string>& row) {
  const TemplateScope scope{{"", "width"}, true, true};
  std::vector<std::string> problems;
  const Template parsed = Template::parse(text, scope, problems);
  fuzz::expect(parsed.source() == text, "a template remembers what it was");
  if (!problems.empty()) return;
  const std::string stand_in = "\x01stand-in\x01";
  if (text.find('\x01') != std::string::npos || row[0].find('\x01') != std::string::npos) return;
  for (const Placeholder only :
       {Placeholder::kNoSuffix, Placeholder::kBase, Placeholder::kFolder, Placeholder::kBaseStem}) {
    if (parsed.uses(only)) return;
  }
  const std::vector<std::string> other = {stand_in, row[1]};
  fuzz::expect(
      replaced(parsed.expand({other, 3, 2, "o"}), stand_in, row[0]) == parsed.expand({row, 3, 2, "o"}),
      "a value is put in as it is", text);
}

/// The script itself does not depend on the values, which travel as arguments.
void check_script(const std::string& text, const std::vector<std::string>& row) {
  std::vector<std::string> problems;
  const CommandTemplate command = CommandTemplate::from_script(text, {{"", "width"}, true, true}, problems);
  if (!problems.empty()) return;
  const std::vector<std::string> other = {"x", "y"};
  const std::vector<std::string> one = command.expand({row, 3, 2, "o"});
  const std::vector<std::string> two = command.expand({other, 4, 5, "p"});
  fuzz::expect(one.size() == two.size() && one.size() >= 4, "the same number of words for every value");
  fuzz::expect(one[2] == two[2], "the script is the same for every value", text);
  for (std::size_t k = 4; k < one.size(); ++k) {
    fuzz::expect(one[2].find("${" + std::to_string(k - 3) + "}") != std::string::npos,
                 "every argument is referred to");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // What follows the first zero byte is the value.
  const std::string all(reinterpret_cast<const char*>(data), size);
  const std::size_t zero = std::min(all.find('\0'), all.size());
  const std::string text = all.substr(0, zero);
  const std::vector<std::string> row = {zero < all.size() ? all.substr(zero + 1) : "v", "w"};
  check_template(text, row);
  check_script(text, row);
  std::vector<std::string> problems;
  CommandTemplate::from_line(text, {{"", "width"}, true, true}, problems);
  return 0;
}
