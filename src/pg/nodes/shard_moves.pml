// A model of the moves of a shard between servers, which `make model` searches.
//
// Server 0 has the shard first. An operator releases it on a server that has it, or has had it, and hands
// each ID that a release has returned to one server. Calls come late and more than once, with any ID that
// their server was handed: a call whose answer is lost is one that is repeated. At any moment the server
// crashes, or a transaction that moves the shard is rolled back.
//
// Clocks show the earliest time, so they protect from nothing: an ID is the one after the last. A shard that
// a server has never had is closed there. The model leaves out skipped times and promotions.

// The functions that each step stands for, in src/pg/nodes/shard_moves.cpp unless noted. If one of them changes, its
// step changes too.
// - An ID is issued: issue() (ids/issue.hpp)
// - To RELEASING, commit_release: snowid.release_shard(), pending_close(), at_eoxact_moves()
// - To ACCEPTING, commit_accept: snowid.accept_shard(), require_above(), pending_open(), at_eoxact_moves()
// - roll_back: at_eosubxact_moves(), end_newest(). The server crashes: close_released() (ids/shards.cpp)

// The bounds. The number of crashes, rollbacks and repeated calls is not limited.
#define SERVERS 3
#define IDS 8   // IDs are numbered from 1
#define STEP 1 // snowid.ceiling_step

// The properties.
bool no_id_twice = true; // each ID is issued once
bool one_open = true;    // the shard is open on one server at most
bool no_deadlock = true; // the shard is open, or some server accepts an ID that was returned

// The faults. Each is compiled in by -DFAULT_NAME, and must be found.
// fault ROLLBACK_LOWERS: a release that is rolled back opens the shard below what was issued; found by no_id_twice
// fault ACCEPT_NOT_COVERED: accepting does not raise the ceiling to the ID; found by no_id_twice
// fault ACCEPT_OPENS_EARLY: accepting opens the shard before it is committed; found by no_id_twice
// fault RESTART_LOW: IDs do not go on above the ceiling after a start of the server; found by no_id_twice
// fault ACCEPTS_LOWER: a closed shard accepts an ID below the one that it has released; found by one_open
// fault ACCEPTS_ANYWHERE: an ID is handed to more than one server; found by one_open
// fault RELEASE_NOT_STORED: a release is forgotten in a crash; found by one_open
// fault RELEASE_TELLS_EARLY: a release tells its ID before it is committed; found by one_open
// fault RELEASES_ACCEPTED: a release without an ID issued returns the accepted one; found by no_deadlock

mtype = {
  CLOSED,
  OPEN,
  RELEASING, // closed, by a transaction that is not committed
  ACCEPTING  // closed, to be opened when the transaction is committed
};
typedef Server {
  mtype is;
  byte tick;     // the last ID that was issued or accepted; 0 if the shard is closed
  byte ceiling;  // durable
  byte released; // the row's ID; 0 if there is none
  byte next      // the ID that the transaction releases or accepts
};
Server server[SERVERS];

// By server and ID: whether a release has returned it, and 1 + the server that it was handed to.
typedef Returned { bool is[IDS + 1]; byte to[IDS + 1] };
Returned returned[SERVERS];
bool is_issued[IDS + 1];

#define MAX(a, b) ((a) > (b) -> (a) : (b))
#ifdef FAULT_ACCEPTS_LOWER
#define IS_ABOVE(x, id) true
#else
#define IS_ABOVE(x, id) ((id) > server[x].released)
#endif
#ifdef FAULT_ACCEPTS_ANYWHERE
#define IS_HANDED(by, id, x) returned[by].is[id]
#else
#define IS_HANDED(by, id, x) (returned[by].is[id] && (returned[by].to[id] == 0 || returned[by].to[id] == 1 + x))
#endif
#define CAN_ISSUE(x) (server[x].is == OPEN)

// The end of each step.
byte i, j, k;
inline end_step() {
  one_open = CAN_ISSUE(0) + CAN_ISSUE(1) + CAN_ISSUE(2) <= 1;
  assert(one_open);
  no_deadlock = server[0].is != CLOSED || server[1].is != CLOSED || server[2].is != CLOSED;
  for (i : 0 .. SERVERS - 1) {
    for (j : 0 .. SERVERS - 1) {
      for (k : 1 .. IDS) {
        no_deadlock = no_deadlock || (IS_HANDED(i, k, j) && IS_ABOVE(j, k))
      }
    }
  }
  i = 0;
  j = 0;
  k = 0;
  assert(no_deadlock)
}

