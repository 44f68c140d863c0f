// The one exception the library throws: a model that cannot exist.
#pragma once

#include <stdexcept>
#include <string>

namespace allot {

/// Impossible input to a constructor or an option that cannot be honoured. `field` names the offending
/// entry in the reader's terms, such as `tasks[2].rates.gpu`.
class InvalidModel : public std::invalid_argument {
 public:
  InvalidModel(std::string field, const std::string& problem)
      : std::invalid_argument(field + ": " + problem), field_(std::move(field)) {}
  const std::string& field() const noexcept { return field_; }

 private:
  std::string field_;
};

}  // namespace allot
