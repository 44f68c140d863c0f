#include "allot/run/runner.hpp"

#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "allot/base/error.hpp"
#include "allot/run/loop.hpp"

namespace allot {
namespace {

/// Real time, and a sleep that ends when a lane, the journal or the observer has something to do.
class RealWorld final : public World {
 public:
  RealWorld(const Journal& journal, RunObserver& observer) : journal_(journal), observer_(observer) {}

  void watch(const RunLoop& loop) { loop_ = &loop; }

  Clock::time_point now() override { return Clock::now(); }
  double unix_now() override {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  }
  void wait(Clock::time_point until) override {
    files_.clear();
    loop_->files_to_watch(files_);
    polled_.clear();
    for (const auto& [file, writes] : files_) {
      polled_.push_back({file, static_cast<short>(writes ? POLLOUT : POLLIN), 0});
    }
    polled_.push_back({journal_.committed_fd(), POLLIN, 0});
    const std::size_t journal_at = polled_.size() - 1;
    if (observer_.wake_file() >= 0) polled_.push_back({observer_.wake_file(), POLLIN, 0});
    const double left_ms = std::ceil(std::chrono::duration<double, std::milli>(until - Clock::now()).count());
    ::poll(polled_.data(), polled_.size(), static_cast<int>(std::clamp(left_ms, 0.0, 60'000.0)));
    if ((polled_[journal_at].revents & POLLIN) != 0) {
      std::uint64_t count = 0;
      [[maybe_unused]] const ssize_t got = ::read(journal_.committed_fd(), &count, sizeof count);
    }
  }

 private:
  const Journal& journal_;
  RunObserver& observer_;
  const RunLoop* loop_ = nullptr;
  std::vector<std::pair<int, bool>> files_;
  std::vector<pollfd> polled_;
};

/// Raises this process's soft limit of descriptors to what the lanes need. Throws InvalidModel if that is
/// more than the hard limit.
void make_room_for_descriptors(const Job& job) {
  const std::size_t needed = descriptors_for(crew_resources(job));
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return;
  if (limit.rlim_max < needed) {
    throw InvalidModel("servers", "the lanes of this job need " + std::to_string(needed) +
                                      " open files, and the limit is " + std::to_string(limit.rlim_max) +
                                      ": raise it ('ulimit -Hn', or LimitNOFILE of a service) or use fewer "
                                      "servers behind 'launch'");
  }
  limit.rlim_cur = needed;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

std::string_view to_string(RunSummary::Outcome outcome) noexcept {
  constexpr std::array<std::string_view, 6> kNames = {"finished", "interrupted", "time-limit",
                                                      "halted",   "stranded",    "io-error"};
  return kNames[static_cast<std::size_t>(outcome)];
}

RunSummary run_tasks(const Job& job, Journal& journal, const RunOptions& options, RunObserver& observer) {
  make_room_for_descriptors(job);
  RealWorld world(journal, observer);
  FolderOfAttempts files(options.output_folder, options.run_id);
  RunLoop loop(job, journal, options, observer, world, files);
  world.watch(loop);
  return loop.run();
}

}  // namespace allot
