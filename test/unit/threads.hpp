// What the tests in threads share: how many there are, how much less they do where each step takes
// long, and how they begin at once.
#pragma once

#include <latch>
#include <thread>
#include <vector>

namespace snowid::core::test {

inline constexpr int kThreads = 8;

// Under ThreadSanitizer each step takes many times as long, and fewer of them tell as much.
#if defined(__SANITIZE_THREAD__)
inline constexpr int kThinning = 5;
#elif defined(__has_feature)
inline constexpr int kThinning = __has_feature(thread_sanitizer) ? 5 : 1;
#else
inline constexpr int kThinning = 1;
#endif

// Calls body(thread's number) in so many threads, all let go at once.
template <typename Body>
void RunThreads(int count, Body body) {
  std::latch start(count);
  std::vector<std::thread> threads;
  for (int number = 0; number < count; number++)
    threads.emplace_back([&start, &body, number] {
      start.arrive_and_wait();
      body(number);
    });
  for (std::thread& thread : threads) thread.join();
}

// The same in kThreads threads.
template <typename Body>
void RunThreads(Body body) {
  RunThreads(kThreads, body);
}

}  // namespace snowid::core::test
