// A model of the registry and its nodes, which `make model` searches.
//
// Server 0 joins. Server 1 is a copy of it, made at any moment and started at any later one: on the same
// timeline (a clone), or on a later one (a promoted standby, which may lack the last WAL). A request is
// executed at once, later, twice, or never, and its answer may be lost. The registry is set back to what it
// was at any moment, with another identity (a restore, a promotion) or without one (a snapshot); nodes may
// meet the old one again until the other one has been recovered. Any number of other nodes join and accept.
//
// A step of a node stores what it asks for, sends the request, and stores the answer. A crash in between is
// a request that was not sent, or an answer that was lost. Taking over and accepting look at the row first;
// whoever is later than another one's look is a request that was executed late. Tokens are random: only
// whether two are equal counts. The model leaves out joining again while a copy has the claim, clocks, and
// what is only a warning: that a server of a later timeline was seen. It has three parts: a copy, taking over,
// leaving and retiring; a copy and a registry that is set back; other nodes, leaving, retiring and a registry
// that is set back.

// The functions that each step stands for, in src/pg/nodes/join.cpp unless noted. If one of them changes, its step
// changes too.
// - A server joins, `server[s].is = CLAIMING`, and asks for a claim: store_claim(), claim_number()
// - An exchange; make_next, send, hold, confirm: exchange(), ask_for_next(), check_number(), registry_ask()
//   (registry_client.cpp)
// - stop: stop(). drop: report_lost_claim()
// - A server replaces the node: snowid.take_over_node(). The registry is that of the node: accept_registry()
// - JOINED, to LEFT: leave(). A number is retired: snowid.retire_node() (registry.sql)
// - execute, give, compare_and_swap: snowid.register(), snowid_internal.give_number(),
//   snowid_internal.accept_node() (registry.sql)
// - The floor is set: snowid.recover_registry() (registry.sql)

// The bounds. The number of exchanges, crashes and lost answers is not limited.
#define NUMBERS 3   // numbers of the registry
#define EXCHANGES 3 // how many exchanges a server, the registry, or a request is behind another one
#define TOKENS 8    // different tokens of one maker at a time; there are never as many

// The properties.
bool one_claim = true;        // a number is given to one claim, unless the registry was not told that it was set back
bool one_confirmed = true;    // of two servers of a claim, one is confirmed since they parted, or since it replaced the other
bool rightful_goes_on = true; // a node stops only if replaced, retired, or after an exchange by a clone
bool stopped_first = true;    // a node has stopped before the registry retires its number at its request
bool no_deadlock = true;      // a node that was not replaced, or not accepted yet, will be confirmed, or accepted

// The faults. Each is compiled in by -DFAULT_NAME, and must be found.
// fault RETIRED_GIVEN: a retired number is given again; found by one_claim
// fault GIVES_UNRECOVERED: a registry that was set back gives numbers before it is recovered; found by one_claim
// fault CLAIMS_AGAIN: a claim that is asked for again gets another number; found by one_claim
// fault ACCEPTS_UNRECOVERED: a registry that was set back accepts a node before it is recovered; found by one_confirmed
// fault ACCEPTS_ABOVE: a number is accepted that is above those that were recovered; found by one_claim
// fault ACCEPTS_OTHERS: a number is accepted that another claim has; found by one_claim
// fault CLAIM_ALONE: a request finds the row by its claim, whatever number the node has; found by one_claim
// fault PENDING_CONFIRMS: an exchange that was asked for before, and may be found done, confirms; found by one_confirmed
// fault ANY_TOKEN: the registry exchanges any token; found by no_deadlock
// fault TOKEN_ALONE: an exchange does not compare the count of exchanges; found by one_confirmed
// fault EARLIER_TIMELINE: a server of an earlier timeline that takes over sets the row's timeline back; found by one_confirmed
// fault STATED_FORGOTTEN: a server of a later timeline goes on, although the other one has taken over since; found by one_confirmed
// fault LATER_TIMELINE: an exchange by a server of a later timeline moves the token; found by no_deadlock
// fault ACCEPT_TAKES_OVER: accepting by a server of a later timeline moves the token; found by no_deadlock
// fault TAKES_ANY: taking over does not compare the token that was looked at; found by no_deadlock
// fault LEAVES_ANY: leaving does not compare tokens; found by rightful_goes_on
// fault BEHIND_IS_COPY: a registry that has lost exchanges takes the node for a copy; found by rightful_goes_on
// fault TELLS_FIRST: a node that leaves stops when it has the answer; found by stopped_first
// fault LOST_FORGOTTEN: the next token is forgotten if there is no answer; found by no_deadlock
// fault ACCEPT_REPLACES: accepting replaces the next token that was asked for; found by no_deadlock
// fault CLAIM_ANYWHERE: a claim does not name the registry's identity; found by no_deadlock

