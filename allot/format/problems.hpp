// Collects what is wrong with a document while it is read, so that the user sees all of it at once.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allot/base/ids.hpp"
#include "allot/format/document.hpp"
#include "allot/model/rates.hpp"

namespace allot {

/// "; did you mean 'x'?" for the nearest of the names, or nothing.
std::string suggestion(std::string_view name, std::span<const std::string_view> names);

/// The problems of one document. Starts with its duplicate keys.
class Problems {
 public:
  explicit Problems(const Document& document);

  const Document& document() const noexcept { return document_; }
  void add(const Node& where, std::string message);
  bool empty() const noexcept { return found_.empty(); }
  std::size_t size() const noexcept { return found_.size() + left_out_; }
  /// The same, but only the first few hundred problems get one: the search is not cheap, and a file with more
  /// of them is not mistyped.
  std::string suggestion(std::string_view name, std::span<const std::string_view> names) const;

  /// In the order of the file. Problems beyond the first 10,000 are only counted.
  std::vector<Diagnostic> diagnostics() const;

 private:
  struct Found {
    const Node* where;
    std::string message;
  };

  const Document& document_;
  std::vector<Found> found_;
  std::size_t left_out_ = 0;
};

/// Reads a table key by key. Each function returns the value if the key is present and its value is valid,
/// and nothing otherwise. A wrong value is added to the problems; an absent key is not.
class TableReader {
 public:
  /// Reports keys that are not among `keys`. `node` may be anything; if it is not a table, that is reported
  /// (`what` names it in the message), and every key counts as absent.
  TableReader(const Node& node, std::string_view what, std::span<const std::string_view> keys,
              Problems& problems);

  const Node& node() const noexcept { return node_; }
  bool is_table() const noexcept { return node_.get<Node::Table>() != nullptr; }
  const Node* find(std::string_view key) const noexcept { return node_.find(key); }
  /// Whether the key is absent, and an unknown key was taken to mean it: what depends on it is not known.
  bool is_misnamed(std::string_view key) const;
  /// Reports that a key is missing, unless it is misnamed or this is not even a table.
  void require(std::string_view key, std::string_view meaning) const;

  std::optional<std::string> text(std::string_view key) const;
  /// A text without control characters.
  std::optional<std::string> name(std::string_view key) const;
  /// One of a few words, as its index.
  std::optional<std::size_t> word(std::string_view key, std::span<const std::string_view> words) const;
  /// A whole number from `least` to `most`. JSON has only one kind of number, so 6.0 is whole there.
  std::optional<Count> whole(std::string_view key, Count least, Count most) const;
  /// true or false.
  std::optional<bool> flag(std::string_view key) const;
  /// The elements of an array; none (and a problem) if it is not one.
  std::span<const Node> array(std::string_view key, std::string_view of_what) const;

 private:
  const Node& node_;
  Problems& problems_;
  std::vector<std::string_view> misnamed_;  ///< of the given keys
};

/// The same checks for a value that is not under a fixed key; `what` begins the message.
std::optional<std::string> read_text(const Node& node, const std::string& what, Problems& problems);
/// Seconds: a number >= 0, or a text such as "10m".
std::optional<double> read_seconds(const Node& node, const std::string& what, Problems& problems);
std::optional<bool> read_flag(const Node& node, const std::string& what, Problems& problems);
std::optional<std::size_t> read_word(const Node& node, std::string_view key,
                                     std::span<const std::string_view> words, Problems& problems);
std::optional<Count> read_whole(const Node& node, const std::string& what, Count least, Count most,
                                Problems& problems);
std::optional<double> read_number(const Node& node, const std::string& what, Problems& problems);

/// The number at this node; nothing for values of another kind. Never negative zero.
std::optional<Count> any_whole(const Node& node, const Document& document);
std::optional<double> any_number(const Node& node);

}  // namespace allot
