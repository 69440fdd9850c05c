// A model of the ceiling, which `make model` searches.
//
// A server has one standby, synchronous or asynchronous. Two sessions issue IDs of one shard. At any
// moment the clock shows any time, WAL is flushed or sent, one user sets the sequence, another locks it,
// a raise fails, a wait for the standby is cancelled, the server crashes, or the standby is promoted.
//
// A unit of time has one ID: IDs and times are the same numbers. The WAL holds only records of the
// ceiling's pages. Record 0 is the last one that the standby has, and WAL position 0 is durable on both
// servers. A session may raise the ceiling early at any time, not only above the alert. The model leaves
// out replacing the sequence (ALTER SEQUENCE, DROP EXTENSION), skipped times, and the wider raise if IDs
// are rare.

// The functions that each step stands for, in src/pg/ceiling/ceiling.cpp unless noted. If one of them changes, its
// step changes too.
// - IDLE, to RELATION without an ID: cached_shard() (ids/issue.hpp), ceiling_learn()
// - IDLE, an ID is taken: slot_of() (ids/shards.cpp), issue() (ids/issue.hpp), take_ids() (ids/issue.cpp),
//   take() (core/tick.hpp)
// - IDLE, to RELATION with an ID: make_room_below_ceiling() (ids/issue.cpp), ceiling_raise()
// - RELATION, to LOCK: open_ceiling() (ceiling_storage.cpp), called by lock_ceiling()
// - LOCK, the lock is taken: lock_ceiling()
// - LOCK, an earlier write is published: the beginning of ceiling_raise()
// - LOCK, to IDLE, WAIT or LIFT: step_of() (core/ceiling.hpp); look_at_ceiling()
// - LOCK, the pages change: write_ceiling(), set_ceiling() (core/ceiling.hpp), store_on_pages()
//   (ceiling_storage.cpp)
// - LOCK, the floor; LIFT, the slot, or a failure: lift_slots_to()
// - LIFT, `written` and `written_lsn`: the end of write_ceiling()
// - flush: publish_ceiling() up to LWLockRelease()
// - WAIT, the standby, or a cancel: sequence_make_durable() (sequence_page.cpp)
// - WAIT, to IDLE: the end of publish_ceiling()
// - unlock_ceiling: unlock_ceiling()
// - start_server: begin_database() (database/database.cpp), for new shared memory; PostgreSQL's recovery

// The bounds. The number of crashes, promotions, locks, cancelled waits and failures is not limited.
#define SESSIONS 2
#define LAST_CLOCK 2 // the latest time that the clock shows; the earliest is 0
#define LEAD 2       // snowid.max_lead
#define STEP 2       // snowid.ceiling_step
#define SETVALS 2    // how often a user sets the sequence, to LOW or HIGH
#define LOW 0
#define HIGH 3
#define RECORDS 12 // size of the WAL; the standby never lacks as many

// The properties.
bool no_id_twice = true;   // each ID is above all IDs that callers have seen
bool below_ceiling = true; // each ID is at or below a durable ceiling
bool no_deadlock = true;   // each lock that a session waits for is released, even if the standby never answers

// The faults. Each is compiled in by -DFAULT_NAME, and must be found.
// fault NO_FLUSH: what was written is published without a flush; found by below_ceiling
// fault NO_STANDBY: what was written is published without a wait for the standby; found by below_ceiling
// fault PUBLISH_FIRST: the ceiling is published before the standby has it; found by below_ceiling
// fault CANCEL_PUBLISHES: a cancelled wait for the standby publishes as one that has ended; found by below_ceiling
// fault AHEAD_IS_DURABLE: what was written ahead is published without a look at the WAL; found by below_ceiling
// fault ALERT_AT_WRITTEN: the alert is what was written ahead; found by below_ceiling
// fault SETVAL_NOT_LIFTED: IDs do not go on above what a user has set; found by below_ceiling
// fault LIFT_FORGOTTEN: what the pages say counts as written, though slots could not be lifted; found by below_ceiling
// fault OWN_RECORD: a raise waits only for a record that it has written itself; found by below_ceiling
// fault LATER_PUBLISHED: what others have written during the wait is published, too; found by below_ceiling
// fault SETVAL_BELIEVED: a lower value that a user has set replaces the ceiling; found by no_id_twice
// fault RESTART_LOW: IDs do not go on above the ceiling after a start of the server; found by no_id_twice
// fault SLOT_AT_CLOCK: a new slot starts at the clock, not at the floor; found by no_id_twice
// fault STALE_TICK: after a raise a session takes the ID that it raised the ceiling for; found by no_id_twice
// fault NO_EXCEPTION: the promotion of a standby that lacks WAL is no exception; found by no_id_twice
// fault LOCK_ORDER: a raise takes the ceiling's lock before the relation's; found by no_deadlock
// fault LOCK_IN_WAIT: a raise keeps the ceiling's lock while it waits for the standby; found by no_deadlock
// fault LOCK_LEFT: a raise that fails keeps the ceiling's lock; found by no_deadlock