mtype = {
  NOBODY,
  NODE,   // the claim of servers 0 and 1
  ANOTHER // any other claim
};
mtype = {
  ALONE,
  CLAIMING,
  JOINED,
  LEFT,
  STOPPED // replaced, or retired by the registry
};
mtype = { NOTHING, CLAIM, EXCHANGE, TAKE_OVER, ACCEPT, LEAVE };
mtype = { NO_ANSWER, HELD, MOVED, UNKNOWN, REJECTED, RETIRED, PROMOTED, BEHIND, COPY };

// The page of a node.
typedef Server {
  mtype is;
  byte number;   // 0: not known
  byte exchange; // how many exchanges the registry had at the last answer
  byte token;
  byte next;     // asked for in place of it; 0 if nothing is pending
  bit registry;  // the identity of its registry
  bit timeline   // not on the page
};
Server server[2];

// The tables of a registry. Of the rows, only that of NODE's claim has more than the owner.
typedef Registry {
  mtype owner[NUMBERS + 1];
  byte floor;    // max_node_number
  bit recovered; // the identity in registry_identities
  byte exchange;
  byte token;
  byte taken_over; // what `exchange` was when a server took over last
  bit timeline;
  bool is_retired
};
Registry registry;
Registry other; // what the registry is set back to, or was before that
bit identity;   // of `registry`

typedef Request {
  mtype kind;
  bit by;
  byte number;
  byte exchange;
  byte token; // the node's; to take over and accept: the one that it has seen in the row
  byte next;
  bit timeline;
  bit registry
};
Request ask;  // what is being asked for
Request late; // what is executed later, or once more
mtype verdict;
byte got;

// What may happen.
bool can_copy, can_take_over, can_retire, can_set_back, can_join;

// The past.
bool is_copied, is_saved, is_set_back;
bool can_return;         // the registry that was before it was set back still answers
bool is_told = true;     // recover_registry() has stated all numbers since the registry was set back
bool is_twice;           // a number was given twice before that
mtype given[NUMBERS + 1];
byte holder;             // 1 + the server that was confirmed, or has replaced the other one, last since they parted; 0: none
bool is_replaced[2];     // the other one has taken over, or accepted, since
bool is_outdated[2];     // the other one's token was exchanged since this one's was
bool is_retired;         // by retire_node(), or by a node that had the row's token

byte n, m;

#define OTHER (1 - s)
#define MAX(a, b) ((a) > (b) -> (a) : (b))
#define MAKER(token) ((token) == 0 -> 0 : ((token) - 1) / TOKENS) // 0: made before the copy; otherwise 1 + the server
#define ROW (registry.owner[1] == NODE -> 1 : (registry.owner[2] == NODE -> 2 : (registry.owner[3] == NODE -> 3 : 0)))
#define IS_COMPLETE (registry.recovered == identity)
#define IS_STATED(r) (r.kind == TAKE_OVER || r.kind == ACCEPT)
#define CAN_STATE(s) (server[s].exchange < EXCHANGES && (ROW == 0 || registry.exchange < EXCHANGES))
#define CAN_ASK(s) (CAN_STATE(s) || server[s].token != registry.token)
#define IS_USED(t) \
  (registry.token == (t) || other.token == (t) || server[0].token == (t) || server[0].next == (t) || \
   server[1].token == (t) || server[1].next == (t) || late.token == (t) || late.next == (t))
