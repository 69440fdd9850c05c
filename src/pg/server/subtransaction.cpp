// Trying what may fail. See subtransaction.hpp.
#include "pg/server/subtransaction.hpp"

namespace snowid::pg {

ErrorData* try_in_subtransaction(void (*step)(void* argument), void* argument) {
  Assert(!IsInParallelMode());
  MemoryContext context = CurrentMemoryContext;
  ResourceOwner resources = CurrentResourceOwner;
  // An error sets both to 0.
  const uint32 interrupts = InterruptHoldoffCount;
  const uint32 cancels = QueryCancelHoldoffCount;
  ErrorData* volatile error = nullptr;
  BeginInternalSubTransaction(nullptr);
  PG_TRY();
  {
    MemoryContextSwitchTo(context);
    step(argument);
    ReleaseCurrentSubTransaction();
  }
  PG_CATCH();
  {
    MemoryContextSwitchTo(context);
    InterruptHoldoffCount = interrupts;
    QueryCancelHoldoffCount = cancels;
    error = CopyErrorData();
    FlushErrorState();
    RollbackAndReleaseCurrentSubTransaction();
  }
  PG_END_TRY();
  MemoryContextSwitchTo(context);
  CurrentResourceOwner = resources;
  return error;
}

}  // namespace snowid::pg