inline commit_release(me) {
  server[me].is = CLOSED;
  server[me].released = server[me].next;
  server[me].tick = 0;
  returned[me].is[server[me].next] = true;
  server[me].next = 0
}

inline commit_accept(me) {
  server[me].is = OPEN;
  server[me].tick = server[me].next;
  server[me].released = 0;
  server[me].next = 0
}

inline roll_back(me) {
  if
  :: server[me].is == RELEASING ->
     server[me].is = OPEN
#ifdef FAULT_ROLLBACK_LOWERS
     ;
     server[me].tick = 0
#endif
  :: server[me].is == ACCEPTING -> server[me].is = CLOSED
#ifdef FAULT_ACCEPT_OPENS_EARLY
  :: server[me].is == OPEN && server[me].next > 0 -> server[me].is = CLOSED; server[me].tick = 0
#endif
  :: else
  fi;
  server[me].next = 0
}

proctype session(byte me) {
  byte by;
  byte id;

end:
  do
  // An ID is issued: of the shard that is open.
  :: d_step {
       CAN_ISSUE(me) && server[me].tick < IDS ->
       server[me].tick++;
       no_id_twice = !is_issued[server[me].tick];
       assert(no_id_twice);
       is_issued[server[me].tick] = true;
       if
       :: server[me].tick > server[me].ceiling -> server[me].ceiling = server[me].tick + STEP
       :: else
       fi;
       end_step()
     }

  // The shard is released. On a closed one this returns the same ID.
  :: d_step {
       server[me].is == OPEN && server[me].next == 0 && server[me].tick < IDS ->
       server[me].is = RELEASING;
       server[me].next = server[me].tick + 1;
#ifdef FAULT_RELEASES_ACCEPTED
       server[me].next = (is_issued[server[me].tick] -> server[me].tick + 1 : server[me].tick);
#endif
#ifdef FAULT_RELEASE_TELLS_EARLY
       returned[me].is[server[me].next] = true;
#endif
       end_step()
     }
  :: d_step { server[me].is == RELEASING -> commit_release(me); end_step() }

  // The shard is accepted. An open one with the same ID: nothing changes.
  :: atomic {
       server[me].is == CLOSED ->
       select (by : 0 .. SERVERS - 1);
       select (id : 1 .. IDS);
       d_step {
         if
         :: IS_HANDED(by, id, me) && IS_ABOVE(me, id) ->
            returned[by].to[id] = 1 + me;
            server[me].next = id;
#ifndef FAULT_ACCEPT_NOT_COVERED
            server[me].ceiling = MAX(server[me].ceiling, id);
#endif
#ifdef FAULT_ACCEPT_OPENS_EARLY
            server[me].is = OPEN;
            server[me].tick = id
#else
            server[me].is = ACCEPTING
#endif
         :: else
         fi;
         by = 0;
         id = 0;
         end_step()
       }
     }
#ifdef FAULT_ACCEPT_OPENS_EARLY
  :: d_step { server[me].is == OPEN && server[me].next > 0 -> server[me].released = 0; server[me].next = 0; end_step() }
#else
  :: d_step { server[me].is == ACCEPTING -> commit_accept(me); end_step() }
#endif

  // The transaction is rolled back. The server crashes.
  :: d_step { server[me].next > 0 -> roll_back(me); end_step() }
  :: d_step {
       roll_back(me);
#ifdef FAULT_RELEASE_NOT_STORED
       server[me].is = (server[me].released > 0 -> OPEN : server[me].is);
#endif
#ifndef FAULT_RESTART_LOW
       server[me].tick = (server[me].is == OPEN -> server[me].ceiling : 0);
#endif
#ifdef FAULT_RESTART_LOW
       server[me].tick = 0;
#endif
       end_step()
     }
  od
}

init {
  atomic {
    for (i : 0 .. SERVERS - 1) {
      server[i].is = (i == 0 -> OPEN : CLOSED);
      run session(i)
    }
    i = 0
  }
}