#ifdef FAULT_CLAIM_ALONE
#define IS_FOUND(r) true
#else
#define IS_FOUND(r) (r.kind == CLAIM || r.number == n)
#endif
#ifdef FAULT_CLAIM_ANYWHERE
#define IS_HERE(r) (r.registry == identity || r.kind == CLAIM)
#else
#define IS_HERE(r) (r.registry == identity)
#endif
#ifdef FAULT_GIVES_UNRECOVERED
#define MAY_GIVE true
#else
#define MAY_GIVE IS_COMPLETE
#endif
#ifdef FAULT_ACCEPTS_UNRECOVERED
#define IS_EARLY(r) false
#else
#define IS_EARLY(r) (r.kind == ACCEPT && !IS_COMPLETE)
#endif
#ifdef FAULT_ACCEPTS_ABOVE
#define MAY_ACCEPT(r) (registry.owner[r.number] == NOBODY)
#else
#ifdef FAULT_ACCEPTS_OTHERS
#define MAY_ACCEPT(r) (r.number <= registry.floor)
#else
#define MAY_ACCEPT(r) (r.number <= registry.floor && registry.owner[r.number] == NOBODY)
#endif
#endif
#ifdef FAULT_LATER_TIMELINE
#define IS_LATER(r) false
#else
#ifdef FAULT_ACCEPT_TAKES_OVER
#define IS_LATER(r) (!IS_STATED(r) && r.timeline > registry.timeline)
#else
#define IS_LATER(r) (r.kind != TAKE_OVER && r.timeline > registry.timeline)
#endif
#endif
// Of a server of a later timeline: whether nobody has taken over since.
#ifdef FAULT_STATED_FORGOTTEN
#define IS_UNSTATED(r) true
#else
#define IS_UNSTATED(r) (r.exchange >= registry.taken_over || r.next == registry.token)
#endif
#ifdef FAULT_TOKEN_ALONE
#define IS_TOKEN(r) (r.token == registry.token)
#else
#define IS_TOKEN(r) (r.token == registry.token && (IS_STATED(r) || r.exchange == registry.exchange))
#endif
#ifdef FAULT_ANY_TOKEN
#define IS_SWAPPED(r) (r.kind == EXCHANGE || r.next == registry.token || IS_TOKEN(r))
#else
#ifdef FAULT_TAKES_ANY
#define IS_SWAPPED(r) (r.kind == TAKE_OVER || r.next == registry.token || IS_TOKEN(r))
#else
#ifdef FAULT_LEAVES_ANY
#define IS_SWAPPED(r) (r.kind == LEAVE || r.next == registry.token || IS_TOKEN(r))
#else
#define IS_SWAPPED(r) (r.next == registry.token || IS_TOKEN(r))
#endif
#endif
#endif
#ifdef FAULT_BEHIND_IS_COPY
#define IS_BEHIND(r) false
#else
#define IS_BEHIND(r) (r.exchange > registry.exchange)
#endif

c_code {
  /* The values of tokens do not matter: those of each maker are numbered in the order of the variables. */
  static void rename_token(unsigned char* token, unsigned char* name, unsigned char* names) {
    if (*token == 0) return;
    if (name[*token] == 0) {
      int maker = (*token - 1) / TOKENS;
      name[*token] = maker * TOKENS + ++names[maker];
    }
    *token = name[*token];
  }

  static void rename_tokens(void) {
    unsigned char name[3 * TOKENS + 1] = {0}, names[3] = {0};
    rename_token(&now.registry.token, name, names);
    rename_token(&now.server[0].token, name, names);
    rename_token(&now.server[0].next, name, names);
    rename_token(&now.server[1].token, name, names);
    rename_token(&now.server[1].next, name, names);
    rename_token(&now.other.token, name, names);
    rename_token(&now.late.token, name, names);
    rename_token(&now.late.next, name, names);
  }
};

