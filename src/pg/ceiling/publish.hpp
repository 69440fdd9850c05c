// Writing the ceiling to its sequence, and publishing it: storing it in shared memory, where other
// sessions read it, once what was written is durable.
//
// Shared: the pages of the sequence, and Ceiling. The caller holds the ceiling's lock (held.hpp).
#pragma once

#include "pg/ceiling/held.hpp"

namespace snowid::pg {

// Writes a ceiling of `target` at least to the sequence. IDs may not use it before
// publish_ceiling(). Where the sequence holds more than this server has written to it, slots are
// lifted to that.
void write_ceiling(const HeldCeiling& held, core::UnixMillis target);

// Makes what was written durable, and then the ceiling in memory. Lets go of the lock while it
// waits for a synchronous standby. If that wait fails, the ceiling in memory stays as it was, and
// the next to publish waits for the same record.
void publish_ceiling(const HeldCeiling& held);

// Whether the sequence holds more than the ceiling in memory.
bool is_written_ahead(const HeldCeiling& held);

// Stores the alert, but no later than a day before wild times, and 0 while it is not known that
// this database may issue IDs.
void store_alert(const HeldCeiling& held, int64 alert_us);

// Raises the floor of the ceiling that is held, and all slots above it. Closed slots stay closed;
// open_slot() reads the floor.
void lift_slots_to(const HeldCeiling& held, core::UnixMicros floor);

}  // namespace snowid::pg
