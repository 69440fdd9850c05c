// Sharing the node's own number. See shared_number.hpp.
#include "pg/database/shared_number.hpp"

namespace snowid::pg {

namespace {

constexpr uint64 kNumberMask = (uint64{1} << kSharedNumberBits) - 1;

// Whether this transaction has changed the number.
bool has_changed = false;

}  // namespace

bool has_changed_number() noexcept { return has_changed; }

bool shared_number_recall(int64* number) {
  if (has_changed || IsParallelWorker() || RecoveryInProgress()) return false;
  database_attach();
  const uint64 stored = number_word->load(std::memory_order_acquire) & kNumberMask;
  *number = static_cast<int64>(stored) - 1;
  return stored > 0;
}

void shared_number_store(uint64 changes, int64 number) {
  Assert(number >= 0);
  if (has_changed || IsParallelWorker() || RecoveryInProgress()) return;
  if (static_cast<uint64>(number) >= kNumberMask) return;
  uint64_t word = changes << kSharedNumberBits;
  number_word->compare_exchange_strong(word, word | (static_cast<uint64>(number) + 1),
                                       std::memory_order_acq_rel);
}

void shared_number_change() {
  database_attach();
  count_number_change();
}

void shared_number_change_with_transaction() {
  shared_number_change();
  has_changed = true;
}

void at_eoxact_shared_number(XactEvent event) {
  if (!has_changed) return;
  if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT && event != XACT_EVENT_PREPARE)
    return;
  has_changed = false;
  count_number_change();
}

void check_may_issue(bool fails) {
  for (bool is_noted = false; !is_noted;) {
    const uint64 changes = changes_of(number_word->load(std::memory_order_acquire));
    if (!node_may_issue(fails)) return;
    // A transaction that has changed the number sees what others do not see yet, and may never see.
    if (has_changed_number()) return;
    // Where something has changed since, it is called again.
    LWLockAcquire(&shared_ceiling->lock, LW_EXCLUSIVE);
    is_noted = changes_of(number_word->load(std::memory_order_acquire)) == changes;
    if (is_noted) shared_database->may_issue.store(true, std::memory_order_release);
    LWLockRelease(&shared_ceiling->lock);
  }
}

}  // namespace snowid::pg