inline copy_registry(to, from) {
  for (n : 1 .. NUMBERS) { to.owner[n] = from.owner[n] }
  n = 0;
  to.floor = from.floor;
  to.recovered = from.recovered;
  to.exchange = from.exchange;
  to.token = from.token;
  to.taken_over = from.taken_over;
  to.timeline = from.timeline;
  to.is_retired = from.is_retired
}

inline clear_registry(x) {
  for (n : 1 .. NUMBERS) { x.owner[n] = NOBODY }
  n = 0;
  x.floor = 0;
  x.recovered = 0;
  x.exchange = 0;
  x.token = 0;
  x.taken_over = 0;
  x.timeline = 0;
  x.is_retired = false
}

inline swap(x, y) {
  m = x;
  x = y;
  y = m;
  m = 0
}

inline swap_registries() {
  for (n : 1 .. NUMBERS) { swap(registry.owner[n], other.owner[n]) }
  n = 0;
  swap(registry.floor, other.floor);
  swap(registry.recovered, other.recovered);
  swap(registry.exchange, other.exchange);
  swap(registry.token, other.token);
  swap(registry.taken_over, other.taken_over);
  swap(registry.timeline, other.timeline);
  swap(registry.is_retired, other.is_retired)
}

inline copy_request(to, from) {
  to.kind = from.kind;
  to.by = from.by;
  to.number = from.number;
  to.exchange = from.exchange;
  to.token = from.token;
  to.next = from.next;
  to.timeline = from.timeline;
  to.registry = from.registry
}

inline clear_request(x) {
  x.kind = NOTHING;
  x.by = 0;
  x.number = 0;
  x.exchange = 0;
  x.token = 0;
  x.next = 0;
  x.timeline = 0;
  x.registry = 0
}

// The registry gives the least number above the floor that has no row.
inline give(claim) {
  got = registry.floor + 1;
  do
  :: got <= NUMBERS && registry.owner[got] != NOBODY -> got++
  :: else -> break
  od;
#ifdef FAULT_RETIRED_GIVEN
  if
  :: ROW > 0 && registry.is_retired -> got = ROW
  :: else
  fi;
#endif
  if
  :: got > NUMBERS -> verdict = REJECTED; got = 0
  :: else ->
     m = got + 1;
     do
     :: m <= NUMBERS && registry.owner[m] == NOBODY -> m++
     :: else -> break
     od;
     // Unless the registry was set back and has not been told; but not below a number that it knows.
     one_claim = (claim != NODE || ROW == 0) &&
       (given[got] == NOBODY || (claim == NODE && given[got] == NODE) || (!is_told && IS_COMPLETE && m > NUMBERS));
     assert(one_claim);
     m = 0;
     is_twice = is_twice || given[got] != NOBODY;
     registry.owner[got] = claim;
     given[got] = claim;
     verdict = HELD
  fi
}

// The row is about to get a token.
inline moves(r) {
  if
  :: (MAKER(r.next) == 1 + r.by || MAKER(registry.token) == 2 - r.by) &&
     (!IS_STATED(r) || r.token == registry.token) && (r.kind == TAKE_OVER || r.timeline <= registry.timeline) ->
     is_outdated[1 - r.by] = true;
     if
     :: IS_STATED(r) ->
        is_replaced[1 - r.by] = is_replaced[1 - r.by] || holder == 2 - r.by || (r.kind == TAKE_OVER && MAKER(r.next) == 1 + r.by);
        is_replaced[r.by] = false;
        holder = 1 + r.by
     :: else
     fi
  :: else
  fi
}

