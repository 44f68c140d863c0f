#include "allot/worker/serve.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <exception>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "allot/base/stop.hpp"
#include "allot/base/version.hpp"
#include "allot/worker/detail/descriptor.hpp"
#include "allot/worker/detail/tasks.hpp"
#include "allot/worker/process.hpp"
#include "allot/worker/protocol.hpp"
#include "allot/worker/silence.hpp"

namespace allot {
namespace {

using detail::to_duration;

/// After a wake-up this late, this process or its machine was stopped.
constexpr Clock::duration kNap = std::chrono::seconds(1);

/// One lane from the first message to the last. Ends when `why_` is set.
class Server {
 public:
  explicit Server(const ServeOptions& options)
      : input_(options.input), output_(options.output), tasks_(raise_descriptor_limit()) {}

  ServeOutcome run() {
    take_over_signals();
    adopt_orphans();
    tasks_.start_guard();
    set_blocking(input_, false);
    set_blocking(output_, false);
    queue_bytes(protocol::kFarMagic);
    queue(protocol::Hello{protocol::kVersion, "allot " + std::string(version())});
    sent_ = Clock::now();
    while (!why_) turn();
    return end();
  }

  ServeOutcome end() {
    kill_descendants();
    tasks_.discard_outputs();
    set_blocking(input_, true);
    set_blocking(output_, true);
    return {in_order_, in_order_ ? std::string() : why_.value_or("")};
  }

 private:
  // ---- the loop

  void turn() {
    wait();
    const bool children = read_signals();
    if (why_) return;
    if (children) tasks_.reap();
    if (is_ready(input_)) read_input();
    tasks_.collect(ready_);
    const Clock::time_point now = Clock::now();
    tasks_.advance(now);
    for (const protocol::Message& news : tasks_.take_news()) queue(news);
    check_heartbeat(now);
    flush();
  }

  void wait() {
    ready_.clear();
    ready_.push_back({input_, POLLIN, 0});
    ready_.push_back({signals_.get(), POLLIN, 0});
    if (!outbox_.empty()) ready_.push_back({output_, POLLOUT, 0});
    tasks_.watch(ready_);
    Clock::time_point until = sent_ + heartbeat_;
    if (silence_ && !tasks_.paused()) until = std::min(until, silence_->next_look());
    const Clock::time_point now = Clock::now();
    until = std::max(tasks_.next(until), now);
    const auto left = until - now;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    const timespec timeout{seconds.count(), std::chrono::nanoseconds(left - seconds).count()};
    if (::ppoll(ready_.data(), ready_.size(), &timeout, nullptr) < 0) ready_.clear();
    if (const auto late = Clock::now() - until; late > kNap) tasks_.slept(late);
    std::erase_if(ready_, [](const pollfd& entry) { return entry.revents == 0; });
  }

  bool is_ready(int fd) const {
    return std::any_of(ready_.begin(), ready_.end(), [fd](const pollfd& entry) { return entry.fd == fd; });
  }

  void give_up(const std::string& why) {
    if (why_) return;
    in_order_ = false;
    why_ = why;
  }
  void finish_in_order() {
    if (!why_) why_ = "";
  }

  // ---- signals

  void take_over_signals() {
    for (const int signal : {SIGINT, SIGHUP, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE}) {
      ::signal(signal, SIG_IGN);
    }
    ::signal(SIGCHLD, SIG_DFL);
    sigset_t mine;
    ::sigemptyset(&mine);
    ::sigaddset(&mine, SIGCHLD);
    ::sigaddset(&mine, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &mine, nullptr);
    signals_ = detail::Descriptor(::signalfd(-1, &mine, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!signals_) throw std::system_error(errno, std::generic_category(), "signalfd");
  }

  /// True if children have ended.
  bool read_signals() {
    bool children = false;
    if (!is_ready(signals_.get())) return false;
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
      if (info.ssi_signo == SIGTERM) give_up("it was terminated (SIGTERM)");
      if (info.ssi_signo == SIGCHLD) children = true;
    }
    return children;
  }

  /// For the pipes of many tasks. Returns the old limit, which the tasks get.
  static std::size_t raise_descriptor_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
    const std::size_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    return before;
  }

  // ---- messages

  void read_input() {
    const std::size_t before = inbox_.size();
    inbox_.resize(before + (std::size_t{64} << 10));
    const ssize_t size = ::read(input_, inbox_.data() + before, inbox_.size() - before);
    const int error = errno;
    inbox_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    if (size < 0 && (error == EAGAIN || error == EINTR)) return;
    if (size == 0) return finish_in_order();
    if (size < 0) return give_up("its input cannot be read: " + std::generic_category().message(error));
    if (silence_) silence_->heard(Clock::now());
    handle_inbox();
  }

