// Checking whether this database may issue IDs. See may_issue.hpp.
#include "pg/database/may_issue.hpp"

#include "pg/database/shared_number.hpp"

namespace snowid::pg {

void check_may_issue(bool fails) {
  for (bool is_noted = false; !is_noted;) {
    const uint64 changes = ChangesOf(number_word->load(std::memory_order_acquire));
    if (!node_may_issue(fails)) return;
    // A transaction that has changed the number sees what others do not see yet, and may never see.
    if (HasChangedNumber()) return;
    // Where something has changed since, it is called again.
    LWLockAcquire(&shared_ceiling->lock, LW_EXCLUSIVE);
    is_noted = ChangesOf(number_word->load(std::memory_order_acquire)) == changes;
    if (is_noted) shared_database->may_issue.store(true, std::memory_order_release);
    LWLockRelease(&shared_ceiling->lock);
  }
}

}  // namespace snowid::pg
