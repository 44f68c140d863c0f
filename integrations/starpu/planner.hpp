// A thread that plans beside the work, within a small part of the time.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace allot::starpu {

/// Calls `look` every few milliseconds while there is something to do, and rarely while there is not: `look`
/// says which. However long a look computes, planning gets no more than `kPart` of the time: the next one
/// waits.
class Planner {
 public:
  static constexpr double kPart = 0.05;

  /// `look` may throw: a look that fails is followed by the next.
  explicit Planner(std::function<bool()> look);
  ~Planner() { stop(); }
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;

  /// There is something new: look soon. Thread-safe, and cheap where it has been said already.
  void wake() noexcept;
  /// No more looks; waits for one that is under way, so not to be called by `look`. A planner that has
  /// stopped may be woken still, in vain.
  void stop() noexcept;

 private:
  void run() noexcept;

  std::function<bool()> look_;
  std::mutex mutex_;  ///< over what follows
  std::condition_variable awake_;
  bool woken_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace allot::starpu
