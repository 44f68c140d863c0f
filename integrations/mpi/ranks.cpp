#include "integrations/mpi/ranks.hpp"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

#include "allot/base/digest.hpp"
#include "allot/base/version.hpp"
#include "allot/sweep/encoding.hpp"

namespace allot::mpi {
namespace {

enum Tag { kReady = 1, kUnfit, kUnit, kOutcome, kRelease };

// Global, like MPI's own state: a rank goes through each step once in its life.
bool has_greeted = false;   // rank 0: has received every hello
bool has_released = false;  // rank 0
bool has_served = false;    // other ranks

/// Sleeps, a little longer after each unsuccessful attempt.
class Patience {
 public:
  void wait() {
    std::this_thread::sleep_for(nap_);
    nap_ = std::min(nap_ * 2, std::chrono::microseconds(1000));
  }
  void renew() { nap_ = std::chrono::microseconds(20); }

 private:
  std::chrono::microseconds nap_{20};
};

struct Message {
  int source = 0;
  int tag = 0;
  std::string bytes;
};

void send(int target, Tag tag, const std::string& bytes) {
  MPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, target, tag, MPI_COMM_WORLD);
}

/// A message, if one has arrived.
std::optional<Message> receive(int source = MPI_ANY_SOURCE, int tag = MPI_ANY_TAG) {
  int there = 0;
  MPI_Status status;
  MPI_Iprobe(source, tag, MPI_COMM_WORLD, &there, &status);
  if (there == 0) return std::nullopt;
  int size = 0;
  MPI_Get_count(&status, MPI_BYTE, &size);
  Message message{status.MPI_SOURCE, status.MPI_TAG, std::string(static_cast<std::size_t>(size), '\0')};
  MPI_Recv(message.bytes.data(), size, MPI_BYTE, message.source, message.tag, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
  return message;
}

Message await(int source = MPI_ANY_SOURCE, int tag = MPI_ANY_TAG) {
  for (Patience patience;; patience.wait()) {
    if (std::optional<Message> message = receive(source, tag)) return *std::move(message);
  }
}

/// Equal on two ranks only if both would do the same for the same unit.
std::string digest_of(const SweepJob& job) {
  Digest digest;
  digest.add(version()).add(build_commit()).add(job.effort.seed).add(job.effort.runs);
  for (const Experiment& experiment : job.experiments) {
    digest.add(experiment.name).add(static_cast<std::uint64_t>(experiment.version));
    digest.add(experiment.units(job.effort));
  }
  return digest.text();
}

std::string host() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "an unknown host";
}

// All ranks run on machines of the same kind, as usual for MPI jobs; unit numbers are sent in memory format.
std::string encode(const Unit& unit) {
  std::string bytes(sizeof unit, '\0');
  std::memcpy(bytes.data(), &unit, sizeof unit);
  return bytes;
}

Unit decode_unit(const std::string& bytes) {
  Unit unit;
  std::memcpy(&unit, bytes.data(), std::min(sizeof unit, bytes.size()));
  return unit;
}

/// Unit, seconds, success; then the result or the error.
std::string encode(const UnitOutcome& outcome) {
  const bool is_good = outcome.error.empty();
  std::string bytes = encode(outcome.unit);
  bytes.append(reinterpret_cast<const char*>(&outcome.seconds), sizeof outcome.seconds);
  bytes += is_good ? '+' : '-';
  return bytes + (is_good ? encode_result(outcome.result) : outcome.error);
}

UnitOutcome decode_outcome(const std::string& bytes) {
  constexpr std::size_t kHead = sizeof(Unit) + sizeof(double) + 1;
  UnitOutcome outcome;
  if (bytes.size() < kHead) throw std::runtime_error("an MPI message came mutilated");
  outcome.unit = decode_unit(bytes);
  std::memcpy(&outcome.seconds, bytes.data() + sizeof(Unit), sizeof outcome.seconds);
  if (bytes[kHead - 1] == '-') {
    outcome.error = bytes.substr(kHead);
    return outcome;
  }
  std::optional<UnitResult> result = decode_result(std::string_view(bytes).substr(kHead));
  if (!result) throw std::runtime_error("an MPI message came mutilated");
  outcome.result = *std::move(result);
  return outcome;
}

/// A thread of rank 0 that does one unit at a time, while the main thread communicates with the other ranks.
class LocalWorker {
 public:
  LocalWorker(const SweepJob& job, const StopLimits& stop)
      : job_(job), stop_(stop), thread_([this] { work(); }) {}
  LocalWorker(const LocalWorker&) = delete;
  LocalWorker& operator=(const LocalWorker&) = delete;
  ~LocalWorker() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    news_.notify_one();
  }

