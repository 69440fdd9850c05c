// Tests of core/segment.hpp's memory order: what a thread did before it drew is seen by the
// refiller who finds the number gone, and what the refiller did before it published by whoever
// draws. The header rests on the first: a run is overwritten after everyone who moved the cursor
// has read it.
//
// Shared: the segment under test, and ints that are not atomic, so that ThreadSanitizer tells of
// every one that is not ordered by the segment itself. Nothing else orders the threads: all other
// atomics are relaxed.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "core/segment.hpp"
#include "random.hpp"
#include "segments.hpp"
#include "threads.hpp"

namespace snowid::core::test {
namespace {

constexpr int kDrawers = 3;
constexpr int64_t kNumbers = 300000;
constexpr int64_t kMostOfRun = 24;  // from its first number to its last

void Pause() { std::this_thread::yield(); }

// The segment, and notes: each drawer makes one before each draw.
class Board {
 public:
  Board() : published_(kNumbers + kMostOfRun), note_of_(kNumbers + kMostOfRun) {
    for (auto& notes : noted_) notes.resize(kNumbers + kMostOfRun + 1);
  }

  // Draws until all numbers have gone, a little at a time. Returns how many numbers were visible
  // before they were published.
  int DrawAll(int thread) {
    int unseen = 0;
    Random random(static_cast<uint64_t>(thread));
    for (int turn = 1; !is_over_.load(std::memory_order_relaxed);) {
      int* note = &noted_[thread][static_cast<size_t>(turn)];
      *note = turn;
      const Drawn drawn = draw(segment_, 1 + static_cast<uint32_t>(random.Below(3)));
      if (drawn.count == 0) {
        if (random.Below(4) == 0) Pause();
        continue;
      }
      for (uint32_t i = 0; i < drawn.count; i++) {
        const auto number = static_cast<size_t>(drawn.first) + i;
        unseen += published_[number] != static_cast<int>(number) + 1;
        note_of_[number].store(turn * kDrawers + thread, std::memory_order_relaxed);
      }
      turn++;
    }
    return unseen;
  }

  // Publishes numbers until there are none left. forgets: whether it gives up what is left before
  // it looks, rather than waits until it is drawn. Returns how many notes it could not read.
  int PublishAll(bool forgets) {
    int unseen = 0;
    Random random(100);
    int64_t next = 0;
    int64_t looked = 0;
    int64_t ends[2] = {0, 0};
    while (next < kNumbers) {
      // Where nothing is left the spacing may change, too.
      const Spacing spacing{1, forgets && random.Below(2) == 0 ? 4u : 1u};
      const uint64_t count = 1 + random.Below(6);
      const std::vector<int64_t> run = NumbersOf(next, count, spacing);
      for (const int64_t number : run)
        published_[static_cast<size_t>(number)] = static_cast<int>(number) + 1;
      if (forgets) {
        // HasRoom would order what it should be Forget alone that does.
        for (uint64_t i = random.Below(4); i > 0; i--) Pause();
        forget(segment_);
        for (; looked < next; looked++) unseen += !IsNoteSeen(looked);
      } else {
        while (!has_room(segment_)) Pause();
        for (; looked < ends[0]; looked++) {
          // It has been drawn; by whom, comes to be known.
          while (note_of_[static_cast<size_t>(looked)].load(std::memory_order_relaxed) == 0)
            Pause();
          unseen += !IsNoteSeen(looked);
        }
      }
      publish(segment_, next, count, spacing);
      next = run.back() + 1;
      ends[0] = std::exchange(ends[1], next);
    }
    is_over_.store(true, std::memory_order_relaxed);
    return unseen;
  }

 private:
  // Whether the note that was made before a number was drawn is there. True where it was not drawn.
  bool IsNoteSeen(int64_t number) {
    const int note = note_of_[static_cast<size_t>(number)].load(std::memory_order_relaxed);
    if (note == 0) return true;
    return noted_[note % kDrawers][static_cast<size_t>(note / kDrawers)] == note / kDrawers;
  }

  Segment segment_{};
  std::atomic<bool> is_over_{false};
  std::vector<int> published_;
  std::vector<int> noted_[kDrawers];
  std::vector<std::atomic<int>> note_of_;  // by number: draw * kDrawers + thread, 0 for none
};

// Checks both ways, with the refiller as one more thread.
void ExpectSeen(bool forgets) {
  Board board;
  std::atomic<int> unseen{0};
  RunThreads(kDrawers + 1, [&](int thread) {
    unseen += thread == kDrawers ? board.PublishAll(forgets) : board.DrawAll(thread);
  });
  EXPECT_EQ(unseen.load(), 0);
}

TEST(SegmentVisible, WhatWasDoneBeforeADrawToARefillerWhoFindsRoom) { ExpectSeen(false); }

TEST(SegmentVisible, WhatWasDoneBeforeADrawToARefillerWhoForgets) { ExpectSeen(true); }

}  // namespace
}  // namespace snowid::core::test
