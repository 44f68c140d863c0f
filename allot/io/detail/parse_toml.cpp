// TOML through toml++, compiled here only, without exceptions.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "allot/io/detail/parse.hpp"
#include "allot/io/detail/text.hpp"

// toml++ states as assertions what malformed text can break ("[!]" is enough), before the branches that
// report it. In debug builds they would abort, in release builds they are assumptions that let the compiler
// drop those branches. So it is compiled without either, whatever the build.
#undef NDEBUG
#define TOML_ASSERT(condition) static_assert(true)
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace allot::detail {
namespace {

std::vector<Diagnostic> too_deep(const std::string& source, std::size_t line) {
  const std::string place =
      source.empty() ? "line " + std::to_string(line) : source + ":" + std::to_string(line);
  return {{place, "is nested more than " + std::to_string(kMaxNesting) + " levels deep"}};
}

/// Walks over the text as the parser will, strings and comments aside, and measures how deep brackets and
/// dotted keys nest: the parser itself bounds brackets only, and destroys its tree by recursion. Returns the
/// line where a value is nested too deep, or 0. Beyond a syntax error the answer has no meaning, but nor has
/// the text.
class NestingScan {
 public:
  explicit NestingScan(std::string_view text) : text_(text) {}

  std::size_t line_too_deep() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"' || c == '\'') {
        skip_string(c);
        continue;
      }
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
        continue;
      }
      ++at_;
      if (c == '\n') ++line_;
      if (c == '[' || c == '{') dots_.push_back(0);
      if ((c == ']' || c == '}') && dots_.size() > 1) depth_ -= dots_.back() + 1, dots_.pop_back();
      if (c == '[' || c == '{') ++depth_;
      if (c == '.') ++dots_.back(), ++depth_;
      if (c == ',' || c == '\n') depth_ -= dots_.back(), dots_.back() = 0;
      if (depth_ > kMaxNesting) return line_;
    }
    return 0;
  }

 private:
  void skip_string(char quote) {
    const std::string_view rest = text_.substr(at_);
    const bool is_long = rest.size() >= 3 && rest[1] == quote && rest[2] == quote;
    at_ += is_long ? 3 : 1;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n' && !is_long) return;
      if (c == '\n') ++line_;
      if (c == '\\' && quote == '"' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n') {
        at_ += 2;
        continue;
      }
      if (c == quote && !is_long) {
        ++at_;
        return;
      }
      if (c == quote && text_.substr(at_, 3) == std::string(3, quote)) {
        at_ += 3;
        // Up to two more quotes belong to the string.
        for (int more = 0; more < 2 && at_ < text_.size() && text_[at_] == quote; ++more) ++at_;
        return;
      }
      ++at_;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t depth_ = 0;
  std::vector<std::size_t> dots_{0};
};

/// Raised by the conversion: tables under headers can nest deeper than any one line of text shows.
struct Converter {
  std::size_t line_too_deep = 0;

  Node convert(const toml::node& from, std::size_t depth) {
    Node node;
    node.line = from.source().begin.line;
    if (const auto* table = from.as_table()) {
      node.content = entries(*table, depth);
      // The line of an inline table is its own, that of an implicit one the first of its content.
      for (const Entry& entry : std::get<Node::Table>(node.content)) {
        if (node.line == 0) node.line = entry.value.line;
      }
    } else if (const auto* array = from.as_array()) {
      Node::Array elements;
      if (enter(node, depth)) {
        elements.reserve(array->size());
        for (const toml::node& element : *array) elements.push_back(convert(element, depth + 1));
      }
      node.content = std::move(elements);
    } else if (const auto* string = from.as_string()) {
      node.content = string->get();
    } else if (const auto* integer = from.as_integer()) {
      node.content = integer->get();
    } else if (const auto* number = from.as_floating_point()) {
      node.content = number->get();
    } else if (const auto* boolean = from.as_boolean()) {
      node.content = boolean->get();
    } else {
      node.content = Node::Date{};
    }
    return node;
  }

 private:
  bool enter(const Node& node, std::size_t depth) {
    if (depth < kMaxNesting) return true;
    if (line_too_deep == 0) line_too_deep = std::max<std::size_t>(node.line, 1);
    return false;
  }

  /// In the order of the file; toml++ keeps keys sorted.
  Node::Table entries(const toml::table& table, std::size_t depth) {
    struct Item {
      const toml::key* key;
      const toml::node* value;
    };
    Node here;
    here.line = table.source().begin.line;
    if (!enter(here, depth)) return {};
    std::vector<Item> items;
    items.reserve(table.size());
    for (auto&& [key, value] : table) items.push_back({&key, &value});
    std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
      const auto& p = a.key->source().begin;
      const auto& q = b.key->source().begin;
      return p.line != q.line ? p.line < q.line : p.column < q.column;
    });
    Node::Table out;
    out.reserve(items.size());
    for (const Item& item : items) {
      Node value = convert(*item.value, depth + 1);
      if (value.line == 0) value.line = item.key->source().begin.line;
      out.push_back(Entry{std::string(item.key->str()), std::move(value)});
    }
    return out;
  }
};

}  // namespace

ReadResult<Document> parse_toml(std::string_view text, std::string source) {
  if (const std::size_t line = NestingScan(text).line_too_deep()) return too_deep(source, line);
  const toml::parse_result result = toml::parse(text);
  if (!result) {
    const auto& begin = result.error().source().begin;
    return std::vector<Diagnostic>{{text_place(source, begin.line, begin.column),
                                    "not valid TOML: " + printable(result.error().description(), 300)}};
  }
  Converter converter;
  Node root = converter.convert(result.table(), 0);
  root.line = 1;
  if (converter.line_too_deep != 0) return too_deep(source, converter.line_too_deep);
  return Document(FileFormat::kToml, std::move(source), std::move(root));
}

}  // namespace allot::detail
