// A model of C++'s memory, to run code of src/core in: threads that take turns by a seed, and
// atomics that remember all that was stored. A load gives any value that its thread may still see:
// not only the last one, as it nearly always is on the machine that runs the test. So an order of
// memory that is too weak, or two stores in the wrong order, show, whatever the processor.
//
// Each store is a message with a time of its own at its location. A thread has a view: of each
// location the time before which it cannot look back. A store with release carries its thread's
// view, and a load with acquire joins that to its own. What reads and changes at once takes the
// last message, and hands on the view of that. Stores count in the order in which they are run, and
// seq_cst is no more than acquire and release: of what C++ allows that leaves out some, and adds
// none that matters to code without seq_cst.
//
// Nothing here is shared: the threads are contexts within one.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "random.hpp"

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace snowid::core::test {

// Of each location, by its number, the time of a message; 0 where nothing is known.
class View {
 public:
  uint32_t At(size_t location) const { return location < times_.size() ? times_[location] : 0; }
  void Set(size_t location, uint32_t time) {
    if (location >= times_.size()) times_.resize(location + 1);
    times_[location] = time;
  }
  void join_parts(const View& other) {
    for (size_t i = 0; i < other.times_.size(); i++) Set(i, std::max(At(i), other.times_[i]));
  }

 private:
  std::vector<uint32_t> times_;
};

constexpr bool Acquires(std::memory_order order) {
  return order != std::memory_order_relaxed && order != std::memory_order_release;
}
constexpr bool Releases(std::memory_order order) {
  return order != std::memory_order_relaxed && order != std::memory_order_acquire;
}

// One execution. While there is one, WeakAtomics belong to it; what is no thread of it comes before
// them all, and after.
class WeakMemory {
 public:
  explicit WeakMemory(uint64_t seed) : random_(seed) { now_ = this; }
  ~WeakMemory() { now_ = nullptr; }
  WeakMemory(const WeakMemory&) = delete;
  WeakMemory& operator=(const WeakMemory&) = delete;

  static WeakMemory& Now() { return *now_; }
  Random& random() { return random_; }

  // Runs the threads to their end.
  void Run(const std::vector<std::function<void()>>& bodies) {
    const View before = view_;
    for (const auto& body : bodies) threads_.emplace_back(new Thread(before, body));
    for (;;) {
      std::vector<Thread*> alive;
      for (const auto& thread : threads_)
        if (!thread->is_done) alive.push_back(thread.get());
      if (alive.empty()) break;
      Resume(alive[random_.Below(alive.size())]);
    }
    for (const auto& thread : threads_) view_.join_parts(thread->view);
    threads_.clear();
  }

  // Lets another thread go on, or not.
  void Pause() {
    if (running_ == nullptr || random_.Below(3) == 0) return;
    SwitchTo(&scheduler_, &running_->context);
  }

  View& view() { return running_ == nullptr ? view_ : running_->view; }

  uint64_t Load(const void* address, std::memory_order order) {
    Pause();
    Location& location = At(address);
    const uint32_t oldest = view().At(location.number);
    const auto newest = static_cast<uint32_t>(location.messages.size() - 1);
    // Both ends often: what is late with one value has often just got another.
    switch (random_.Below(4)) {
      case 0:
        return See(location, oldest, order);
      case 1:
        return See(location, oldest + random_.Below(newest - oldest + 1), order);
      default:
        return See(location, newest, order);
    }
  }

  void Store(const void* address, uint64_t bits, std::memory_order order) {
    Pause();
    add(At(address), bits, order, View());
  }

  // Replaces what was stored last by `change` of it, and returns that.
  template <typename Change>
  uint64_t Modify(const void* address, std::memory_order order, Change change) {
    Pause();
    return Replace(At(address), order, change);
  }

  // Compare-and-swap that may fail for no reason.
  bool Exchange(const void* address, uint64_t* expected, uint64_t desired,
                std::memory_order success, std::memory_order failure) {
    Pause();
    Location& location = At(address);
    if (location.messages.back().bits != *expected || random_.Below(8) == 0) {
      *expected = Load(address, failure);
      return false;
    }
    Replace(location, success, [desired](uint64_t) { return desired; });
    return true;
  }

 private:
  struct Message {
    uint64_t bits;
    View view;
  };
  struct Location {
    size_t number;
    std::vector<Message> messages;
  };
  struct Context {
    ucontext_t context;
    void* fiber = nullptr;
  };
  // A sanitizer's frames are large.
  static constexpr size_t kStackBytes = size_t{128} << 10;
  struct Thread {
    Thread(View seen, std::function<void()> what) : view(std::move(seen)), body(std::move(what)) {}
    View view;
    std::function<void()> body;
    bool is_done = false;
    bool is_begun = false;
    Context context;
    std::unique_ptr<char[]> stack = std::make_unique_for_overwrite<char[]>(kStackBytes);
  };

  Location& At(const void* address) {
    const auto [at, is_new] = numbers_.try_emplace(address, locations_.size());
    // As zeroed memory.
    if (is_new) locations_.push_back({at->second, {{0, View()}}});
    return locations_[at->second];
  }

  uint64_t See(Location& location, uint32_t time, std::memory_order order) {
    view().Set(location.number, time);
    if (Acquires(order)) view().join_parts(location.messages[time].view);
    return location.messages[time].bits;
  }

  void add(Location& location, uint64_t bits, std::memory_order order, View carried) {
    view().Set(location.number, static_cast<uint32_t>(location.messages.size()));
    if (Releases(order)) carried.join_parts(view());
    location.messages.push_back({bits, std::move(carried)});
  }

  template <typename Change>
  uint64_t Replace(Location& location, std::memory_order order, Change change) {
    const uint64_t before =
        See(location, static_cast<uint32_t>(location.messages.size() - 1), order);
    add(location, change(before), order, View(location.messages.back().view));
    return before;
  }

  static void Begin() {
    Thread* self = Now().running_;
    self->body();
    self->is_done = true;
    Now().SwitchTo(&Now().scheduler_, &self->context);
  }

  void Resume(Thread* thread) {
    running_ = thread;
    if (!thread->is_begun) {
      thread->is_begun = true;
      getcontext(&thread->context.context);
      thread->context.context.uc_stack.ss_sp = thread->stack.get();
      thread->context.context.uc_stack.ss_size = kStackBytes;
      thread->context.context.uc_link = nullptr;
      makecontext(&thread->context.context, Begin, 0);
#if defined(__SANITIZE_THREAD__)
      thread->context.fiber = __tsan_create_fiber(0);
      scheduler_.fiber = __tsan_get_current_fiber();
#endif
    }
    SwitchTo(&thread->context, &scheduler_);
    running_ = nullptr;
#if defined(__SANITIZE_THREAD__)
    if (thread->is_done) __tsan_destroy_fiber(thread->context.fiber);
#endif
  }

  static void SwitchTo(Context* to, Context* from) {
#if defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(to->fiber, 0);
#endif
    swapcontext(&from->context, &to->context);
  }

  static inline WeakMemory* now_ = nullptr;
  Random random_;
  View view_;  // of what is no thread
  std::unordered_map<const void*, size_t> numbers_;
  std::deque<Location> locations_;
  std::vector<std::unique_ptr<Thread>> threads_;
  Thread* running_ = nullptr;
  Context scheduler_;
};

// In place of std::atomic, and of the same size. Its value is in the WeakMemory; a new one is 0.
template <typename T>
class WeakAtomic {
 public:
  static constexpr bool is_always_lock_free = true;
  using Order = std::memory_order;

  T load(Order order = Order::seq_cst) const {
    return FromBits(WeakMemory::Now().Load(this, order));
  }
  void store(T value, Order order = Order::seq_cst) {
    WeakMemory::Now().Store(this, ToBits(value), order);
  }
  T exchange(T value, Order order = Order::seq_cst) {
    return Modify(order, [value](T) { return value; });
  }
  T fetch_add(T by, Order order = Order::seq_cst) {
    return Modify(order, [by](T value) { return static_cast<T>(value + by); });
  }
  T fetch_sub(T by, Order order = Order::seq_cst) {
    return Modify(order, [by](T value) { return static_cast<T>(value - by); });
  }
  bool compare_exchange_weak(T& expected, T desired, Order success, Order failure) {
    uint64_t bits = ToBits(expected);
    const bool is_done = WeakMemory::Now().Exchange(this, &bits, ToBits(desired), success, failure);
    expected = FromBits(bits);
    return is_done;
  }

 private:
  static uint64_t ToBits(T value) { return static_cast<uint64_t>(value); }
  static T FromBits(uint64_t bits) { return static_cast<T>(bits); }
  template <typename Change>
  T Modify(Order order, Change change) {
    return FromBits(WeakMemory::Now().Modify(
        this, order, [&](uint64_t bits) { return ToBits(change(FromBits(bits))); }));
  }

  T unused_;
};

// A lock that one has alone, or many share. Who takes it sees all that was done under it before,
// but for what others do who share it.
class WeakLock {
 public:
  void Lock() {
    take([this] { return holders_ == 0; }, -1), WeakMemory::Now().view().join_parts(shared_);
  }
  void LockShared() {
    take([this] { return holders_ >= 0; }, 1);
  }
  void Unlock() {
    released_.join_parts(WeakMemory::Now().view());
    holders_ = 0;
  }
  void UnlockShared() {
    shared_.join_parts(WeakMemory::Now().view());
    holders_--;
  }

 private:
  template <typename IsFree>
  void take(IsFree is_free, int by) {
    do WeakMemory::Now().Pause();
    while (!is_free());
    holders_ += by;
    WeakMemory::Now().view().join_parts(released_);
  }

  int holders_ = 0;  // -1: somebody has it alone
  View released_;
  View shared_;
};

}  // namespace snowid::core::test
