// Runs code on atomics in every order in which its threads can take their steps, and in every order in which
// their stores can become visible.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace allot::testing {

/// What is broken on purpose in `Stepped`, to see that it is noticed.
enum class Fault {
  kNone,
  kRelaxed,   ///< every order is relaxed
  kTornSwap,  ///< read-modify-write is a read and then a write
};

/// Explores. A thread takes a step where it loads or swaps an atomic. What it stores becomes visible to the
/// others later, as a step of its own: relaxed stores to different atomics in any order, a release store
/// after all before it, and both before a swap of the same atomic; a sequentially consistent store, or a swap
/// that releases, when all stores before it are visible. Loads happen in the order of the program. Orders
/// that differ in steps that have nothing to do with each other are run once (sleep sets).
class Interleavings {
 public:
  struct Scenario {
    std::vector<std::function<void()>> threads;
    std::function<bool()> holds;  ///< at the end
  };

  explicit Interleavings(Fault fault = Fault::kNone) : fault_(fault) {}

  /// Whether `holds` was true after every order. Stops at the first that it was not, or after `most`.
  bool all_hold(const std::function<Scenario()>& make, std::size_t most = 1'000'000) {
    const bool all = explore(make, most);
    threads_.clear();  // while this explorer is the current one, whom destructors of atomics ask
    return all;
  }
  std::size_t orders() const noexcept { return orders_ + 1; }

  // ---- for `Stepped`

  static Interleavings*& current() {
    static Interleavings* explorer = nullptr;
    return explorer;
  }
  bool is_running() const noexcept { return running_ >= 0; }
  Fault fault() const noexcept { return fault_; }
  std::size_t new_cell() noexcept { return cells_++; }
  /// Before a step of the running thread on a cell.
  void step(std::size_t cell, bool writes, bool after_all) {
    Thread& thread = *threads_[static_cast<std::size_t>(running_)];
    thread.next = {static_cast<std::size_t>(running_), false, cell, writes};
    thread.after_all = after_all;
    swapcontext(&thread.context, &main_);
  }
  void put(std::size_t cell, std::function<void()> store, bool releases) {
    threads_[static_cast<std::size_t>(running_)]->pending.push_back({cell, std::move(store), releases});
  }
  /// The latest store of the running thread to the cell that is not visible yet.
  template <typename Find>
  bool find_own(std::size_t cell, const Find& find) {
    const auto& pending = threads_[static_cast<std::size_t>(running_)]->pending;
    const auto at = std::find_if(pending.rbegin(), pending.rend(),
                                 [&](const Store& store) { return store.cell == cell; });
    if (at != pending.rend()) find();
    return at != pending.rend();
  }

 private:
  struct Step {
    std::size_t thread = 0;
    bool is_store = false;  ///< of one of its stores, which becomes visible
    std::size_t cell = 0;
    bool writes = false;

    bool same(const Step& other) const {
      return thread == other.thread && is_store == other.is_store && cell == other.cell;
    }
    /// A store becomes visible at any time, whatever its thread does meanwhile.
    bool concerns(const Step& other) const {
      if (thread == other.thread && !(is_store && other.is_store)) return is_store == other.is_store;
      return cell == other.cell && (writes || other.writes);
    }
  };
  struct Store {
    std::size_t cell = 0;
    std::function<void()> make_visible;
    bool releases = false;
  };
  struct Thread {
    ucontext_t context{};
    std::vector<char> stack = std::vector<char>(std::size_t{1} << 16);
    std::function<void()> body;
    Step next;
    bool after_all = false;
    bool ended = false;
    std::vector<Store> pending;
  };
  struct Frame {
    std::vector<Step> steps;   ///< that could be taken
    std::vector<Step> asleep;  ///< that lead nowhere new
    std::size_t chosen = 0;

    bool sleeps(const Step& step) const {
      return std::any_of(asleep.begin(), asleep.end(), [&](const Step& one) { return one.same(step); });
    }
    bool choose() {
      for (chosen = 0; chosen < steps.size() && sleeps(steps[chosen]);) ++chosen;
      return chosen < steps.size();
    }
    bool advance() {
      asleep.push_back(steps[chosen]);
      return choose();
    }
  };

  bool explore(const std::function<Scenario()>& make, std::size_t most) {
    frames_.clear();
    for (orders_ = 0; orders_ < most; ++orders_) {
      if (!run(make)) return false;
      while (!frames_.empty() && !frames_.back().advance()) frames_.pop_back();
      if (frames_.empty()) return true;
    }
    return false;
  }

  static void enter() {
    Interleavings& explorer = *current();
    Thread& thread = *explorer.threads_[static_cast<std::size_t>(explorer.running_)];
    thread.body();
    thread.ended = true;
    swapcontext(&thread.context, &explorer.main_);
  }

  void resume(std::size_t t) {
    running_ = static_cast<int>(t);
    swapcontext(&main_, &threads_[t]->context);
    running_ = -1;
  }

