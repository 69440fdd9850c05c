// Requests of a node to its registry: the function snowid.register there (nodes.sql), called over
// server/remote.hpp.
#pragma once

#include "pg/base/clock.hpp"
#include "pg/nodes/member.hpp"
#include "pg/prelude.hpp"

namespace snowid::pg {

// What is asked for, as the function's first argument has it.
inline constexpr char kClaim[] = "claim";         // a number that was never given
inline constexpr char kResume[] = "resume";       // that of a claim whose answer was lost
inline constexpr char kCheck[] = "check";         // to exchange the token that is known
inline constexpr char kLook[] = "look";           // which token there is
inline constexpr char kTakeOver[] = "take over";  // to exchange the token that kLook has returned
inline constexpr char kLeave[] = "leave";         // that the number be retired

// How it answers. What is wrong with a request is an error instead.
enum class Verdict : uint8_t {
  kHeld,   // the number is the node's; with kLeave it was until now
  kOlder,  // the same, and the registry has learnt so from the node: it was restored
  kLost,   // it is another's, another copy's of the node, or retired; or there is nothing to resume
  kBusy,   // another server uses it, and has checked just now
  kMoved,  // the registry is another one than was asked for
  kStale,  // the token is not the one that was expected
};

// How far clocks may differ, in microseconds.
inline constexpr int64 kMostDifferenceUs = core::kClocksDifferUs;

// Names of nodes, in bytes.
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

// How this server's clock and the registry's differ, in microseconds. Reading the other one takes a
// while, so they are bounds.
struct ClockGap {
  int64 ahead_us;        // by how much this one is ahead for sure, or behind where it is negative
  int64 most_behind_us;  // by how much it is behind at most; negative where it is ahead
};

// Compares the clocks. Fails as registry_ask() does.
ClockGap registry_compare_clocks(const Registry& registry);

// Fails with 55000 where they differ by more than kMostDifferenceUs.
void require_near_clocks(const Registry& registry, const ClockGap& gap);

struct Answer {
  Verdict verdict;
  int64 number;
  int64 token;           // which the registry has now
  const char* identity;  // of the registry
};

inline bool IsHeld(const Answer& answer) {
  return answer.verdict == Verdict::kHeld || answer.verdict == Verdict::kOlder;
}

// Asks the registry. member: number, node, secret and, as `registry`, the identity that it must
// have, an empty string for any; the number is not used with kClaim and kResume. known: the token
// that it should have. next: the one that it is to have. Fails with 25006 where the registry is a
// standby, with 08006 where it cannot be reached or does not answer, with 08P01 where the answer is
// none, and with what it reports itself.
Answer registry_ask(const Registry& registry, const char* request, const Member& member,
                    int64 known, int64 next);

// 55000: the registry is not the one that this node has joined.
[[noreturn]] void report_moved(const Registry& registry, const Member& member);

}  // namespace snowid::pg
