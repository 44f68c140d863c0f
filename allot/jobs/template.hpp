// Texts with placeholders: parsed once when the job file is read, and expanded for every task.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace allot {

/// The meaning of a placeholder. The first five use the first column of the input, or a column named `from`
/// or `from.NAME`: {from} {from.} {from/} {from//} {from/.}
enum class Placeholder {
  kInput,     ///< {}    the value unchanged
  kNoSuffix,  ///< {.}   without its extension
  kBase,      ///< {/}   the part after the last slash
  kFolder,    ///< {//}  the part before the last slash; "." if there is none
  kBaseStem,  ///< {/.}  {/} without its extension
  kNumber,    ///< {#}   number of the task within the job, from 1
  kSlot,      ///< {%}   slot on its resource, from 0
  kSlots,     ///< {%%}  all of its slots there: "0,1,2"
  kSlotsOf,   ///< {%name} the slots that it holds on that resource, by `column`; empty if it holds none
  kOutput,    ///< {out} the path that the task must write
  kColumn,    ///< {name} a column of the input, by name
};

/// The names that a template may refer to.
struct TemplateScope {
  std::vector<std::string> columns;  ///< names of the input's columns; an empty name cannot be referred to
  bool has_output = false;           ///< whether {out} is defined
  bool has_slot = true;  ///< whether {%} is defined: not if a path must be the same on every resource
  std::vector<std::string> resources = {};  ///< resources whose slots can be referred to, if {%} is defined
};

/// The values of the placeholders in one attempt. Views: must outlive the call that they are passed to.
struct TemplateValues {
  std::span<const std::string> columns;  ///< of the input, one per entry of TemplateScope::columns
  std::uint64_t number = 0;
  std::uint64_t slot = 0;
  std::string_view output;
  std::string_view slots = {};                 ///< of its own resource, as a list
  std::span<const std::string> slots_of = {};  ///< the same by resource
};

/// A parsed text with placeholders. A plain value; the empty template is the empty text.
class Template {
 public:
  struct Part {
    std::string text;  ///< literal text before the placeholder
    bool has_placeholder = false;
    Placeholder placeholder = Placeholder::kInput;
    std::size_t column = 0;  ///< for kColumn and the path forms
    friend bool operator==(const Part&, const Part&) = default;
  };

  Template() = default;
  /// A text in which braces have no meaning.
  static Template literal(std::string text);
  /// Finds the placeholders; `{{` and `}}` stand for braces. Appends one line to `problems` for each unknown
  /// placeholder, naming the known ones, and for each unmatched brace.
  static Template parse(std::string_view text, const TemplateScope& scope,
                        std::vector<std::string>& problems);
  /// From parts found by other code; `source` is the result of source().
  static Template from_parts(std::vector<Part> parts, std::string source);

  std::string expand(const TemplateValues& values) const;

  /// The original text.
  const std::string& source() const noexcept { return source_; }
  std::span<const Part> parts() const noexcept { return parts_; }
  /// Whether the placeholder occurs in it, with any column.
  bool uses(Placeholder placeholder) const noexcept;

  friend bool operator==(const Template&, const Template&) = default;

 private:
  std::vector<Part> parts_;
  std::string source_;
};

/// The value of one placeholder.
std::string placeholder_value(Placeholder placeholder, std::size_t column, const TemplateValues& values);

/// The placeholders of a scope in the user's notation: "{} {.} {/} {//} {/.} {#} {%} {name}".
std::string known_placeholders(const TemplateScope& scope);

/// Resolves the text between the braces of a placeholder; false if the scope does not know it.
bool find_placeholder(std::string_view name, const TemplateScope& scope, Placeholder& placeholder,
                      std::size_t& column);

}  // namespace allot
