#include "allot/format/document.hpp"

#include <gmock/gmock.h>

#include <string>

namespace allot {
namespace {

using ::testing::StartsWith;

Document parse(std::string_view text, FileFormat format, std::string source = {}) {
  auto parsed = parse_document(text, format, std::move(source));
  if (!parsed) throw std::runtime_error(to_string(parsed.diagnostics().front()));
  return std::move(parsed).value();
}

std::string problem(std::string_view text, FileFormat format) {
  const auto parsed = parse_document(text, format, "f");
  return parsed ? "none" : to_string(parsed.diagnostics().front());
}

std::string repeated(std::size_t times, const std::string& what) {
  std::string out;
  while (times-- > 0) out += what;
  return out;
}

TEST(Document, KnowsTheLineOfEveryTomlValue) {
  const Document document =
      parse("a = 1\n[b]\nc = [\n  1,\n  { d = 2 }\n]\n[[e]]\nf.g = 3\n[[e]]\n", FileFormat::kToml, "x.toml");
  const Node& root = document.root();
  EXPECT_EQ(document.place(root), "x.toml:1");
  EXPECT_EQ(document.place(*root.find("b")), "x.toml:2");
  const Node& c = *root.find("b")->find("c");
  EXPECT_EQ(document.place(c), "x.toml:3");
  const auto& elements = *c.get<Node::Array>();
  EXPECT_EQ(document.place(elements[0]), "x.toml:4");
  EXPECT_EQ(document.place(*elements[1].find("d")), "x.toml:5");
  const auto& e = *root.find("e")->get<Node::Array>();
  EXPECT_EQ(document.place(*e[0].find("f")->find("g")), "x.toml:8");
  EXPECT_EQ(document.place(e[1]), "x.toml:9");
}

TEST(Document, KnowsThePathOfEveryJsonValue) {
  const Document document =
      parse(R"({"tasks": [{}, {"rates": {"gpu": 1, "my gpu": 2}}]})", FileFormat::kJson, "x.json");
  const Node& rates = *(*document.root().find("tasks")->get<Node::Array>())[1].find("rates");
  EXPECT_EQ(document.place(document.root()), "x.json: $");
  EXPECT_EQ(document.place(*rates.find("gpu")), "x.json: tasks[1].rates.gpu");
  EXPECT_EQ(document.place(*rates.find("my gpu")), "x.json: tasks[1].rates.\"my gpu\"");
  const Document array = parse("[[5]]", FileFormat::kJson);
  EXPECT_EQ(array.place((*(*array.root().get<Node::Array>())[0].get<Node::Array>())[0]), "$[0][0]");
}

TEST(Document, KeepsTheOrderOfTheFile) {
  for (const FileFormat format : {FileFormat::kToml, FileFormat::kJson}) {
    const Document document =
        parse(format == FileFormat::kToml ? "z = 1\nm = 2\na = 3\n" : R"({"z":1,"m":2,"a":3})", format);
    std::string keys;
    for (const Entry& entry : *document.root().get<Node::Table>()) keys += entry.key;
    EXPECT_EQ(keys, "zma");
  }
}

TEST(Document, ReadsEveryKindOfValue) {
  const Document toml = parse("b = true\ni = 0x10\nf = 1.5\ns = 'x'\nd = 1979-05-27\nt = 07:32:00\nn = nan\n",
                              FileFormat::kToml);
  EXPECT_EQ(*toml.root().find("b")->get<bool>(), true);
  EXPECT_NE(toml.root().find("d")->get<Node::Date>(), nullptr);
  EXPECT_NE(toml.root().find("t")->get<Node::Date>(), nullptr);
  EXPECT_EQ(*toml.root().find("f")->get<double>(), 1.5);
  const Document json = parse(R"({"n": null, "i": -9223372036854775808, "u": 9223372036854775808, "f": 6.0})",
                              FileFormat::kJson);
  EXPECT_NE(json.root().find("n")->get<Node::Null>(), nullptr);
  EXPECT_EQ(*json.root().find("i")->get<std::int64_t>(), INT64_MIN);
  EXPECT_EQ(*json.root().find("u")->get<double>(), 0x1p63);
  EXPECT_EQ(*json.root().find("f")->get<double>(), 6.0);
  EXPECT_EQ(json.root().find("x"), nullptr);
}

TEST(Document, AllowsSixtyFourLevelsAndNotOneMore) {
  const auto json = [](std::size_t depth) { return repeated(depth, "[") + repeated(depth, "]"); };
  EXPECT_EQ(problem(json(64), FileFormat::kJson), "none");
  EXPECT_EQ(problem(json(65), FileFormat::kJson), "f: $: is nested more than 64 levels deep");
  const auto toml = [&](std::size_t depth) { return "a = " + json(depth - 1); };
  EXPECT_EQ(problem(toml(64), FileFormat::kToml), "none");
  EXPECT_EQ(problem(toml(65), FileFormat::kToml), "f:1: is nested more than 64 levels deep");
  const auto dotted = [](std::size_t depth) { return "a" + repeated(depth - 1, ".a") + " = 1"; };
  EXPECT_EQ(problem(dotted(64), FileFormat::kToml), "none");
  EXPECT_EQ(problem(dotted(65), FileFormat::kToml), "f:1: is nested more than 64 levels deep");
}

TEST(Document, SurvivesNestingAsDeepAsAFileCanBe) {
  constexpr std::size_t many = kMaxFileBytes / 2 - 16;
  EXPECT_THAT(problem(repeated(many, "[["), FileFormat::kJson), StartsWith("f: $: is nested"));
  EXPECT_THAT(problem("a = " + repeated(many, "[["), FileFormat::kToml), StartsWith("f:1: is nested"));
  EXPECT_THAT(problem("a" + repeated(many, ".a") + " = 1", FileFormat::kToml), StartsWith("f:1: is nested"));
  EXPECT_THAT(problem("[a" + repeated(many, ".a") + "]", FileFormat::kToml), StartsWith("f:1: is nested"));
  EXPECT_NE(problem("[x]\n" + repeated(many / 4, "a.a.a ="), FileFormat::kToml), "none");
}

TEST(Document, IsNotMisledByBracketsAndDotsInStringsAndComments) {
  const std::string brackets = repeated(100, "[{.");
  EXPECT_EQ(problem("a = \"" + brackets + "\\\"" + brackets + "\"\n", FileFormat::kToml), "none");
  EXPECT_EQ(problem("a = '" + brackets + "\\'\n# " + brackets + "\nb = 1.5\n", FileFormat::kToml), "none");
  EXPECT_EQ(
      problem("a = \"\"\"\n" + brackets + "\"\" \\\"\"\"" + "x\"\"\"\"\"\nb = '''\n'" + brackets + "''''\n",
              FileFormat::kToml),
      "none");
  EXPECT_EQ(problem("a = [" + repeated(100, "1.5,\n") + "]\n", FileFormat::kToml), "none");
  EXPECT_EQ(problem(repeated(100, "[[a.b]]\n"), FileFormat::kToml), "none");
}

/// Texts on which the parsers underneath once broke.
TEST(Document, RefusesWhatTheTomlParserTakesForGranted) {
  for (const std::string text :
       {"[!]", "[\xC3\xA9]", "a = 1\xC3\xA9", "\xC3\xA9\"]", "[a]\xC3\xA9", "a = \"\"\"\\\xC3\xA9\"\"\""}) {
    EXPECT_THAT(problem(text, FileFormat::kToml), StartsWith("f:1:")) << text;
  }
  EXPECT_THAT(problem(std::string("[\0\0", 3), FileFormat::kToml), StartsWith("f:1:"));
  EXPECT_EQ(problem("a = \"\"\"x \\\n  \xC3\xA9\"\"\"", FileFormat::kToml), "none");
}

TEST(Document, ListsDuplicateKeys) {
  const Document document = parse(R"({"a": 1, "b": {"c": 1, "c": 2}, "a": 3})", FileFormat::kJson);
  ASSERT_EQ(document.duplicates().size(), 2u);
  EXPECT_EQ(document.place(*document.duplicates()[0]), "b.c");
  EXPECT_EQ(document.place(*document.duplicates()[1]), "a");
  EXPECT_EQ(*document.root().find("a")->get<std::int64_t>(), 1);
}

TEST(Document, KeepsItsNodesWhenMoved) {
  Document document = parse("a = [1]", FileFormat::kToml);
  const Node* const root = &document.root();
  const Document moved = std::move(document);
  EXPECT_EQ(&moved.root(), root);
  EXPECT_EQ(root->find("a")->parent, root);
}

}  // namespace
}  // namespace allot
