// Known: what a sequence's page said when a block of it was last allocated. A session compares the
// page with that. If they differ, somebody else has changed the sequence since, by setval or ALTER
// SEQUENCE for example, and the numbers in memory are not valid.
//
// Shared: Known, atomics. One process at a time changes it, the one that also changes the page. All
// others read it, also in the middle of a change.
#pragma once

#include <atomic>
#include <cstdint>

namespace snowid::core {

// What a sequence's page says. The last two fields show whether others have changed it, even if to
// the same value: PostgreSQL logs each change of the page, which moves its LSN; and where nothing
// is logged it overwrites the mark in log_cnt.
struct SequenceValue {
  int64_t last;     // the last value, or the next one where is_called is false
  bool is_called;   // whether nextval has given that value
  uint64_t lsn;     // where in the WAL the page was last changed; 0 is no place
  int64_t log_cnt;  // below 0 where it is the mark
};

// The page as it was last changed. If it says anything else, the numbers in memory are not valid.
struct Known {
  std::atomic<uint32_t> file;  // the sequence's storage, 0 where nothing in memory counts
  // The last value, before and after the change that is under way; the same twice where none is.
  // And the places in the WAL where the page was changed to hold them.
  std::atomic<int64_t> before;
  std::atomic<int64_t> after;
  std::atomic<uint64_t> lsn_before;
  // 0 while the page is being changed, or where the change was not logged. Then the place is not
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
// valid then: announce() sets `file` to 0 first where others have changed the sequence.
inline bool is_as_before(const Known& known, uint32_t file, const SequenceValue& page) noexcept {
  return page.last == known.before.load(std::memory_order_acquire) &&
         page.log_cnt == known.log_cnt.load(std::memory_order_acquire) &&
         page.lsn == known.lsn_before.load(std::memory_order_acquire) &&
         known.file.load(std::memory_order_acquire) == file;
}

// A change has three steps. The first comes before the page, which says `page`, is changed to
// `last` and is_called. If others have changed it, the numbers in memory are not valid from here
// until settle().
inline void announce(Known& known, uint32_t file, const SequenceValue& page, int64_t last,
                     bool is_called) noexcept {
  if (!is_as_known(known, file, page)) known.file.store(0, std::memory_order_release);
  known.before.store(page.last, std::memory_order_release);
  known.lsn_before.store(page.lsn, std::memory_order_release);
  known.lsn_after.store(0, std::memory_order_release);
  known.after.store(last, std::memory_order_release);
  known.is_called.store(is_called, std::memory_order_release);
}

// The second step: the page says `page` now, and nobody else could change it meanwhile.
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