  std::vector<Step> possible() const {
    std::vector<Step> steps;
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      const Thread& thread = *threads_[t];
      const auto& pending = thread.pending;
      const bool waits = thread.after_all
                             ? !pending.empty()
                             : thread.next.writes && first_to(pending, thread.next.cell) < pending.size();
      if (!thread.ended && !waits) steps.push_back(thread.next);
      for (std::size_t at = 0; at < pending.size(); ++at) {
        const bool is_free = pending[at].releases ? at == 0 : first_to(pending, pending[at].cell) == at;
        if (is_free) steps.push_back({t, true, pending[at].cell, true});
      }
    }
    return steps;
  }
  static std::size_t first_to(const std::vector<Store>& pending, std::size_t cell) {
    std::size_t at = 0;
    while (at < pending.size() && pending[at].cell != cell) ++at;
    return at;
  }

  void take(const Step& step) {
    if (!step.is_store) return resume(step.thread);
    auto& pending = threads_[step.thread]->pending;
    const std::size_t at = first_to(pending, step.cell);
    pending[at].make_visible();
    pending.erase(pending.begin() + static_cast<std::ptrdiff_t>(at));
  }

  /// One order: as the frames say, and on from there. False if it does not hold.
  bool run(const std::function<Scenario()>& make) {
    current() = this;
    cells_ = 0;
    const Scenario scenario = make();
    threads_.clear();
    for (const auto& body : scenario.threads) {
      Thread& thread = *threads_.emplace_back(std::make_unique<Thread>());
      thread.body = body;
      getcontext(&thread.context);
      thread.context.uc_stack.ss_sp = thread.stack.data();
      thread.context.uc_stack.ss_size = thread.stack.size();
      makecontext(&thread.context, &Interleavings::enter, 0);
    }
    for (std::size_t t = 0; t < threads_.size(); ++t) resume(t);  // to its first step
    bool is_new = true;  // false: the same as an order before, and is only brought to its end
    for (std::size_t depth = 0;; ++depth) {
      std::vector<Step> steps = possible();
      if (steps.empty()) break;
      if (is_new && depth == frames_.size()) {
        Frame frame{std::move(steps), {}, 0};
        if (depth > 0) {
          const Step& before = frames_.back().steps[frames_.back().chosen];
          for (const Step& one : frames_.back().asleep) {
            if (!one.concerns(before)) frame.asleep.push_back(one);
          }
        }
        is_new = frame.choose();
        if (is_new)
          frames_.push_back(std::move(frame));
        else
          steps = possible();
      }
      take(is_new ? frames_[depth].steps[frames_[depth].chosen] : steps[0]);
    }
    const bool result = !is_new || scenario.holds();
    return result;
  }

  Fault fault_;
  std::vector<Frame> frames_;
  std::vector<std::unique_ptr<Thread>> threads_;
  ucontext_t main_{};
  int running_ = -1;
  std::size_t cells_ = 0;
  std::size_t orders_ = 0;
};

/// An atomic whose steps an `Interleavings` orders. Outside of its threads it is a plain value.
template <typename T>
class Stepped {
 public:
  Stepped(T value = T()) : value_(value), cell_(Interleavings::current()->new_cell()) {}  // NOLINT
  Stepped(const Stepped&) = delete;
  Stepped& operator=(const Stepped&) = delete;

  T load(std::memory_order = std::memory_order_seq_cst) const {
    Interleavings& explorer = *Interleavings::current();
    if (!explorer.is_running()) return value_;
    explorer.step(cell_, false, false);
    T value = value_;
    explorer.find_own(cell_, [&] { value = stored_; });
    return value;
  }
  void store(T value, std::memory_order order = std::memory_order_seq_cst) {
    Interleavings& explorer = *Interleavings::current();
    if (!explorer.is_running()) {
      value_ = value;
      return;
    }
    order = given(order);
    if (order == std::memory_order_seq_cst) {
      explorer.step(cell_, true, true);
      value_ = value;
      return;
    }
    stored_ = value;  // one thread at a time stores to an atomic in this way
    explorer.put(
        cell_, [this, value] { value_ = value; }, order == std::memory_order_release);
  }
  T exchange(T value, std::memory_order order = std::memory_order_seq_cst) {
    return change(order, [&](T) { return value; });
  }
  T fetch_add(T by, std::memory_order order = std::memory_order_seq_cst) {
    return change(order, [&](T before) { return static_cast<T>(before + by); });
  }
  T fetch_sub(T by, std::memory_order order = std::memory_order_seq_cst) {
    return change(order, [&](T before) { return static_cast<T>(before - by); });
  }
  T fetch_and(T by, std::memory_order order = std::memory_order_seq_cst) {
    return change(order, [&](T before) { return static_cast<T>(before & by); });
  }
  T fetch_or(T by, std::memory_order order = std::memory_order_seq_cst) {
    return change(order, [&](T before) { return static_cast<T>(before | by); });
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order order = std::memory_order_seq_cst,
                               std::memory_order = std::memory_order_seq_cst) {
    const T before = change(order, [&](T now) { return now == expected ? desired : now; });
    return std::exchange(expected, before) == before;
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order order = std::memory_order_seq_cst,
                             std::memory_order second = std::memory_order_seq_cst) {
    return compare_exchange_strong(expected, desired, order, second);
  }

 private:
  static std::memory_order given(std::memory_order order) {
    return Interleavings::current()->fault() == Fault::kRelaxed ? std::memory_order_relaxed : order;
  }
  template <typename Next>
  T change(std::memory_order order, const Next& next) {
    Interleavings& explorer = *Interleavings::current();
    if (!explorer.is_running()) return std::exchange(value_, next(value_));
    order = given(order);
    const bool after_all = order != std::memory_order_relaxed && order != std::memory_order_acquire;
    explorer.step(cell_, true, after_all);
    const T before = value_;
    if (explorer.fault() == Fault::kTornSwap) explorer.step(cell_, true, after_all);
    value_ = next(before);
    return before;
  }

  T value_;
  T stored_{};  ///< latest that is not visible yet
  std::size_t cell_;
};

}  // namespace allot::testing
