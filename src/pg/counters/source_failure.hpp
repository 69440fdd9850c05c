// What is remembered of a central source that has failed: whether it is to be tried again yet, and
// what statistics and the server's log tell of it.
//
// Shared: the fields of SharedSegment that are about it (store.hpp), stored by whoever has the
// right to refill, and read by all who draw.
#pragma once

#include "pg/counters/central.hpp"
#include "pg/counters/counter.hpp"

namespace snowid::pg {

// How a source has failed.
struct Failure {
  SourceFailure how;
  int sqlstate;
  const char* why;  // a sentence for the server's log
};

// Remembers that the source has failed, and for how long nobody need try: twice as long as the
// failure took, so that callers spend no great part of their time on it. With kEarly the log is
// told, since the caller is not: once a minute, and of each SQLSTATE that the one before had not.
// began: when the source was tried.
void note_failure(const Counter* counter, const CentralSource& source, const Failure& failure,
                  Urgency urgency, core::UnixMicros began);

// Whether a source that has failed is not to be tried yet. False where the sequence was attached to
// another source since.
bool IsToWait(const Counter* counter);

// Whether the sequence's source could not be reached when it was last tried.
bool IsDown(const Counter* counter);

}  // namespace snowid::pg
