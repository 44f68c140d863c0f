#include "allot/jobs/command.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <random>
#include <string>
#include <vector>

namespace allot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const TemplateScope kScope{{""}, true, true};

CommandTemplate script(const std::string& text) {
  std::vector<std::string> problems;
  CommandTemplate command = CommandTemplate::from_script(text, kScope, problems);
  EXPECT_THAT(problems, IsEmpty()) << text;
  return command;
}

std::vector<std::string> problems_of(const std::string& text) {
  std::vector<std::string> problems;
  CommandTemplate::from_script(text, kScope, problems);
  return problems;
}

/// What the command writes when it is run.
std::string output_of(const CommandTemplate& command, const std::string& input, const std::string& out = {}) {
  const std::vector<std::string> columns = {input};
  std::vector<std::string> words = command.expand({columns, 7, 1, out});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[0]);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t size = 0; (size = ::read(ends[0], buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(size));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << words[2] << " with " << input;
  return text;
}

TEST(Command, IsOneWordForEachWordWhateverTheValues) {
  std::vector<std::string> problems;
  const CommandTemplate command =
      CommandTemplate::from_words({"convert", "{}", "-o", "{out}"}, kScope, problems);
  EXPECT_THAT(problems, IsEmpty());
  const std::vector<std::string> columns = {"a b; rm -rf $HOME"};
  EXPECT_THAT(command.expand({columns, 1, 0, "x y"}),
              ElementsAre("convert", "a b; rm -rf $HOME", "-o", "x y"));
  EXPECT_EQ(command.source(), "convert {} -o {out}");
  EXPECT_TRUE(command.uses(Placeholder::kOutput));
}

TEST(Command, GivenAsALineIsSplitBeforeValuesArePutIn) {
  std::vector<std::string> problems;
  const CommandTemplate command = CommandTemplate::from_line("grep 'two words' {}", kScope, problems);
  EXPECT_THAT(problems, IsEmpty());
  const std::vector<std::string> columns = {"my file"};
  EXPECT_THAT(command.expand({columns, 1, 0, {}}), ElementsAre("grep", "two words", "my file"));
}

TEST(Command, NeedsAProgram) {
  std::vector<std::string> problems;
  CommandTemplate::from_words({}, kScope, problems);
  CommandTemplate::from_line("  ", kScope, problems);
  CommandTemplate::from_words({"", "x"}, kScope, problems);
  CommandTemplate::from_script(" \n", kScope, problems);
  EXPECT_EQ(problems.size(), 4U);
}

TEST(Script, RefersToItsValuesAsArguments) {
  const CommandTemplate command = script("cat {} {} > {out}");
  const std::vector<std::string> columns = {"in"};
  EXPECT_THAT(command.expand({columns, 1, 0, "tmp"}),
              ElementsAre("sh", "-c", R"(cat "${1}" "${1}" > "${2}")", "allot", "in", "tmp"));
}

TEST(Script, LeavesToTheShellWhatIsTheShells) {
  EXPECT_EQ(script("x=${HOME} # don't {care}\necho $x").words()[2].source(),
            "x=${HOME} # don't {care}\necho $x");
  EXPECT_EQ(output_of(script("f() {{ echo \"<$1>\"; }}; f {}"), "a b"), "<a b>\n");
  EXPECT_EQ(output_of(script("echo $((2 * (3 + 4))) {}"), "x"), "14 x\n");
  EXPECT_EQ(output_of(script("printf %s 'awk {{print}}'"), "x"), "awk {print}");
  EXPECT_EQ(output_of(script("case {} in a) echo A;; *) echo other;; esac"), "a"), "A\n");
  EXPECT_EQ(output_of(script("( echo {}; ) | cat"), "x  y"), "x  y\n");
}

// Every place in which a placeholder may stand gets the value whole, and nothing of it is executed.
TEST(Script, PassesAnyValueUnharmed) {
  const std::vector<std::string> scripts = {
      "printf %s {}",
      "printf %s \"{}\"",
      "printf '%s' \"\"{}\"\"",
      "printf %s \"$(printf %s {})\"",
      "printf %s \"$(printf %s \"{}\")\"",
      "x={}; printf %s \"$x\"",
      "if true; then printf %s {}; fi # it's {}",
      "printf %s {} \\\n | cat",
      "set -- {} b; printf %s \"$1\"",
  };
  std::vector<std::string> values = {
      "plain",       "a b",   "it's",     "\"quoted\"", "$(echo no)",  "`echo no`",     "; exit 1", "a\nb",
      "*",           "$HOME", "${1}",     "\\",         "'; false; '", "\"; false; \"", "-n",       "{}",
      "a[$(false)]", "~",     "&& false", "#"};
  std::mt19937 random(5);
  for (int k = 0; k < 40; ++k) {
    std::string value = "v";
    for (int length = static_cast<int>(random() % 12); length > 0; --length) {
      value += static_cast<char>(1 + random() % 126);
    }
    values.push_back(value + ".");  // $(...) drops line ends at the end
  }
  for (const std::string& text : scripts) {
    const CommandTemplate command = script(text);
    for (const std::string& value : values) EXPECT_EQ(output_of(command, value), value) << text;
  }
}

TEST(Script, RefusesPlaceholdersWhereTheirValueWouldBeLostOrReadAsCode) {
  EXPECT_THAT(problems_of("echo '{}'"), ElementsAre(HasSubstr("single quotes; use double quotes")));
  EXPECT_THAT(problems_of("echo \"$(echo '{}')\""), ElementsAre(HasSubstr("single quotes")));
  EXPECT_THAT(problems_of("echo `cat {}`"), ElementsAre(HasSubstr("backquotes; use $(...)")));
  EXPECT_THAT(problems_of("echo `a \\`b\\` c`"), ::testing::Not(IsEmpty()));
  EXPECT_THAT(problems_of("echo $(( {} + 1 ))"), ElementsAre(HasSubstr("$((...))")));
  EXPECT_THAT(problems_of("(( {} ))"), ::testing::Not(IsEmpty()));
  EXPECT_THAT(problems_of("echo $[ {} ]"), ::testing::Not(IsEmpty()));
  EXPECT_THAT(problems_of("echo ${x:-{}}"), ::testing::Not(IsEmpty()));
  EXPECT_THAT(problems_of("echo ${}"), ::testing::Not(IsEmpty()));
  EXPECT_THAT(problems_of("echo \\{}"), ElementsAre(HasSubstr("backslash")));
  EXPECT_THAT(problems_of("echo \"\\{}\""), ElementsAre(HasSubstr("backslash")));
  EXPECT_THAT(problems_of("cat <<EOF\n{}\nEOF"), ElementsAre(HasSubstr("here-documents")));
  EXPECT_THAT(problems_of("echo $'{}'"), ::testing::Not(IsEmpty()));
  EXPECT_THAT(problems_of("echo $(case x in a) echo {};; esac)"), ElementsAre(HasSubstr("'case'")));
  EXPECT_THAT(problems_of("echo \\\\{}"), IsEmpty());
}

TEST(Script, NeedsItsQuotesClosed) {
  for (const char* const text : {"echo 'a", "echo \"a", "echo $(a", "echo `a", "echo ${a", "echo $((1"}) {
    EXPECT_EQ(problems_of(text).size(), 1U) << text;
  }
}

TEST(Script, NamesUnknownPlaceholdersOnce) {
  const std::vector<std::string> problems = problems_of("echo {file} {file} }");
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_THAT(problems[0], HasSubstr("unknown placeholder '{file}'"));
  EXPECT_THAT(problems[1], HasSubstr("'}' without its counterpart"));
}

}  // namespace
}  // namespace allot
