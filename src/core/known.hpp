// Known: the state of a sequence's page when a block was last allocated from it. If a session finds
// the page in another state, the sequence was changed from outside, by setval or ALTER SEQUENCE for
// example, and the numbers in memory are invalid.
//
// Shared: Known, of atomics. Only the process that changes the page changes it. Any may read it.
#pragma once

#include <atomic>
#include <cstdint>

namespace snowid::core {

// The contents of a sequence's page. The last two fields show a change from outside, even to the
// same value: PostgreSQL logs it, which moves the LSN, or overwrites the mark if unlogged.
struct SequenceValue {
  int64_t last;     // the last value, or the next one if is_called is false
  bool is_called;   // whether nextval returned `last`
  uint64_t lsn;     // LSN of the page's last change, 0 for none
  int64_t log_cnt;  // below 0 if it is the mark
};

// Sets *next to nextval's next number. Returns false if it exceeds bigint.
constexpr bool next_number(const SequenceValue& page, int64_t increment, int64_t* next) noexcept {
  *next = page.last;
  return !page.is_called || !__builtin_add_overflow(page.last, increment, next);
}

struct Known {
  std::atomic<uint32_t> file;  // the sequence's storage, 0 if the numbers in memory are invalid
  // Last value and LSN of the page before the change under way, and after; equal if there is none.
  std::atomic<int64_t> before;
  std::atomic<int64_t> after;
  std::atomic<uint64_t> lsn_before;
  // 0 during the change, and if the change was not logged: then the LSN is not compared.
  std::atomic<uint64_t> lsn_after;
  std::atomic<bool> is_called;   // after the change
  std::atomic<int64_t> log_cnt;  // the mark
};

inline bool is_as_known(const Known& known, uint32_t file, const SequenceValue& page) noexcept {
  const uint64_t lsn = known.lsn_after.load(std::memory_order_acquire);
  return known.file.load(std::memory_order_acquire) == file &&
         page.last == known.after.load(std::memory_order_acquire) &&
         page.is_called == known.is_called.load(std::memory_order_acquire) &&
         page.log_cnt == known.log_cnt.load(std::memory_order_acquire) &&
         (page.lsn == lsn || lsn == 0);
}

// Whether the page is in the state before a change under way, with valid numbers in memory.
// (announce() sets `file` to 0 if the sequence was changed from outside.)
inline bool is_as_before(const Known& known, uint32_t file, const SequenceValue& page) noexcept {
  return page.last == known.before.load(std::memory_order_acquire) &&
         page.log_cnt == known.log_cnt.load(std::memory_order_acquire) &&
         page.lsn == known.lsn_before.load(std::memory_order_acquire) &&
         known.file.load(std::memory_order_acquire) == file;
}

// The first of three steps of a change, before the page is changed from `page` to `last` and
// is_called. After a change from outside, the numbers in memory are invalid until settle().
inline void announce(Known& known, uint32_t file, const SequenceValue& page, int64_t last,
                     bool is_called) noexcept {
  if (!is_as_known(known, file, page)) known.file.store(0, std::memory_order_release);
  known.before.store(page.last, std::memory_order_release);
  known.lsn_before.store(page.lsn, std::memory_order_release);
  known.lsn_after.store(0, std::memory_order_release);
  known.after.store(last, std::memory_order_release);
  known.is_called.store(is_called, std::memory_order_release);
}

// The second step: the page holds `page`. Requires: no other process could change it since.
inline void note_own_change(Known& known, const SequenceValue& page) noexcept {
  known.log_cnt.store(page.log_cnt, std::memory_order_release);
  known.lsn_after.store(page.lsn, std::memory_order_release);
}

// The third step: the change is durable, and the numbers in memory are those allocated by it.
inline void settle(Known& known, uint32_t file) noexcept {
  known.before.store(known.after.load(std::memory_order_relaxed), std::memory_order_release);
  known.lsn_before.store(known.lsn_after.load(std::memory_order_relaxed),
                         std::memory_order_release);
  known.file.store(file, std::memory_order_release);
}

}  // namespace snowid::core