  bool is_idle() const { return !is_busy_; }
  void start(const Unit& unit) {
    {
      const std::lock_guard lock(mutex_);
      unit_ = unit;
    }
    is_busy_ = true;
    news_.notify_one();
  }
  /// Whether its unit has ended; then `outcome` is the outcome, absent if it was stopped.
  bool collect(std::optional<UnitOutcome>& outcome) {
    const std::lock_guard lock(mutex_);
    if (!is_done_) return false;
    outcome = std::exchange(outcome_, std::nullopt);
    is_done_ = false;
    is_busy_ = false;
    return true;
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      news_.wait(lock, [&] { return ends_ || unit_; });
      if (ends_) return;
      const Unit unit = *std::exchange(unit_, std::nullopt);
      lock.unlock();
      std::optional<UnitOutcome> outcome = do_unit(job_, unit, stop_);
      lock.lock();
      outcome_ = std::move(outcome);
      is_done_ = true;
    }
  }

  const SweepJob& job_;
  StopLimits stop_;
  std::mutex mutex_;
  std::condition_variable news_;
  std::optional<Unit> unit_;
  std::optional<UnitOutcome> outcome_;
  bool is_done_ = false;
  bool ends_ = false;
  bool is_busy_ = false;  // only for the communicating thread
  std::jthread thread_;   // last: it uses all of the above
};

}  // namespace

std::size_t rank() {
  int value = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &value);
  return static_cast<std::size_t>(value);
}

std::size_t ranks() {
  int value = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &value);
  return static_cast<std::size_t>(value);
}

void release_ranks() {
  if (has_released) return;
  has_released = true;
  const int count = static_cast<int>(ranks());
  if (!has_greeted) {
    has_greeted = true;
    for (int hellos = 1; hellos < count; ++hellos) await();
  }
  for (int other = 1; other < count; ++other) send(other, kRelease, "");
}

void greet_ranks(const SweepJob& job) {
  const std::string expected = digest_of(job);
  std::string problem;
  for (std::size_t hellos = 1; hellos < ranks(); ++hellos) {
    const Message hello = await();
    if (!problem.empty()) continue;
    const std::string who = "rank " + std::to_string(hello.source);
    if (hello.tag == kUnfit) {
      problem = who + " cannot take part: " + hello.bytes;
    } else if (hello.bytes != expected) {
      problem = who + " would do something else: its program or its files differ from those of rank 0";
    }
  }
  has_greeted = true;
  if (!problem.empty()) throw std::runtime_error(problem);
}

void serve(const SweepJob& job) {
  has_served = true;
  send(0, kReady, digest_of(job));
  for (;;) {
    const Message message = await(0);
    if (message.tag == kRelease) return;
    // Without limits it is never stopped.
    send(0, kOutcome, encode(*do_unit(job, decode_unit(message.bytes), {})));
  }
}

void report_unfit(const std::string& why) {
  if (has_served) return;
  has_served = true;
  send(0, kUnfit, "on " + host() + ": " + why);
  await(0, kRelease);
}

std::size_t RankWorkers::count() const noexcept { return ranks(); }

void RankWorkers::run(const SweepJob& job, std::span<const Unit> units, const StopLimits& stop,
                      const Done& done) {
  StopFlag halt{false};  // for the unit on this rank
  LocalWorker local(job, {stop.deadline, &halt});
  const std::size_t others = ranks() - 1;
  std::vector<int> load(others + 1, 0);  // units given to a rank and not yet answered
  std::size_t next = 0;
  std::size_t away = 0;  // units on other ranks
  std::exception_ptr failure;
  const auto take = [&](UnitOutcome outcome) {
    if (failure) return;
    try {
      done(std::move(outcome));
    } catch (...) {
      failure = std::current_exception();
    }
  };

  Patience patience;
  for (;;) {
    const bool stops = failure || StopPoll(stop).stopped();
    if (stops) halt = true;
    const bool more = !stops && next < units.size();
    // A second unit hides the latency to rank 0 and back. Near the end it would only wait while another rank
    // is idle.
    const int most = units.size() - next > 4 * (others + 1) ? 2 : 1;
    bool any = false;
    for (int depth = 1; more && depth <= most; ++depth) {
      for (std::size_t other = 1; other <= others && next < units.size(); ++other) {
        if (load[other] >= depth) continue;
        send(static_cast<int>(other), kUnit, encode(units[next++]));
        ++load[other];
        ++away;
        any = true;
      }
    }
    if (more && next < units.size() && local.is_idle()) {
      local.start(units[next++]);
      any = true;
    }
    std::optional<UnitOutcome> outcome;
    if (local.collect(outcome)) {
      if (outcome) take(*std::move(outcome));
      any = true;
    }
    if (away > 0) {
      if (const std::optional<Message> message = receive(MPI_ANY_SOURCE, kOutcome)) {
        --load[static_cast<std::size_t>(message->source)];
        --away;
        take(decode_outcome(message->bytes));
        any = true;
      }
    }
    if (away == 0 && local.is_idle() && (stops || next == units.size())) break;
    if (any) {
      patience.renew();
    } else {
      patience.wait();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace allot::mpi