bool is_sync; // the standby is synchronous

// The values on the sequence's two pages. setval changes the first one alone.
byte first, second;

// The WAL: the pages after each record, its end, and the end of what is flushed.
byte first_at[RECORDS], second_at[RECORDS];
byte inserted, flushed;

// Shared memory: Ceiling, and the shard's slot.
bool is_locked;    // lock
bool is_known;     // relation, file
byte written;      // written_us
byte written_lsn;  // written_lsn
byte ceiling;      // ceiling_us
byte floor;        // floor_us
bool is_made;      // the slot exists
byte tick;         // its last_tick
byte sharers;      // how many sessions have locked the relation
bool is_exclusive; // a user has locked the relation against them

// The sessions.
mtype = {
  IDLE,     // raises nothing
  RELATION, // locks the relation next
  LOCK,     // locks the ceiling next
  LIFT,     // has locked the ceiling and changed its pages, and lifts slots next
  WAIT      // has flushed the WAL, and waits for the standby
};
mtype at[SESSIONS];
bool is_early[SESSIONS]; // it raises the ceiling with kEarly
byte next[SESSIONS];     // the ID that it needs; 0 if it learns the ceiling
byte before[SESSIONS];   // the ceiling that it has found on the pages
byte to[SESSIONS];       // the ceiling that it writes or publishes
byte lsn[SESSIONS];      // the end of the record that it has written or waits for

// The past.
byte greatest; // the greatest ID that a caller has seen
bool is_lost;  // a standby was promoted that lacked the WAL below that ID
byte setvals;

#define MAX(a, b) ((a) > (b) -> (a) : (b))
#define IS_DURABLE(lsn) (is_sync -> (lsn) == 0 : (lsn) <= flushed)
#define CEILING_AT(lsn) MAX(first_at[lsn], second_at[lsn])
#define IS_ENOUGH(me) (written >= next[me] + STEP - STEP / 2)
#ifdef FAULT_LOCK_ORDER
#define CAN_LOCK_FIRST(me) (!is_locked)
#define CAN_LOCK_SECOND(me) (!is_exclusive)
#else
#define CAN_LOCK_FIRST(me) (!is_exclusive || is_early[me])
#define CAN_LOCK_SECOND(me) (!is_locked)
#endif
#if defined FAULT_NO_FLUSH || defined FAULT_NO_STANDBY
#define CAN_PUBLISH(me) (!is_locked)
#else
#ifdef FAULT_LOCK_IN_WAIT
#define CAN_PUBLISH(me) IS_DURABLE(lsn[me])
#else
#define CAN_PUBLISH(me) (IS_DURABLE(lsn[me]) && !is_locked)
#endif
#endif
// Whether a session can continue without the standby, and whether it waits for a lock.
#define CAN_GO_ON(me) \
  (at[me] == IDLE || at[me] == LIFT || (at[me] == RELATION && CAN_LOCK_FIRST(me)) || \
   (at[me] == LOCK && CAN_LOCK_SECOND(me)) || (at[me] == WAIT && CAN_PUBLISH(me)))
#define IS_STUCK(me) (!CAN_GO_ON(me) && !(at[me] == WAIT && !IS_DURABLE(lsn[me])))
#ifdef FAULT_RESTART_LOW
#define IS_LIFTED(me) (before[me] > written && is_known)
#else
#ifdef FAULT_SETVAL_NOT_LIFTED
#define IS_LIFTED(me) (before[me] > written && !is_known)
#else
#define IS_LIFTED(me) (before[me] > written)
#endif
#endif

// Logs the pages. An equal record is not added: the model would wait for the same content.
inline insert_record() {
  if
  :: first_at[inserted] != first || second_at[inserted] != second ->
     inserted++;
     first_at[inserted] = first;
     second_at[inserted] = second
  :: else
  fi
}

