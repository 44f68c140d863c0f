#include "allot/worker/lane.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "allot/base/error.hpp"
#include "allot/base/quote.hpp"
#include "allot/base/version.hpp"
#include "allot/worker/detail/descriptor.hpp"
#include "allot/worker/detail/pipe.hpp"
#include "allot/worker/detail/spawn.hpp"
#include "allot/worker/protocol.hpp"
#include "allot/worker/record_check.hpp"
#include "allot/worker/silence.hpp"

namespace allot {
namespace {

using detail::Descriptor;
using detail::make_pipe;
using detail::read_available;
using detail::write_quietly;

constexpr const char* kThisProgram = "/proc/self/exe";
/// How long a killed process may take to end before it is left alone.
constexpr Clock::duration kPatienceKilled = std::chrono::seconds(1);
/// How long a launcher may take to end after its output ended, before it gets SIGTERM.
constexpr Clock::duration kFarewell = std::chrono::milliseconds(300);
constexpr Clock::duration kPatienceLost = std::chrono::milliseconds(500);
constexpr Clock::duration kPatience = std::chrono::seconds(5);
/// Maximum bytes kept of a launcher's output.
constexpr std::size_t kTail = 4096;
/// Maximum bytes before the worker's magic word.
constexpr std::size_t kMostBanner = std::size_t{1} << 20;

Clock::duration to_duration(std::chrono::duration<double> time) {
  return std::chrono::duration_cast<Clock::duration>(std::min(time, std::chrono::duration<double>(1e8)));
}

double unix_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Whether a launcher passes the words after it to a shell at the far end, joined with blanks.
bool passes_through_a_shell(const std::vector<std::string>& launch) {
  return std::any_of(launch.begin(), launch.end(), [](const std::string& word) {
    const std::string name = std::filesystem::path(word).filename().string();
    return name == "ssh" || name == "rsh" || name == "slogin" || name == "autossh";
  });
}

/// "1.5 s", for messages.
std::string in_seconds(std::chrono::duration<double> time) {
  std::string text = std::to_string(std::round(time.count() * 10) / 10);
  text.erase(text.find('.') + 2);
  if (text.ends_with(".0")) text.erase(text.size() - 2);
  return text + " s";
}

void keep_tail(std::string& text) {
  if (text.size() > kTail) text.erase(0, text.size() - kTail);
}

LaneEvent& add(std::vector<LaneEvent>& events, LaneEvent::Kind kind) {
  events.emplace_back().kind = kind;
  return events.back();
}

/// The last output of a launcher as one line.
std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool space = static_cast<unsigned char>(c) <= ' ';
    if (!space) line.push_back(c);
    if (space && !line.empty() && line.back() != ' ') line.push_back(' ');
  }
  if (line.ends_with(' ')) line.pop_back();
  if (line.size() > 500) line = "..." + line.substr(line.size() - 500);
  return line;
}

}  // namespace

struct WorkerLane::State {
  enum class Phase : std::uint8_t {
    kStarting,  ///< no message yet
    kReady,
    kEnding,  ///< over, except that the launcher has not ended yet
    kClosed,  ///< reported
  };

  LaneOptions options;
  std::string launcher;  ///< the program that was started, for messages
  bool local = true;
  pid_t process = -1;
  int wait_status = 0;  ///< once it has ended
  Descriptor to;
  Descriptor from;
  Descriptor errors;
  std::string inbox;
  std::string outbox;
  std::string said;    ///< by the launcher on standard error; the last part
  std::string banner;  ///< output before the magic word
  bool greeted = false;
  bool finishing = false;
  bool not_found = false;
  bool is_stranger = false;
  Phase phase = Phase::kStarting;
  std::string why;
  Clock::time_point opened;
  Silence silence{{}, {}, {}};  ///< of the worker: until its first message, then between messages
  Clock::time_point sent;
  Clock::time_point ending_since;
  Clock::time_point finished;
  std::map<std::uint64_t, SentTask> in_flight;