inline compare_and_swap(r) {
  if
  :: IS_LATER(r) -> verdict = (IS_UNSTATED(r) -> PROMOTED : COPY)
  :: !IS_LATER(r) && IS_SWAPPED(r) ->
     verdict = HELD;
     if
     :: r.kind == LEAVE ->
        stopped_first = server[r.by].is == LEFT;
        assert(stopped_first);
        registry.is_retired = true;
        is_retired = is_retired || r.next == registry.token || IS_TOKEN(r)
     :: else
     fi;
     if
     :: r.next != registry.token ->
        moves(r);
        registry.exchange = MAX(registry.exchange, r.exchange) + 1;
        registry.token = r.next
     :: else
     fi;
     if
     :: r.kind == TAKE_OVER -> registry.taken_over = registry.exchange
     :: else
     fi;
     if
#ifdef FAULT_EARLIER_TIMELINE
     :: IS_STATED(r) -> registry.timeline = r.timeline
#else
     :: IS_STATED(r) -> registry.timeline = MAX(registry.timeline, r.timeline)
#endif
     :: else
     fi;
     got = registry.exchange
  :: else -> verdict = (IS_BEHIND(r) -> BEHIND : COPY)
  fi
}

// The registry executes a request.
inline execute(r) {
  got = 0;
#ifdef FAULT_CLAIMS_AGAIN
  n = (r.kind == CLAIM -> 0 : ROW);
#else
  n = ROW;
#endif
  if
  :: !IS_HERE(r) -> verdict = MOVED
  :: IS_HERE(r) && n == 0 && r.kind == CLAIM ->
     if
     :: !MAY_GIVE -> verdict = REJECTED
     :: else ->
        give(NODE);
        registry.exchange = 0;
        registry.token = 0;
        registry.taken_over = 0;
        registry.timeline = r.timeline;
        registry.is_retired = false
     fi
  :: IS_HERE(r) && IS_EARLY(r) -> verdict = REJECTED
  :: IS_HERE(r) && !IS_EARLY(r) && r.kind == ACCEPT && n == 0 ->
     if
     :: !MAY_ACCEPT(r) -> verdict = REJECTED
     :: else ->
        one_claim = registry.owner[r.number] == NOBODY;
        assert(one_claim);
        registry.owner[r.number] = NODE;
        registry.token = 0;
        registry.taken_over = 0;
        registry.timeline = r.timeline;
        moves(r);
        registry.exchange = r.exchange + 1;
        registry.token = r.next;
        registry.is_retired = false;
        got = registry.exchange;
        verdict = HELD
     fi
  :: IS_HERE(r) && !IS_EARLY(r) && (n == 0 || !IS_FOUND(r)) && r.kind != CLAIM && !(n == 0 && r.kind == ACCEPT) -> verdict = UNKNOWN
  :: IS_HERE(r) && !IS_EARLY(r) && n > 0 && IS_FOUND(r) && registry.is_retired -> verdict = RETIRED
  :: IS_HERE(r) && !IS_EARLY(r) && n > 0 && IS_FOUND(r) && !registry.is_retired ->
     if
     :: r.kind == CLAIM -> verdict = HELD; got = n
     :: else -> compare_and_swap(r)
     fi
  fi;
  n = 0
}

// A server chooses its next token, unless one is pending.
inline make_next() {
  if
  :: server[s].next == 0 ->
     m = (is_copied -> 1 + s : 0) * TOKENS + 1;
     do
     :: IS_USED(m) -> m++
     :: else -> break
     od;
     server[s].next = m;
     m = 0
  :: else
  fi
}

// A server asks for something. Before that: what becomes of the request.
bool is_executed, is_answered, is_late;
inline choose() {
  if
  :: is_executed = true; is_answered = true
  :: is_executed = true
  :: is_executed = true; is_late = late.kind == NOTHING
  :: late.kind == NOTHING -> is_late = true
  :: skip
  fi
}

