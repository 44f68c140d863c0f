#include "allot/format/document.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <system_error>
#include <utility>

#include "allot/base/quote.hpp"
#include "allot/format/detail/parse.hpp"

namespace allot {
namespace {

/// Gives every node its parent and its number. Recursion is bounded by kMaxNesting.
void link(Node& node, std::uint32_t& order, std::vector<const Node*>& duplicates) {
  node.order = order++;
  if (node.is_duplicate) duplicates.push_back(&node);
  std::uint32_t slot = 0;
  const auto adopt = [&](Node& child) {
    child.parent = &node;
    child.slot = slot++;
    link(child, order, duplicates);
  };
  if (auto* array = std::get_if<Node::Array>(&node.content)) {
    for (Node& child : *array) adopt(child);
  } else if (auto* table = std::get_if<Node::Table>(&node.content)) {
    for (Entry& entry : *table) adopt(entry.value);
  }
}

/// The JSON Schema that a file names for editors is not part of its content.
Node without_schema(Node root) {
  if (auto* const table = std::get_if<Node::Table>(&root.content)) {
    const auto is_schema = [](const Entry& entry) {
      return entry.key == "$schema" && entry.value.get<std::string>();
    };
    const auto found = std::find_if(table->begin(), table->end(), is_schema);
    if (found != table->end()) table->erase(found);
  }
  return root;
}

std::unique_ptr<const Node> linked(Node root, std::vector<const Node*>& duplicates) {
  auto owned = std::make_unique<Node>(std::move(root));
  std::uint32_t order = 0;
  link(*owned, order, duplicates);
  return owned;
}

std::string path_of(const Node& node) {
  if (!node.parent) return "$";
  const bool at_top = !node.parent->parent;
  std::string prefix = at_top ? "" : path_of(*node.parent);
  if (const auto* table = node.parent->get<Node::Table>()) {
    const std::string& key = (*table)[node.slot].key;
    const std::string name = is_bare_key(key) ? key : "\"" + quote::terminal(key, 40) + "\"";
    return prefix.empty() ? name : prefix + "." + name;
  }
  return (at_top ? "$" : prefix) + "[" + std::to_string(node.slot) + "]";
}

/// Reads at most one byte more than allowed: enough to see that there are too many.
std::string read_all(std::istream& in) {
  std::string text;
  std::vector<char> buffer(std::size_t{1} << 16);
  while (text.size() <= kMaxFileBytes && in) {
    in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    text.append(buffer.data(), static_cast<std::size_t>(in.gcount()));
  }
  return text;
}

std::vector<Diagnostic> one_problem(std::string place, std::string message) {
  return {Diagnostic{std::move(place), std::move(message)}};
}

}  // namespace

const Node* Node::find(std::string_view key) const noexcept {
  const auto* table = get<Table>();
  if (!table) return nullptr;
  const auto it =
      std::find_if(table->begin(), table->end(), [&](const Entry& entry) { return entry.key == key; });
  return it == table->end() ? nullptr : &it->value;
}

Document::Document(FileFormat format, std::string source, Node root)
    : format_(format),
      source_(std::move(source)),
      root_(linked(without_schema(std::move(root)), duplicates_)) {}

std::string Document::place(const Node& node) const {
  if (format_ == FileFormat::kJson) return source_.empty() ? path_of(node) : source_ + ": " + path_of(node);
  // A table that exists only as the parent of another one has no line of its own.
  const Node* placed = &node;
  while (placed->line == 0 && placed->parent) placed = placed->parent;
  const std::string line = std::to_string(std::max<std::uint32_t>(placed->line, 1));
  return source_.empty() ? "line " + line : source_ + ":" + line;
}

std::string Document::describe(const Node& node) const {
  struct Describe {
    FileFormat format;
    std::string operator()(Node::Null) const { return "null"; }
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(std::int64_t value) const { return std::to_string(value); }
    std::string operator()(double value) const { return quote::number(value); }
    std::string operator()(const std::string& value) const { return "the string " + quote::name(value); }
    std::string operator()(Node::Date) const { return "a date or time"; }
    std::string operator()(const Node::Array& value) const {
      return value.empty() ? "an empty array" : "an array";
    }
    std::string operator()(const Node::Table&) const {
      return format == FileFormat::kToml ? "a table" : "an object";
    }
  };
  return std::visit(Describe{format_}, node.content);
}

std::string detail::text_place(const std::string& source, std::size_t line, std::size_t column) {
  const std::string at = std::to_string(line) + (source.empty() ? ", column " : ":") + std::to_string(column);
  return source.empty() ? "line " + at : source + ":" + at;
}

ReadResult<Document> parse_document(std::string_view text, FileFormat format, std::string source) {
  const std::string whole = source.empty() ? "input" : source;
  if (text.size() > kMaxFileBytes)
    return one_problem(whole, "is larger than 16 MiB; at most 16 MiB are read");
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return one_problem(whole, "is empty");
  return format == FileFormat::kToml ? detail::parse_toml(text, std::move(source))
                                     : detail::parse_json(text, std::move(source));
}

ReadResult<Document> read_document(const std::string& path) {
  if (path == "-") {
    std::string text = read_all(std::cin);
    if (std::cin.bad()) return one_problem("standard input", "cannot be read");
    return parse_document(text, FileFormat::kJson, "standard input");
  }
  std::string extension = std::filesystem::path(path).extension().string();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const std::string source = quote::terminal(path, 1000);
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return one_problem(source, "is a directory, not a file");
  if (extension != ".toml" && extension != ".json") {
    return one_problem(source, "must be a file named *.toml or *.json, or '-' for JSON from standard input");
  }
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  const auto unreadable = [&] {
    const int code = errno;
    const std::string reason = code == 0 ? "" : ": " + std::generic_category().message(code);
    return one_problem(source, "cannot be read" + reason);
  };
  if (!in) return unreadable();
  const std::string text = read_all(in);
  if (in.bad()) return unreadable();
  return parse_document(text, extension == ".toml" ? FileFormat::kToml : FileFormat::kJson, source);
}

bool is_bare_key(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

}  // namespace allot
