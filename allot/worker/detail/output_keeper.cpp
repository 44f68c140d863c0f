#include "allot/worker/detail/output_keeper.hpp"

#include <sys/eventfd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "allot/worker/detail/output_file.hpp"

namespace allot::detail {

OutputKeeper::OutputKeeper() : done_signal_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!done_signal_) throw std::system_error(errno, std::generic_category(), "eventfd");
  thread_ = std::thread([this] { work(); });
}

OutputKeeper::~OutputKeeper() {
  std::deque<Output> left;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    left.swap(queue_);
  }
  wake_.notify_one();
  thread_.join();
  for (const Output& output : left) discard_output(output.temporary);
}

void OutputKeeper::put(TaskRecord record, std::string temporary, std::string final_path) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back({std::move(record), std::move(temporary), std::move(final_path)});
  }
  wake_.notify_one();
}

std::vector<TaskRecord> OutputKeeper::take() {
  eventfd_t ignored = 0;
  ::eventfd_read(done_signal_.get(), &ignored);
  const std::lock_guard lock(mutex_);
  return std::exchange(done_, {});
}

void OutputKeeper::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return ending_ || !queue_.empty(); });
    if (ending_) return;
    Output output = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    output.record.error = keep_output(output.temporary, output.final_path);
    if (!output.record.error.empty()) {
      output.record.status = TaskStatus::kFailed;
      discard_output(output.temporary);
    }
    lock.lock();
    done_.push_back(std::move(output.record));
    ::eventfd_write(done_signal_.get(), 1);
  }
}

}  // namespace allot::detail
