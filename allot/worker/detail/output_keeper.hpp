// Moves outputs into place on its own thread: a slow disk must not delay the worker's other tasks or its
// heartbeat.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "allot/worker/detail/descriptor.hpp"
#include "allot/worker/task.hpp"

namespace allot::detail {

class OutputKeeper {
 public:
  OutputKeeper();
  OutputKeeper(const OutputKeeper&) = delete;
  OutputKeeper& operator=(const OutputKeeper&) = delete;
  /// Waits for the current output; the others in the queue are discarded.
  ~OutputKeeper();

  /// The record of a task that succeeded, and its paths. The record becomes a failure if the output cannot be
  /// kept.
  void put(TaskRecord record, std::string temporary, std::string final_path);
  /// Readable if take() has records to return.
  int descriptor() const noexcept { return done_signal_.get(); }
  std::vector<TaskRecord> take();

 private:
  struct Output {
    TaskRecord record;
    std::string temporary;
    std::string final_path;
  };
  void work();

  Descriptor done_signal_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Output> queue_;
  std::vector<TaskRecord> done_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace allot::detail
