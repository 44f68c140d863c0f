// One small tree for TOML and JSON, in which every value knows its place.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "allot/format/diagnostic.hpp"

namespace allot {

enum class FileFormat { kToml, kJson };

struct Entry;

/// A value of a document. Belongs to its Document, which it must not outlive.
class Node {
 public:
  struct Null {};  ///< JSON only
  struct Date {};  ///< a TOML date or time: no key accepts one, so its value is not kept
  using Array = std::vector<Node>;
  using Table = std::vector<Entry>;  ///< in the order of the file
  using Content = std::variant<Null, bool, std::int64_t, double, std::string, Date, Array, Table>;

  Content content;

  /// Null unless the value is of that kind.
  template <typename T>
  const T* get() const noexcept {
    return std::get_if<T>(&content);
  }
  /// The value of a key of a table; null if this is not a table or has no such key. Linear in the keys.
  const Node* find(std::string_view key) const noexcept;

  const Node* parent = nullptr;  ///< null for the root
  std::uint32_t slot = 0;        ///< which element or entry of the parent this is
  std::uint32_t order = 0;       ///< position in the document; 0 for the root
  std::uint32_t line = 0;        ///< from 1; 0 in JSON
  bool is_duplicate = false;  ///< its key came before in the same table: JSON only, TOML refuses to parse it
};

struct Entry {
  std::string key;
  Node value;
};

/// A parsed file. Movable; nodes keep their addresses.
class Document {
 public:
  Document(FileFormat format, std::string source, Node root);

  const Node& root() const noexcept { return *root_; }
  FileFormat format() const noexcept { return format_; }
  const std::string& source() const noexcept { return source_; }

  /// The nodes with a duplicate key, in order; the reader of the document reports them.
  const std::vector<const Node*>& duplicates() const noexcept { return duplicates_; }

  /// The place of a node, as in a Diagnostic.
  std::string place(const Node& node) const;
  /// What kind of value it is, in a user's words: `a string`, `the number -3`, `a table` (JSON: `an object`).
  std::string describe(const Node& node) const;

 private:
  FileFormat format_;
  std::string source_;
  std::vector<const Node*> duplicates_;
  std::unique_ptr<const Node> root_;
};

inline constexpr std::size_t kMaxFileBytes = std::size_t{16} << 20;
inline constexpr std::size_t kMaxNesting = 64;

/// Parses a text. `source` names it in places; it may be empty. The root of TOML is a table, of JSON
/// anything. A text under the key `$schema` of the root is for editors and is left out. Problems: broken
/// syntax (the first only, for then the rest has no meaning), numbers out of range, invalid UTF-8, more than
/// kMaxNesting levels, more than kMaxFileBytes, an empty text. Thread-safe.
ReadResult<Document> parse_document(std::string_view text, FileFormat format, std::string source = {});

/// Reads and parses a file: `.toml` or `.json`, by its extension; `-` is JSON from standard input.
ReadResult<Document> read_document(const std::string& path);

/// Whether a key needs no quotes in TOML and in the path of a diagnostic.
bool is_bare_key(std::string_view key);

}  // namespace allot
