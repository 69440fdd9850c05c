// Segments: numbers of a sequence, allocated in blocks of its INCREMENT and drawn by all sessions
// of the database from shared memory. See counter.hpp for the locks, and core/segment.hpp for
// drawing.
#pragma once

#include "pg/counters/counter.hpp"

namespace snowid::pg {

// The counter of a sequence as a segment, locked by this transaction. Fails as counter_open() does
// where the user may not call nextval.
Counter* segment_open(Oid relid);

// Draws up to `want` numbers that follow one another, at least one. size: how many numbers a block
// has, 0 for all of the sequence's increment. Fails with 22023 where the size is above the
// increment, with 2200H where no number is left, and with 55000 as sequence_options() and
// central_open_table() do. Where there is a central source: with 08006 if it cannot be reached,
// with 55000 if it gives what was given here before, with 08P01 if it answers nonsense, with what
// it reports, and as central_report_changed() does.
core::Drawn segment_draw(Counter* counter, uint64 size, uint32 want);

}  // namespace snowid::pg
