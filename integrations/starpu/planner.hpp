// A thread that plans in the background, within a small part of the time.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace allot::starpu {

/// Calls `look` every few milliseconds while there is something to do, and rarely otherwise; `look` returns
/// which. However long a look takes, planning uses at most `kPart` of the time: the next look is delayed.
class Planner {
 public:
  static constexpr double kPart = 0.05;

  /// `look` may throw: after a failed look, the next one follows.
  explicit Planner(std::function<bool()> look);
  ~Planner() { stop(); }
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;

  /// Requests a look soon. Thread-safe, and cheap if it was already requested.
  void wake() noexcept;
  /// Ends the looks and waits for the current one, so `look` must not call it. Calling wake() afterwards is
  /// allowed and has no effect.
  void stop() noexcept;

 private:
  void run() noexcept;

  std::function<bool()> look_;
  std::mutex mutex_;  ///< guards all members below
  std::condition_variable awake_;
  bool woken_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace allot::starpu
