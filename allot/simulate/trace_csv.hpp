// Events of a simulation as comma-separated values, for spreadsheets and scripts.
#pragma once

#include <fstream>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "allot/model/system.hpp"
#include "allot/simulate/trace.hpp"

namespace allot {

/// Writes one line per event: `time,event,task,thread,type,resource,size,response`, and with several policies
/// in one file a last column `policy`. Types and resources are names, quoted if necessary (RFC 4180);
/// times in seconds; numbers are exact, the shortest text that reads back as the same double; `response` is
/// empty except for `complete`. After a failed write, nothing more is written: see `error`. Not thread-safe.
class TraceCsv final : public TraceSink {
 public:
  /// Writes the header at the first flush. `out` must outlive this.
  TraceCsv(std::ostream& out, const System& system, bool with_policy = false);

  void begin(std::string_view policy) override;
  void event(const TraceEvent& event) override;

  /// Writes buffered lines. Call it at the end: the destructor does not.
  void flush();
  /// The error number of the first failed write, or 0.
  int error() const noexcept { return error_; }

 private:
  std::ostream* out_;
  std::vector<std::string> types_;
  std::vector<std::string> resources_;
  bool with_policy_;
  std::string policy_;
  std::string buffer_;
  int error_ = 0;
};

/// The same into its own file. Without a path it does nothing.
class TraceFile {
 public:
  /// Throws std::system_error, with the path, if the file cannot be opened.
  TraceFile(std::string path, const System& system, bool with_policy);
  TraceSink* sink() noexcept { return csv_ ? &*csv_ : nullptr; }
  /// Throws std::system_error, with the path, if not everything could be written. Call it at the end: the
  /// destructor does not.
  void close();

 private:
  std::string path_;
  std::ofstream file_;
  std::optional<TraceCsv> csv_;
};

}  // namespace allot