inline send(request, by_registry, by_token) {
  ask.kind = request;
  ask.by = s;
  ask.number = server[s].number;
  ask.exchange = server[s].exchange;
  ask.token = by_token;
  ask.next = server[s].next;
  ask.timeline = server[s].timeline;
  ask.registry = by_registry;
  if
  :: is_executed -> execute(ask)
  :: else
  fi;
  if
  :: !is_answered -> verdict = NO_ANSWER; got = 0
  :: else
  fi;
  if
  :: is_late -> copy_request(late, ask)
  :: else
  fi;
  clear_request(ask);
  is_executed = false;
  is_answered = false;
  is_late = false
}

// The row has the next token.
inline hold() {
  server[s].token = server[s].next;
  server[s].next = 0;
  server[s].exchange = got;
  is_outdated[s] = false
}

// An exchange confirms that the server is the node.
inline confirm() {
  if
  :: is_copied ->
     one_confirmed = holder != 1 + OTHER;
     assert(one_confirmed);
     holder = 1 + s
  :: else
  fi;
  one_claim = registry.owner[server[s].number] == NODE;
  assert(one_claim)
}

inline stop() {
  rightful_goes_on = (verdict == RETIRED -> is_retired : is_outdated[s]);
  assert(rightful_goes_on);
  server[s].is = STOPPED;
  server[s].next = 0
}

// The claim is given up.
inline drop() {
  server[s].is = ALONE;
  server[s].number = 0;
  server[s].exchange = 0;
  server[s].token = 0;
  server[s].next = 0;
  server[s].registry = 0
}

// Whether the node will be confirmed, or accepted.
#define IS_STUCK(x) \
  (server[x].is == JOINED && \
   ((server[x].registry == identity && ROW == server[x].number && !registry.is_retired && !is_outdated[x] && \
     server[x].timeline <= registry.timeline && server[x].exchange <= registry.exchange && \
     registry.token != server[x].next && \
     !(registry.token == server[x].token && registry.exchange == server[x].exchange)) || \
    (server[x].registry != identity && IS_COMPLETE && is_told && !is_twice && ROW != server[x].number && \
     (ROW != 0 || registry.owner[server[x].number] != NOBODY || server[x].number > registry.floor))))

#define IS_ROW(x) (x.owner[1] == NODE || x.owner[2] == NODE || x.owner[3] == NODE)
#define LEAST(exchange, is_there) m = ((is_there) && exchange < m -> exchange : m)

// The end of each step: only how far counts of exchanges are apart matters.
inline end_step() {
  verdict = 0;
  got = 0;
  c_code { rename_tokens(); };
  if
  :: server[0].is != CLAIMING && server[1].is != CLAIMING && late.kind != CLAIM ->
     m = 255;
     LEAST(registry.exchange, IS_ROW(registry));
     LEAST(other.exchange, IS_ROW(other));
     LEAST(server[0].exchange, server[0].is != ALONE);
     LEAST(server[1].exchange, server[1].is != ALONE);
     LEAST(late.exchange, late.kind != NOTHING);
     m = (m == 255 -> 0 : m);
     registry.exchange = MAX(registry.exchange, m) - m;
     other.exchange = MAX(other.exchange, m) - m;
     registry.taken_over = MAX(registry.taken_over, m) - m;
     other.taken_over = MAX(other.taken_over, m) - m;
     server[0].exchange = MAX(server[0].exchange, m) - m;
     server[1].exchange = MAX(server[1].exchange, m) - m;
     late.exchange = MAX(late.exchange, m) - m;
     m = 0
  :: else
  fi;
  no_deadlock = !IS_STUCK(0) && !IS_STUCK(1);
  assert(no_deadlock)
}

