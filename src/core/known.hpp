// Known: the contents of a sequence's page when a block of it was last allocated. A session
// compares the page with that. If they differ, the sequence was changed from outside since, by
// setval or ALTER SEQUENCE for example, and the numbers in memory are not valid.
//
// Shared: Known, atomics. One process at a time changes it, the one that also changes the page. The
// other processes read it, even in the middle of a change.
#pragma once

#include <atomic>
#include <cstdint>

namespace snowid::core {

// The contents of a sequence's page. The last two fields show whether it was changed from outside,
// even to the same value: PostgreSQL logs each change of the page, which moves its LSN; for
// unlogged sequences, it overwrites the mark in log_cnt.
struct SequenceValue {
  int64_t last;     // the last value, or the next one if is_called is false
  bool is_called;   // whether nextval has given that value
  uint64_t lsn;     // LSN of the page's last change; 0 is none
  int64_t log_cnt;  // below 0 if it is the mark
};

// The page as it was last changed. If it differs, the numbers in memory are not valid.
struct Known {
  std::atomic<uint32_t> file;  // the sequence's storage, 0 if nothing in memory counts
  // The last value, before and after the change under way; the same twice if there is none. And the
  // LSNs of these two states of the page.
  std::atomic<int64_t> before;
  std::atomic<int64_t> after;
  std::atomic<uint64_t> lsn_before;
  // 0 while the page is being changed, or if the change was not logged. Then the LSN is not
  // compared.
  std::atomic<uint64_t> lsn_after;
  std::atomic<bool> is_called;   // after the change
  std::atomic<int64_t> log_cnt;  // the mark
};

// Whether the page of this storage is as it was after the last change.
inline bool is_as_known(const Known& known, uint32_t file, const SequenceValue& page) noexcept {
  const uint64_t lsn = known.lsn_after.load(std::memory_order_acquire);
  return known.file.load(std::memory_order_acquire) == file &&
         page.last == known.after.load(std::memory_order_acquire) &&
         page.is_called == known.is_called.load(std::memory_order_acquire) &&
         page.log_cnt == known.log_cnt.load(std::memory_order_acquire) &&
         (page.lsn == lsn || lsn == 0);
}

// Whether the page is as it was before a change that is under way, and the numbers in memory were
// valid then: announce() sets `file` to 0 first if the sequence was changed from outside.
inline bool is_as_before(const Known& known, uint32_t file, const SequenceValue& page) noexcept {
  return page.last == known.before.load(std::memory_order_acquire) &&
         page.log_cnt == known.log_cnt.load(std::memory_order_acquire) &&
         page.lsn == known.lsn_before.load(std::memory_order_acquire) &&
         known.file.load(std::memory_order_acquire) == file;
}

// A change has three steps. The first comes before the page, which holds `page`, is changed to
// `last` and is_called. If it was changed from outside, the numbers in memory are not valid from
// here until settle().
inline void announce(Known& known, uint32_t file, const SequenceValue& page, int64_t last,
                     bool is_called) noexcept {
  if (!is_as_known(known, file, page)) known.file.store(0, std::memory_order_release);
  known.before.store(page.last, std::memory_order_release);
  known.lsn_before.store(page.lsn, std::memory_order_release);
  known.lsn_after.store(0, std::memory_order_release);
  known.after.store(last, std::memory_order_release);
  known.is_called.store(is_called, std::memory_order_release);
}

// The second step: the page holds `page` now, and no other process could change it meanwhile.
inline void note_own_change(Known& known, const SequenceValue& page) noexcept {
  known.log_cnt.store(page.log_cnt, std::memory_order_release);
  known.lsn_after.store(page.lsn, std::memory_order_release);
}

// The third step: the change is durable, and the numbers in memory are those that it has allocated.
inline void settle(Known& known, uint32_t file) noexcept {
  known.before.store(known.after.load(std::memory_order_relaxed), std::memory_order_release);
  known.lsn_before.store(known.lsn_after.load(std::memory_order_relaxed),
                         std::memory_order_release);
  known.file.store(file, std::memory_order_release);
}

}  // namespace snowid::core
