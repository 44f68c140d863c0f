// Texts with placeholders: parsed once, when the job file is read, and filled in for every task.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace allot {

/// What a placeholder means. The first five use the first column of the input, or one that is called
/// `from` or `from.NAME`: {from} {from.} {from/} {from//} {from/.}
enum class Placeholder {
  kInput,     ///< {}    the value as it is
  kNoSuffix,  ///< {.}   without its extension
  kBase,      ///< {/}   what follows the last slash
  kFolder,    ///< {//}  what precedes the last slash; "." when there is none
  kBaseStem,  ///< {/.}  {/} without its extension
  kNumber,    ///< {#}   number of the task within the job, from 1
  kSlot,      ///< {%}   slot on its resource, from 0
  kSlots,     ///< {%%}  all of its slots there: "0,1,2"
  kSlotsOf,   ///< {%name} the slots of that resource that it holds, by `column`; empty where it holds none
  kOutput,    ///< {out} path that the task is to write
  kColumn,    ///< {name} a column of the input by its name
};

/// What a template may refer to.
struct TemplateScope {
  std::vector<std::string> columns;  ///< names of the input's columns; an empty name cannot be referred to
  bool has_output = false;           ///< whether {out} means something
  bool has_slot = true;  ///< whether {%} does: not where a path must be the same on every resource
  std::vector<std::string> resources = {};  ///< whose slots can be referred to, where {%} means something
};

/// The values of the placeholders in one attempt. Views: must outlive the call they are given to.
struct TemplateValues {
  std::span<const std::string> columns;  ///< of the input, as many as TemplateScope::columns
  std::uint64_t number = 0;
  std::uint64_t slot = 0;
  std::string_view output;
  std::string_view slots = {};                 ///< of its own resource, as a list
  std::span<const std::string> slots_of = {};  ///< the same by resource
};

/// A text with its placeholders found. A plain value; the empty template is the empty text.
class Template {
 public:
  struct Part {
    std::string text;  ///< comes first, as it is
    bool has_placeholder = false;
    Placeholder placeholder = Placeholder::kInput;
    std::size_t column = 0;  ///< of kColumn and of the forms of a path
    friend bool operator==(const Part&, const Part&) = default;
  };

  Template() = default;
  /// A text in which braces mean nothing.
  static Template literal(std::string text);
  /// Finds the placeholders; `{{` and `}}` stand for braces. Appends one line to `problems` for each that is
  /// unknown, naming those that are known, and for each brace without its counterpart.
  static Template parse(std::string_view text, const TemplateScope& scope,
                        std::vector<std::string>& problems);
  /// From parts that somebody else found; `source` is what source() gives.
  static Template from_parts(std::vector<Part> parts, std::string source);

  std::string expand(const TemplateValues& values) const;

  /// As it was written.
  const std::string& source() const noexcept { return source_; }
  std::span<const Part> parts() const noexcept { return parts_; }
  /// Whether this placeholder, with any column, occurs in it.
  bool uses(Placeholder placeholder) const noexcept;

  friend bool operator==(const Template&, const Template&) = default;

 private:
  std::vector<Part> parts_;
  std::string source_;
};

/// The value of one placeholder.
std::string placeholder_value(Placeholder placeholder, std::size_t column, const TemplateValues& values);

/// The placeholders of a scope as a user writes them: "{} {.} {/} {//} {/.} {#} {%} {name}".
std::string known_placeholders(const TemplateScope& scope);

/// Resolves the text between the braces of a placeholder; false if the scope does not know it.
bool find_placeholder(std::string_view name, const TemplateScope& scope, Placeholder& placeholder,
                      std::size_t& column);

}  // namespace allot