proctype node(bit s) {
end:
  do
  // A claim is asked for.
  :: atomic {
       server[s].is == CLAIMING && server[s].number == 0 ->
       choose();
       d_step {
         send(CLAIM, server[s].registry, 0);
         if
         :: verdict == HELD -> server[s].number = got
         :: verdict == MOVED || verdict == RETIRED -> drop()
         :: else
         fi;
         end_step()
       }
     }

  // An exchange, of the token that is pending, or of a fresh one.
  :: atomic {
       ((server[s].is == CLAIMING && server[s].number > 0) || server[s].is == JOINED) && CAN_ASK(s) ->
       choose();
       d_step {
#ifdef FAULT_PENDING_CONFIRMS
         n = 1;
#else
         n = (server[s].next == 0 -> 1 : 0);
#endif
         make_next();
         m = n;
         send(EXCHANGE, server[s].registry, server[s].token);
         n = m;
         m = 0;
         if
         :: verdict == HELD && n == 1 -> confirm(); hold(); server[s].is = JOINED
         :: verdict == HELD && n == 0 -> hold()
         :: server[s].is == CLAIMING && verdict != HELD && verdict != NO_ANSWER && verdict != PROMOTED -> drop()
         :: server[s].is == JOINED && (verdict == COPY || verdict == RETIRED) -> stop()
         :: verdict == PROMOTED -> one_confirmed = !is_replaced[s]; assert(one_confirmed)
#ifdef FAULT_LOST_FORGOTTEN
         :: verdict == NO_ANSWER -> server[s].next = 0
#endif
         :: else
         fi;
         n = 0;
         end_step()
       }
     }

  // Somebody states that the server replaces the node.
  :: atomic {
       can_take_over && (server[s].is == JOINED || server[s].is == STOPPED) && ROW > 0 && CAN_STATE(s) ->
       choose();
       d_step {
         n = (server[s].next == 0 -> 1 : 0);
         make_next();
         m = n;
         send(TAKE_OVER, server[s].registry, registry.token);
         n = m;
         m = 0;
         if
         :: verdict == HELD && n == 1 -> confirm(); hold(); server[s].is = JOINED
         :: verdict == HELD && n == 0 -> hold()
         :: else
         fi;
         n = 0;
         end_step()
       }
     }

  // Somebody states that the registry is that of the node.
  :: atomic {
       is_set_back && server[s].is == JOINED && CAN_STATE(s) ->
       choose();
       d_step {
#ifdef FAULT_ACCEPT_REPLACES
         server[s].next = 0;
#endif
         make_next();
         send(ACCEPT, identity, (ROW == 0 -> 0 : registry.token));
         if
         :: verdict == HELD ->
            // That is stated of what was pending, too.
            holder = (server[s].registry != identity && holder == 1 + OTHER -> 0 : holder);
            hold();
            server[s].registry = identity
         :: verdict == PROMOTED -> server[s].registry = identity
         :: else
         fi;
         end_step()
       }
     }

  // The node leaves: it stops, and then tells the registry.
  :: d_step {
       can_retire && server[s].is == JOINED && CAN_STATE(s) ->
       make_next();
       server[s].is = LEFT;
       end_step()
     }
#ifdef FAULT_TELLS_FIRST
  :: atomic {
       can_retire && server[s].is == JOINED && CAN_STATE(s) ->
       choose();
       d_step {
         make_next();
         send(LEAVE, server[s].registry, server[s].token);
         end_step()
       }
     }
#endif
  :: atomic {
       server[s].is == LEFT && server[s].next > 0 && CAN_ASK(s) ->
       choose();
       d_step {
         send(LEAVE, server[s].registry, server[s].token);
         if
         :: verdict != NO_ANSWER -> server[s].next = 0
         :: else
         fi;
         end_step()
       }
     }
  od
}

