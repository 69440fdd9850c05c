// What a node and its registry say to each other: the function snowid.register there, called over
// server/remote.hpp. Nothing is shared but the registry's table, see registry.cpp.
#pragma once

#include "pg/base/clock.hpp"
#include "pg/nodes/member.hpp"
#include "pg/prelude.hpp"

namespace snowid::pg {

// What is asked for, as the function's first argument has it.
inline constexpr char kClaim[] = "claim";         // a number; again with a token of the claim: that
inline constexpr char kCheck[] = "check";         // whether a token is right, and exchange it
inline constexpr char kTakeOver[] = "take over";  // the same whatever the token is, by the secret
inline constexpr char kRelease[] = "release";     // that the number be free

// How it answers. What is wrong with a request is an error instead.
inline constexpr char kHeld[] = "held";    // the number is the node's; it is no more, with kRelease
inline constexpr char kLost[] = "lost";    // it is another's, or another copy of the node's
inline constexpr char kTaken[] = "taken";  // held, and another copy has gone on with it till now

// How far clocks may differ, in microseconds: that is Twitter's check.
inline constexpr int64 kMostDifferenceUs = 10 * USECS_PER_SEC;

// After a number was given back nobody gets it before the registry's clock is so far past all IDs
// of the node. The next node's clock may be behind that by kMostDifferenceUs, and by what the
// asking took when they were compared, 20 seconds at most and with a connect_timeout of minutes
// more.
inline constexpr int64 kQuarantineUs = 60 * USECS_PER_SEC;

// The last moment that is reported, in Unix milliseconds: the end of the year 9999.
inline constexpr int64 kLastMillis = 253402300799999;

// Names of nodes, in bytes, and secrets.
inline constexpr int kLongestName = 255;

// A registry as the current user may ask it.
struct Registry {
  Oid server;
  Oid role;
  const char* name;  // of the server
};

// Fails with 42704 where there is no such server, and with 42501 where the user lacks USAGE on it.
// node: as which this database has joined over it, nullptr where it has not.
Registry registry_of(const char* server, const char* node);

// How this server's clock and the registry's differ, in microseconds. Asking takes a while, during
// which nobody can tell.
struct ClockGap {
  int64 ahead_us;        // by how much this one is ahead for sure, or behind where it is negative
  int64 most_behind_us;  // by how much it is behind at most; negative where it is ahead
};

// Compares the clocks. Fails as registry_ask() does.
ClockGap registry_compare_clocks(const Registry& registry);

// Fails with 55000 where they differ by more than kMostDifferenceUs.
void require_near_clocks(const Registry& registry, const ClockGap& gap);

struct Answer {
  bool is_held;
  bool is_taken;  // and another copy, whose last IDs nobody has reported, had it until now
  int64 number;
  core::UnixMillis reported;  // the greatest ID time that the registry had noted of the number
  core::UnixMillis ceiling;   // what this node has reported now
};

// Asks the registry. member: number, node and secret; the number is not used with kClaim.
// token, next_token: of which the registry may know either, and makes the second the one that it
// knows. Fails with 08006 where the registry cannot be reached or does not answer, with 08P01 where
// the answer is none, and with what it reports itself.
Answer registry_ask(const Registry& registry, const char* request, const Member& member,
                    int64 token, int64 next_token);

// Fails with SN001 where the clock is behind what the registry was told of this number's IDs, and
// has this database issue IDs above that where its own ceiling does not. were_others: whether they
// may be another database's. Then it issues only IDs above that in any case, since a ceiling does
// not tell how far another one has come in a unit of time.
void heed_reported(const Answer& answer, bool were_others);

// Where another copy had the number until now: waits until this clock is past all that one may have
// issued, which has reported only what it knew at its last check. Interruptible.
void wait_out_copy(const Answer& answer, const ClockGap& gap);

}  // namespace snowid::pg
