#include "allot/simulate/trace_csv.hpp"

#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

#include "allot/base/quote.hpp"

namespace allot {
namespace {

constexpr std::size_t kHeldBack = std::size_t{1} << 16;  // bytes

template <typename Number>
void append(std::string& text, Number value) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  text.append(digits, end);
}

std::string_view name_of(TraceEvent::What what) noexcept {
  switch (what) {
    case TraceEvent::What::kPlace:
      return "place";
    case TraceEvent::What::kStart:
      return "start";
    case TraceEvent::What::kComplete:
      return "complete";
  }
  return "";
}

}  // namespace

TraceCsv::TraceCsv(std::ostream& out, const System& system, bool with_policy)
    : out_(&out), with_policy_(with_policy) {
  for (const TaskClass& task : system.tasks()) types_.push_back(quote::csv(task.name));
  for (const Resource& resource : system.resources()) resources_.push_back(quote::csv(resource.name));
  buffer_ = "time,event,task,thread,type,resource,size,response";
  buffer_ += with_policy_ ? ",policy\n" : "\n";
}

void TraceCsv::begin(std::string_view policy) { policy_ = quote::csv(policy); }

void TraceCsv::event(const TraceEvent& event) {
  if (error_ != 0) return;
  append(buffer_, event.time);
  buffer_ += ',';
  buffer_ += name_of(event.what);
  buffer_ += ',';
  append(buffer_, event.task);
  buffer_ += ',';
  append(buffer_, event.thread);
  buffer_ += ',';
  buffer_ += types_[index(event.type)];
  buffer_ += ',';
  buffer_ += resources_[index(event.resource)];
  buffer_ += ',';
  append(buffer_, event.size);
  buffer_ += ',';
  if (event.what == TraceEvent::What::kComplete) append(buffer_, event.response);
  if (with_policy_) {
    buffer_ += ',';
    buffer_ += policy_;
  }
  buffer_ += '\n';
  if (buffer_.size() >= kHeldBack) flush();
}

void TraceCsv::flush() {
  if (error_ == 0) {
    errno = 0;
    out_->write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    out_->flush();
    if (!*out_) error_ = errno != 0 ? errno : EIO;
  }
  buffer_.clear();
}

TraceFile::TraceFile(std::string path, const System& system, bool with_policy) : path_(std::move(path)) {
  if (path_.empty()) return;
  errno = 0;
  file_.open(path_, std::ios::binary | std::ios::trunc);
  if (!file_) throw std::system_error(errno != 0 ? errno : EIO, std::generic_category(), path_);
  csv_.emplace(file_, system, with_policy);
}

void TraceFile::close() {
  if (!csv_) return;
  csv_->flush();
  int error = csv_->error();
  errno = 0;
  file_.close();
  if (error == 0 && !file_) error = errno != 0 ? errno : EIO;
  if (error != 0) throw std::system_error(error, std::generic_category(), path_);
}

}  // namespace allot