  void handle_inbox() {
    std::string_view bytes = inbox_;
    if (!greeted_) {
      const std::string_view magic = protocol::kNearMagic;
      const std::size_t seen = std::min(bytes.size(), magic.size());
      if (bytes.substr(0, seen) != magic.substr(0, seen)) return give_up("its input is not from allot");
      if (seen < magic.size()) return;
      greeted_ = true;
      bytes.remove_prefix(magic.size());
    }
    while (!why_) {
      protocol::Decoded decoded = protocol::decode(bytes);
      if (decoded.kind == protocol::Decoded::Kind::kIncomplete) break;
      if (decoded.kind == protocol::Decoded::Kind::kGarbage) return give_up("its input is damaged");
      bytes.remove_prefix(decoded.size);
      handle(std::move(decoded.message));
    }
    inbox_.erase(0, inbox_.size() - bytes.size());
  }

  void handle(protocol::Message message) {
    if (!introduced_ && !std::holds_alternative<protocol::Hello>(message)) {
      return give_up("its input does not begin with a greeting");
    }
    if (const auto* hello = std::get_if<protocol::Hello>(&message)) {
      introduced_ = true;
      if (hello->version != protocol::kVersion) {
        give_up("it speaks version " + std::to_string(protocol::kVersion) + " of the protocol, and " +
                hello->program + " version " + std::to_string(hello->version));
      }
    } else if (const auto* setup = std::get_if<protocol::Setup>(&message)) {
      heartbeat_ = std::max(to_duration(setup->heartbeat_s), Clock::duration(std::chrono::milliseconds(10)));
      silence_.reset();
      if (setup->silence_s > 0) {
        silence_.emplace(to_duration(setup->silence_s), 2 * heartbeat_ + std::chrono::milliseconds(500),
                         Clock::now());
        silence_s_ = setup->silence_s;
      }
    } else if (auto* request = std::get_if<TaskRequest>(&message)) {
      tasks_.add(std::move(*request));
    } else if (const auto* kill = std::get_if<protocol::KillTask>(&message)) {
      tasks_.kill(kill->id, kill->signal);
    } else if (std::holds_alternative<protocol::Pause>(message)) {
      tasks_.pause();
    } else if (std::holds_alternative<protocol::Resume>(message)) {
      tasks_.resume();
    } else if (std::holds_alternative<protocol::Finish>(message)) {
      finish_in_order();
    } else if (!std::holds_alternative<protocol::Heartbeat>(message)) {
      give_up("its input has messages of a worker, not for a worker");
    }
  }

  void queue_bytes(std::string_view bytes) { outbox_ += bytes; }
  void queue(const protocol::Message& message) { queue_bytes(protocol::encode(message)); }

  void flush() {
    std::size_t written = 0;
    while (written < outbox_.size()) {
      const ssize_t size = ::write(output_, outbox_.data() + written, outbox_.size() - written);
      if (size < 0 && errno == EINTR) continue;
      if (size < 0 && errno == EAGAIN) break;
      if (size < 0) {
        give_up("its output cannot be written: " + std::generic_category().message(errno));
        break;
      }
      written += static_cast<std::size_t>(size);
    }
    if (written > 0) sent_ = Clock::now();
    outbox_.erase(0, written);
  }

  void check_heartbeat(Clock::time_point now) {
    if (now >= sent_ + heartbeat_ && outbox_.empty()) {
      queue(protocol::Heartbeat{});
      tasks_.end_leftovers();
    }
    if (silence_ && tasks_.paused()) silence_->heard(now);
    if (silence_ && silence_->over(now)) {
      give_up("nothing was heard for " + std::to_string(std::llround(silence_s_)) + " s");
    }
  }

  static void set_blocking(int fd, bool blocking) {
    const int flags = ::fcntl(fd, F_GETFL);
    if (flags >= 0) ::fcntl(fd, F_SETFL, blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
  }

  int input_;
  int output_;
  detail::Tasks tasks_;
  detail::Descriptor signals_;
  std::vector<pollfd> ready_;  ///< what is watched, then what is ready
  std::string inbox_;
  std::string outbox_;
  bool greeted_ = false;     ///< the magic word was read
  bool introduced_ = false;  ///< the Hello was read
  bool in_order_ = true;
  std::optional<std::string> why_;
  Clock::duration heartbeat_ = std::chrono::seconds(1);
  std::optional<Silence> silence_;  ///< of the near end, if it has a limit
  double silence_s_ = 0;
  Clock::time_point sent_;
};

}  // namespace

ServeOutcome serve(const ServeOptions& options) noexcept {
  try {
    Server server(options);
    try {
      return server.run();
    } catch (const std::exception& error) {
      server.end();
      return {false, error.what()};
    }
  } catch (...) {
    return {false, "it ran out of memory"};
  }
}

}  // namespace allot