// The standby receives a record: every position decreases by one.
inline send_record() {
  for (i : 1 .. inserted) {
    first_at[i - 1] = first_at[i];
    second_at[i - 1] = second_at[i]
  }
  first_at[inserted] = 0;
  second_at[inserted] = 0;
  inserted--;
  flushed--;
  written_lsn = MAX(written_lsn, 1) - 1;
  for (i : 0 .. SESSIONS - 1) { lsn[i] = MAX(lsn[i], 1) - 1 }
  i = 0
}

inline end_raise(me) {
  at[me] = IDLE;
  is_early[me] = false;
  next[me] = 0;
  before[me] = 0;
  to[me] = 0;
  lsn[me] = 0
}

// A server starts with the WAL up to `end`, and with new shared memory.
inline start_server(end) {
  for (i : end + 1 .. inserted) {
    first_at[i] = 0;
    second_at[i] = 0
  }
  inserted = end;
  flushed = end;
  first = first_at[end];
  second = second_at[end];
  is_locked = false;
  is_known = false;
  written = 0;
  written_lsn = 0;
  ceiling = 0;
  floor = 0;
  is_made = false;
  tick = 0;
  sharers = 0;
  is_exclusive = false;
  for (i : 0 .. SESSIONS - 1) { end_raise(i) }
  i = 0
}

// A session issues an ID, and its caller sees it. docs/guarantees.md makes one exception: after the
// promotion of an asynchronous standby that lacked WAL, while the clock is not past the IDs issued before.
inline take(id) {
  tick = id;
  below_ceiling = id <= CEILING_AT(flushed) && (!is_sync || id <= CEILING_AT(0));
  assert(below_ceiling);
#ifdef FAULT_NO_EXCEPTION
  no_id_twice = id > greatest;
#else
  no_id_twice = id > greatest || (is_lost && now <= greatest);
#endif
  assert(no_id_twice);
  if
  :: id > greatest -> greatest = id; is_lost = false
  :: else
  fi
}

// publish_ceiling(), up to the wait for the standby.
inline flush(me) {
  at[me] = WAIT;
  to[me] = written;
  before[me] = 0;
#ifndef FAULT_OWN_RECORD
  lsn[me] = written_lsn;
#endif
#ifdef FAULT_PUBLISH_FIRST
  ceiling = written;
#endif
#ifndef FAULT_LOCK_IN_WAIT
  is_locked = false;
#endif
#ifndef FAULT_NO_FLUSH
  flushed = MAX(flushed, lsn[me])
#endif
}

// unlock_ceiling()
inline unlock_ceiling(me) {
  is_locked = false;
  sharers--;
  end_raise(me)
}

