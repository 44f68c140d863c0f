// Parses JSON by events, which show duplicate keys and nesting as they occur.
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <utility>

#include "allot/base/quote.hpp"
#include "allot/format/detail/parse.hpp"

namespace allot::detail {
namespace {

using Json = nlohmann::json;

/// Builds the tree. `open_` holds the containers that are not closed yet: a container grows only while it is
/// the innermost one, so the addresses of the others stay.
class Builder {
 public:
  explicit Builder(std::string_view text) : text_(text) {}

  bool null() { return put(Node::Null{}); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(std::int64_t value) { return put(value); }
  bool number_unsigned(std::uint64_t value) {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return put(static_cast<double>(value));
    }
    return put(static_cast<std::int64_t>(value));
  }
  bool number_float(double value, const std::string&) { return put(value); }
  bool string(std::string& value) { return put(std::move(value)); }
  bool binary(Json::binary_t&) { return false; }

  bool start_object(std::size_t) { return open(Node::Table{}); }
  bool key(std::string& value) {
    key_ = std::move(value);
    is_duplicate_ = !open_.back().keys.insert(key_).second;
    return true;
  }
  bool end_object() { return close(); }
  bool start_array(std::size_t) { return open(Node::Array{}); }
  bool end_array() { return close(); }

  bool parse_error(std::size_t position, const std::string&, const Json::exception& error) {
    std::string message = error.what();
    // The library begins with an id in brackets, and mostly with a line and column of its own.
    std::size_t start = message.find("] ");
    const std::size_t own_place = message.find(", column ");
    if (own_place != std::string::npos) start = message.find(": ", own_place);
    if (start != std::string::npos) message.erase(0, start + 2);
    fail(position == 0 ? 0 : position - 1, "not valid JSON: " + quote::terminal(message, 300));
    return false;
  }

  Node root;
  std::size_t error_line = 0, error_column = 0;
  std::string error_message;

 private:
  struct Open {
    Node* node;
    std::unordered_set<std::string> keys;
  };

  void fail(std::size_t offset, std::string message) {
    error_line = error_column = 1;
    for (const char c : text_.substr(0, offset)) {
      error_column = c == '\n' ? 1 : error_column + ((c & 0xC0) == 0x80 ? 0 : 1);
      error_line += c == '\n' ? 1 : 0;
    }
    error_message = std::move(message);
  }

  Node* place_for(Node::Content content) {
    if (open_.empty()) {
      root.content = std::move(content);
      return &root;
    }
    Node& parent = *open_.back().node;
    Node child;
    child.content = std::move(content);
    if (auto* array = std::get_if<Node::Array>(&parent.content))
      return &array->emplace_back(std::move(child));
    auto& table = std::get<Node::Table>(parent.content);
    child.is_duplicate = std::exchange(is_duplicate_, false);
    return &table.emplace_back(Entry{std::move(key_), std::move(child)}).value;
  }

  bool put(Node::Content content) {
    place_for(std::move(content));
    return true;
  }

  bool open(Node::Content content) {
    if (open_.size() >= kMaxNesting) {
      error_message = "is nested more than " + std::to_string(kMaxNesting) + " levels deep";
      return false;
    }
    Node* const node = place_for(std::move(content));
    open_.push_back({node, {}});
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  std::vector<Open> open_;
  std::string key_;
  bool is_duplicate_ = false;
};

}  // namespace

ReadResult<Document> parse_json(std::string_view text, std::string source) {
  Builder builder(text);
  if (!Json::sax_parse(text.begin(), text.end(), &builder)) {
    const std::string root_place = source.empty() ? "$" : source + ": $";
    return std::vector<Diagnostic>{
        {builder.error_line == 0 ? root_place : text_place(source, builder.error_line, builder.error_column),
         builder.error_message}};
  }
  return Document(FileFormat::kJson, std::move(source), std::move(builder.root));
}

}  // namespace allot::detail