  State(std::vector<std::string> launch, LaneOptions lane_options) : options(std::move(lane_options)) {
    local = launch.empty();
    const bool quoted = passes_through_a_shell(launch);
    std::vector<std::string> argv = std::move(launch);
    // /proc/self/exe is this program if it is started from here, even after its file was replaced; behind a
    // launcher it would be the launcher.
    if (options.worker.empty()) options.worker = {local ? kThisProgram : this_program(), "worker"};
    for (const std::string& word : options.worker) argv.push_back(quoted ? quote::shell(word) : word);
    launcher = argv.front();
    opened = sent = Clock::now();
    silence = Silence(to_duration(options.hello_deadline), late(), opened);

    auto [their_input, our_output] = make_pipe();
    auto [our_input, their_output] = make_pipe();
    auto [our_errors, their_errors] = make_pipe();
    detail::Program program;
    program.argv = std::move(argv);
    program.environment = options.environment;
    program.input = their_input.get();
    program.output = their_output.get();
    program.error = their_errors.get();
    if (!local) program.signal_at_parents_end = SIGTERM;
    const detail::Spawned spawned = detail::spawn(program);
    if (spawned.process < 0) {
      not_found = spawned.not_found;
      lose(spawned.error, opened);
      return;
    }
    process = spawned.process;
    to = std::move(our_output);
    from = std::move(our_input);
    errors = std::move(our_errors);
    for (const int fd : {to.get(), from.get(), errors.get()}) ::fcntl(fd, F_SETFL, O_NONBLOCK);

    outbox += protocol::kNearMagic;
    queue(protocol::Hello{protocol::kVersion, "allot " + std::string(version())});
    // A local worker always sees the end of file; so this process may sleep for any time.
    queue(protocol::Setup{options.heartbeat.count(), local ? 0 : options.silence.count()});
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  ~State() {
    if (process < 0) return;
    if (phase == Phase::kStarting || phase == Phase::kReady) finish();
    write();
    to.close();
    const bool lost = !finishing;
    const Clock::time_point until =
        lost ? std::max(ending_since, opened) + kPatienceLost : finished + kPatience;
    while (!reap() && Clock::now() < until) {
      // Read and dropped, because a launcher that cannot write does not end.
      std::string ignored;
      if (from) read_available(from.get(), ignored);
      if (errors) read_available(errors.get(), ignored);
      std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
    if (process < 0) return;
    ::kill(-process, SIGKILL);
    const Clock::time_point last = Clock::now() + kPatienceKilled;
    while (!reap() && Clock::now() < last) std::this_thread::sleep_for(std::chrono::microseconds(500));
  }

  /// pump() is called at least this often, unless this process is stopped.
  Clock::duration late() const { return 2 * to_duration(options.heartbeat) + std::chrono::milliseconds(500); }

  bool open() const { return phase == Phase::kStarting || phase == Phase::kReady; }

  /// The worker still reads, and nothing is on its way to it.
  bool silent() const { return to && outbox.empty(); }

  void queue(const protocol::Message& message) { outbox += protocol::encode(message); }

  /// True if the process has ended, now or earlier.
  bool reap() {
    if (process < 0) return true;
    // Look before reaping: kill the rest of its group, whose number is not reused until then.
    siginfo_t info{};
    const int result = ::waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOHANG | WNOWAIT);
    if (result == 0 && info.si_pid == 0) return false;
    if (result == 0) {
      ::kill(-process, SIGKILL);
      ::waitpid(process, &wait_status, 0);
    }
    process = -1;
    return true;
  }

  /// Asks the process to end, even if it is stopped.
  void terminate() const {
    if (process <= 0) return;
    ::kill(process, SIGTERM);
    ::kill(process, SIGCONT);
  }

  /// The lane is over, for a reason or, without one, because the worker's output ended. pump() reports it
  /// after the launcher has had time for its last output.
  void lose(std::string reason, Clock::time_point now) {
    if (!open()) return;
    phase = Phase::kEnding;
    why = std::move(reason);
    ending_since = now;
    to.close();
    from.close();
    outbox.clear();
    if (!why.empty()) terminate();
  }

  /// The same, because the other end is not a worker, or not one that this end understands.
  void lose_stranger(std::string reason, Clock::time_point now) {
    is_stranger = true;
    lose(std::move(reason), now);
  }

  void finish() {
    if (!open() || finishing) return;
    finishing = true;
    finished = Clock::now();
    if (phase == Phase::kReady) {
      queue(protocol::Finish{});
      silence.heard(Clock::now());  // from here on the deadline applies to its end
    } else {
      // No worker has answered yet; a job that waits in a batch queue must be cancelled.
      lose("it was finished", Clock::now());
    }
  }

  void write() {
    std::size_t written = 0;
    while (to && written < outbox.size()) {
      const ssize_t size = write_quietly(to.get(), std::string_view(outbox).substr(written));
      if (size < 0 && errno == EINTR) continue;
      if (size < 0 && errno == EAGAIN) break;
      if (size < 0) {
        // The worker no longer reads: its output or its end will show why.
        to.close();
        break;
      }
      written += static_cast<std::size_t>(size);
      sent = Clock::now();
    }
    outbox.erase(0, to ? written : outbox.size());
  }

  void read(Clock::time_point now, std::vector<LaneEvent>& events) {
    const std::size_t before = inbox.size();
    const bool more = read_available(from.get(), inbox);
    if (inbox.size() > before) {
      if (greeted) silence.heard(now);
      handle_inbox(now, events);
    }
    if (!more) lose("", now);
  }

  void handle_inbox(Clock::time_point now, std::vector<LaneEvent>& events) {
    if (!greeted) {
      const std::optional<std::size_t> start = protocol::after_magic(inbox, protocol::kFarMagic);
      if (!start) {
        if (inbox.size() > kMostBanner) {
          banner = std::move(inbox);
          keep_tail(banner);
          lose_stranger("the program that was started is not a worker", now);
        }
        return;
      }
      banner = inbox.substr(0, *start - protocol::kFarMagic.size());
      keep_tail(banner);
      inbox.erase(0, *start);
      greeted = true;
      silence = Silence(to_duration(options.deadline), late(), now);
    }
    std::string_view bytes = inbox;
    while (open()) {
      const protocol::Decoded decoded = protocol::decode(bytes);
      if (decoded.kind == protocol::Decoded::Kind::kIncomplete) break;
      if (decoded.kind == protocol::Decoded::Kind::kGarbage)
        return lose_stranger("the worker's messages are damaged", now);
      bytes.remove_prefix(decoded.size);
      handle(decoded.message, now, events);
    }
    inbox.erase(0, inbox.size() - bytes.size());
  }

  void handle(const protocol::Message& message, Clock::time_point now, std::vector<LaneEvent>& events) {
    if (const auto* hello = std::get_if<protocol::Hello>(&message)) {
      if (hello->version != protocol::kVersion) {
        return lose_stranger("the worker (" + confined_name(hello->program) + ") speaks version " +
                                 std::to_string(hello->version) + " of the protocol, and this is version " +
                                 std::to_string(protocol::kVersion),
                             now);
      }
      if (phase == Phase::kStarting) {
        phase = Phase::kReady;
        add(events, LaneEvent::Kind::kReady);
      }
    } else if (phase != Phase::kReady) {
      lose_stranger("the worker's messages do not begin with a greeting", now);
    } else if (const auto* started = std::get_if<protocol::TaskStarted>(&message)) {
      if (!in_flight.contains(started->id)) return;
      LaneEvent& event = add(events, LaneEvent::Kind::kStarted);
      event.record.id = started->id;
      event.process = started->process;
    } else if (const auto* record = std::get_if<TaskRecord>(&message)) {
      const auto task = in_flight.find(record->id);
      if (task == in_flight.end()) return;
      TaskRecord& told = add(events, LaneEvent::Kind::kRecord).record;
      told = *record;
      confine_record(told, task->second, Clock::now());
      in_flight.erase(task);
    } else if (!std::holds_alternative<protocol::Heartbeat>(message)) {
      lose_stranger("the worker sent a message that only allot run may send", now);
    }
  }

  void read_errors() {
    if (!errors) return;
    if (!read_available(errors.get(), said)) errors.close();
    keep_tail(said);
  }

  void check_deadlines(Clock::time_point now) {
    if (!open()) return;
    if (silence.over(now)) {
      lose(greeted ? "the worker has been silent for " + in_seconds(options.deadline)
                   : "no worker appeared within " + in_seconds(options.hello_deadline),
           now);
    } else if (phase == Phase::kReady && silent() && now >= sent + to_duration(options.heartbeat)) {
      queue(protocol::Heartbeat{});
    }
  }

  std::string explanation() const {
    std::string text = why;
    if (text.empty()) {
      text = (local ? "the worker" : launcher) + std::string(" ended");
      if (process > 0) {
        text = "the worker's output ended";
      } else if (WIFSIGNALED(wait_status)) {
        text += ", by signal " + std::to_string(WTERMSIG(wait_status));
      } else {
        text += ", with status " + std::to_string(WEXITSTATUS(wait_status));
      }
    }
    std::string words = one_line(said);
    if (words.empty() && !greeted) words = one_line(banner.empty() ? inbox : banner);
    return words.empty() ? text : text + ": " + words;
  }

  void tell_end(Clock::time_point now, std::vector<LaneEvent>& events) {
    if (!reap() && now < ending_since + kFarewell) return;
    read_errors();
    phase = Phase::kClosed;
    const std::string text = explanation();
    for (const auto& [id, task] : std::exchange(in_flight, {})) {
      TaskRecord& record = add(events, LaneEvent::Kind::kRecord).record;
      record.id = id;
      record.status = TaskStatus::kLost;
      record.error = text;
    }
    LaneEvent& end = add(events, finishing ? LaneEvent::Kind::kEnded : LaneEvent::Kind::kLost);
    end.why = text;
    end.not_found = not_found;
    end.is_stranger = is_stranger;
    terminate();
  }
};

std::string this_program() {
  std::error_code error;
  const std::string path = std::filesystem::read_symlink(kThisProgram, error).string();
  return error || path.empty() || path.ends_with(" (deleted)") ? kThisProgram : path;
}

WorkerLane::WorkerLane(std::vector<std::string> launch, LaneOptions options)
    : state_(std::make_unique<State>(std::move(launch), std::move(options))) {}
WorkerLane::WorkerLane(WorkerLane&&) noexcept = default;
WorkerLane& WorkerLane::operator=(WorkerLane&&) noexcept = default;
WorkerLane::~WorkerLane() = default;

int WorkerLane::read_fd() const noexcept { return state_->from.get(); }
int WorkerLane::write_fd() const noexcept { return state_->to.get(); }
bool WorkerLane::wants_write() const noexcept { return state_->to && !state_->outbox.empty(); }
bool WorkerLane::ready() const noexcept { return state_->phase == State::Phase::kReady; }
bool WorkerLane::open() const noexcept { return state_->open(); }
std::size_t WorkerLane::in_flight() const noexcept { return state_->in_flight.size(); }
int WorkerLane::process() const noexcept { return state_->process; }

Clock::time_point WorkerLane::next_deadline() const noexcept {
  const State& state = *state_;
  switch (state.phase) {
    case State::Phase::kStarting:
    case State::Phase::kReady:
      return std::min(state.silence.next_look(), state.phase == State::Phase::kReady && state.silent()
                                                     ? state.sent + to_duration(state.options.heartbeat)
                                                     : Clock::time_point::max());
    case State::Phase::kEnding:
      // poll() does not see the end of the process.
      return state.process < 0 ? state.ending_since : Clock::now() + std::chrono::milliseconds(2);
    case State::Phase::kClosed:
      break;
  }
  return Clock::time_point::max();
}

void WorkerLane::send(const TaskRequest& task) {
  const std::string frame = protocol::encode(task);
  if (frame.size() > protocol::kMostFrame) {
    throw InvalidModel("argv", "arguments and environment of more than 16 MiB cannot be sent to a worker");
  }
  state_->in_flight[task.id] = {Clock::now(), unix_now(), task.timeout_s, false};
  if (state_->open()) state_->outbox += frame;
  // If the lane is already over, the next pump() reports that again, and that this task is lost.
  if (state_->phase == State::Phase::kClosed) state_->phase = State::Phase::kEnding;
}

void WorkerLane::kill(std::uint64_t id, int signal) {
  const auto task = state_->in_flight.find(id);
  if (!open() || task == state_->in_flight.end()) return;
  task->second.was_killed = true;
  state_->queue(protocol::KillTask{id, signal});
}
void WorkerLane::pause() {
  if (open()) state_->queue(protocol::Pause{});
}
void WorkerLane::resume() {
  if (open()) state_->queue(protocol::Resume{});
}
void WorkerLane::finish() { state_->finish(); }

void WorkerLane::pump(Clock::time_point now, std::vector<LaneEvent>& events) {
  State& state = *state_;
  state.read_errors();
  state.write();
  if (state.from) state.read(now, events);
  state.check_deadlines(now);
  state.write();
  if (state.finishing && state.outbox.empty()) state.to.close();
  if (state.phase == State::Phase::kEnding) state.tell_end(now, events);
  if (state.phase == State::Phase::kClosed) state.reap();
}

}  // namespace allot