proctype session(byte me) {
  byte now; // the clock
  byte id;

end:
  do
  // cached_shard() calls ceiling_learn(): the session is new, or has received an invalidation.
  :: d_step { at[me] == IDLE -> at[me] = RELATION }

  // issue(), issue_slowly(). Both sessions know the ceiling as soon as one has learned it.
  :: atomic {
       at[me] == IDLE && is_known ->
       select (now : 0 .. LAST_CLOCK);
       if
       :: !is_made -> // make_slot()
          is_made = true;
#ifdef FAULT_SLOT_AT_CLOCK
          tick = now
#else
          tick = floor
#endif
       :: else
       fi;
       id = MAX(tick + 1, now); // FirstTick()
       if
       :: id > now + LEAD -> skip // wait_for_clock()
       :: id <= now + LEAD && id <= ceiling -> take(id)
#ifdef FAULT_ALERT_AT_WRITTEN
       :: id <= now + LEAD && id <= written -> take(id)
#endif
       :: id <= now + LEAD -> // make_room_below_ceiling()
          at[me] = RELATION;
          is_early[me] = id <= ceiling;
          next[me] = id
       fi;
       now = 0;
       id = 0
     }

  // lock_ceiling(): the relation. An early raise does not wait for it.
  :: d_step {
       at[me] == RELATION && CAN_LOCK_FIRST(me) ->
#ifdef FAULT_LOCK_ORDER
       at[me] = LOCK;
       is_locked = true
#else
       if
       :: !is_exclusive -> at[me] = LOCK; sharers++
       :: else -> end_raise(me)
       fi
#endif
     }

  // lock_ceiling(): the ceiling. Then what needs no other lock, up to the changed pages.
  :: d_step {
       at[me] == LOCK && CAN_LOCK_SECOND(me) ->
#ifdef FAULT_LOCK_ORDER
       sharers++;
#else
       is_locked = true;
#endif

       // find_ceiling()
       if
#ifdef FAULT_AHEAD_IS_DURABLE
       :: next[me] > 0 && is_known && written > ceiling -> ceiling = written
#else
       :: next[me] > 0 && is_known && written > ceiling && IS_DURABLE(written_lsn) -> ceiling = written
#endif
       :: else
       fi;

       if
       // look_at_ceiling()
       :: next[me] == 0 && is_known && first == written -> unlock_ceiling(me)
       // StepOf(): kNothing and kNudge, kPublish
       :: next[me] > 0 && is_known && next[me] <= ceiling && (written > ceiling || IS_ENOUGH(me)) ->
          unlock_ceiling(me)
       :: next[me] > 0 && is_known && next[me] > ceiling && IS_ENOUGH(me) -> flush(me)
       :: else ->
          // write_ceiling()
          at[me] = LIFT;
          to[me] = MAX((next[me] == 0 -> 0 : next[me] + STEP), written);
#ifdef FAULT_SETVAL_BELIEVED
          before[me] = first;
#else
          before[me] = MAX(first, second);
#endif
          if
          :: before[me] < to[me] || (before[me] == to[me] && (first != second || !is_known)) ->
             first = MAX(before[me], to[me]);
             second = first;
             insert_record();
             lsn[me] = inserted
          :: else
          fi;
          // lift_slots_to(): the floor
          if
          :: IS_LIFTED(me) -> floor = MAX(floor, before[me])
          :: else
          fi
       fi
     }

  // lift_slots_to() fails: memory cannot be mapped.
  :: d_step {
       at[me] == LIFT && IS_LIFTED(me) ->
#ifdef FAULT_LIFT_FORGOTTEN
       written = before[me];
#endif
       unlock_ceiling(me);
#ifdef FAULT_LOCK_LEFT
       is_locked = true
#endif
     }

  // lift_slots_to(): the slot. The end of write_ceiling().
  :: d_step {
       at[me] == LIFT ->
       if
       :: IS_LIFTED(me) && is_made -> tick = MAX(tick, before[me])
       :: else
       fi;
       written = MAX(before[me], to[me]);
       if
       :: lsn[me] > 0 -> written_lsn = lsn[me]
       :: else
       fi;
       if
       :: next[me] > 0 && is_known && next[me] <= ceiling -> unlock_ceiling(me) // StepOf(): kWrite
       :: else -> flush(me)
       fi
     }

  // publish_ceiling(), after the wait.
  :: d_step {
       at[me] == WAIT && CAN_PUBLISH(me) -> is_known = true;
#ifdef FAULT_LATER_PUBLISHED
       to[me] = written;
#endif
       ceiling = MAX(ceiling, to[me]);
#ifdef FAULT_STALE_TICK
       if
       :: next[me] > 0 -> take(next[me])
       :: else
       fi;
#endif
       unlock_ceiling(me)
     }

  // sequence_make_durable() is cancelled.
  :: d_step {
       at[me] == WAIT && !IS_DURABLE(lsn[me]) ->
#ifdef FAULT_CANCEL_PUBLISHES
       ceiling = MAX(ceiling, to[me]);
#endif
#ifdef FAULT_LOCK_IN_WAIT
       is_locked = false;
#endif
       sharers--;
       end_raise(me)
     }
  od
}

init {
  byte i;
  atomic {
    if
    :: is_sync = true
    :: is_sync = false
    fi;
    for (i : 0 .. SESSIONS - 1) {
      at[i] = IDLE;
      run session(i)
    }
    i = 0
  }

end:
  do
  // One user sets the sequence. Another locks it, and then issues an ID.
  :: d_step { setvals < SETVALS && !is_exclusive -> setvals++; first = LOW; insert_record() }
  :: d_step { setvals < SETVALS && !is_exclusive -> setvals++; first = HIGH; insert_record() }
  :: d_step { sharers == 0 && !is_exclusive -> is_exclusive = true }
  :: d_step { is_exclusive && !is_locked -> is_exclusive = false }

  // The WAL writer or a commit flushes. The standby receives.
  :: d_step { flushed < inserted -> flushed++ }
  :: d_step { flushed > 0 -> send_record() }

  // The search has found a deadlock.
  :: d_step {
       (IS_STUCK(0) || IS_STUCK(1)) && !CAN_GO_ON(0) && !CAN_GO_ON(1) && !(is_exclusive && !is_locked) ->
       no_deadlock = false;
       assert(no_deadlock)
     }

  // The server crashes and starts, or the standby is promoted.
  :: d_step { start_server(flushed) }
  :: d_step {
       start_server(0);
       is_lost = !is_sync && (is_lost || CEILING_AT(0) < greatest)
     }
  od
}