init {
  atomic {
    server[0].is = ALONE;
    server[1].is = ALONE;
    ask.kind = NOTHING;
    late.kind = NOTHING;
    clear_registry(registry);
    clear_registry(other);
    for (n : 1 .. NUMBERS) { given[n] = NOBODY }
    n = 0;
    run node(0);
    run node(1);
    // A part of what may happen, to have fewer states.
    if
    :: can_copy = true; can_take_over = true; can_retire = true
    :: can_copy = true; can_set_back = true
    :: can_join = true; can_set_back = true; can_retire = true
    fi
  }

end:
  do
  // Server 0 joins: it stores a new claim. An earlier one is as one of any other node's.
  :: d_step {
       server[0].is == ALONE && !is_copied && late.kind == NOTHING && (can_join || given[1] == NOBODY) ->
       for (n : 1 .. NUMBERS) {
         registry.owner[n] = (registry.owner[n] == NODE -> ANOTHER : registry.owner[n]);
         other.owner[n] = (other.owner[n] == NODE -> ANOTHER : other.owner[n]);
         given[n] = (given[n] == NODE -> ANOTHER : given[n])
       }
       n = 0;
       registry.exchange = 0;
       registry.token = 0;
       registry.taken_over = 0;
       registry.is_retired = false;
       other.exchange = 0;
       other.token = 0;
       other.taken_over = 0;
       other.is_retired = false;
       is_retired = false;
       server[0].is = CLAIMING;
       server[0].registry = identity;
       end_step()
     }

  // Server 0 is copied.
  :: atomic {
       can_copy && !is_copied && server[0].is != ALONE ->
       is_copied = true;
       if
       :: server[1].timeline = 1
       :: skip
       fi;
       d_step {
         server[1].is = server[0].is;
         server[1].number = server[0].number;
         server[1].exchange = server[0].exchange;
         server[1].token = server[0].token;
         server[1].next = server[0].next;
         server[1].registry = server[0].registry;
         end_step()
       }
     }

  // A request is executed late, perhaps not for the last time; or never.
  :: d_step { late.kind != NOTHING && registry.exchange <= EXCHANGES -> execute(late); end_step() }
  :: d_step { late.kind != NOTHING -> clear_request(late); end_step() }

  // Another node joins, or accepts the registry. A number is retired, by retire_node().
  :: d_step { can_join && MAY_GIVE -> give(ANOTHER); end_step() }
  :: d_step {
       can_join && is_set_back && IS_COMPLETE && given[1] == ANOTHER && registry.owner[1] == NOBODY && registry.floor >= 1 ->
       registry.owner[1] = ANOTHER;
       end_step()
     }
  :: d_step {
       can_join && is_set_back && IS_COMPLETE && given[2] == ANOTHER && registry.owner[2] == NOBODY && registry.floor >= 2 ->
       registry.owner[2] = ANOTHER;
       end_step()
     }
  :: d_step { can_retire && ROW > 0 && !registry.is_retired -> registry.is_retired = true; is_retired = true; end_step() }

  // The registry is saved, and set back to that.
  :: d_step { can_set_back && !is_saved -> is_saved = true; copy_registry(other, registry); end_step() }
  :: d_step {
       is_saved && !is_set_back ->
       is_set_back = true;
       is_told = false;
       swap_registries();
       identity = 1;
       can_return = true;
       end_step()
     }
  :: d_step {
       is_saved && !is_set_back ->
       is_set_back = true;
       is_told = false;
       swap_registries();
       clear_registry(other);
       holder = 0;
       is_replaced[0] = false;
       is_replaced[1] = false;
       end_step()
     }
  :: d_step { can_return -> swap_registries(); identity = 1 - identity; end_step() }

  // recover_registry(), with all numbers that were given, or only with those that the registry knows.
  :: atomic {
       is_set_back && !is_told && (identity == 1 || !can_return) ->
       m = NUMBERS;
       do
       :: m > registry.floor && registry.owner[m] == NOBODY -> m--
       :: else -> break
       od;
       n = NUMBERS;
       do
       :: n > m && given[n] == NOBODY -> n--
       :: else -> break
       od;
       if
       :: registry.floor = n; is_told = true
       :: n > m -> registry.floor = m
       fi;
       n = 0;
       m = 0;
       d_step {
         registry.recovered = identity;
         can_return = false;
         clear_registry(other);
         end_step()
       }
     }
  od
}
