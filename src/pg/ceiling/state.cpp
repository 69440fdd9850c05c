// The stand-in. See state.hpp.
#include "pg/ceiling/state.hpp"

namespace snowid::pg {

namespace {

Ceiling stand_in;

}  // namespace

bool has_stand_in() noexcept { return my_ceiling == &stand_in; }

void use_stand_in(bool wanted) {
  if (wanted && !has_stand_in()) {
    LWLockInitialize(&stand_in.lock, shared_tranche);
    stand_in.relation = InvalidOid;
    stand_in.file = 0;
    LWLockAcquire(&shared_ceiling->lock, LW_SHARED);
    stand_in.written_us = shared_ceiling->written_us;
    LWLockRelease(&shared_ceiling->lock);
    stand_in.written_lsn = InvalidXLogRecPtr;
    // Nobody else sees the stand-in.
    stand_in.ceiling_us.store(shared_ceiling->ceiling_us.load(std::memory_order_acquire),
                              std::memory_order_relaxed);
    stand_in.alert_us.store(shared_ceiling->alert_us.load(std::memory_order_acquire),
                            std::memory_order_relaxed);
    stand_in.floor_us.store(shared_ceiling->floor_us.load(std::memory_order_acquire),
                            std::memory_order_relaxed);
  }
  my_ceiling = wanted ? &stand_in : shared_ceiling;
}

}  // namespace snowid::pg
