// Client of a registry, for its nodes (join.cpp): comparing clocks, and requests, each a remote
// call of snowid.register() (registry.sql) over remote.hpp.
//
// In the order of use: registry_of(), registry_compare_clocks() and require_near_clocks(),
// registry_ask().
//
// Functions with remote calls raise: 25006 if the registry is a standby; 08006 if it cannot be
// reached or does not answer; 08P01 if the answer is invalid; and the registry's own errors.
#pragma once

#include "pg/postgres.hpp"

#include "core/ceiling.hpp"
#include "pg/nodes/membership.hpp"

extern "C" {
#include "foreign/foreign.h"
}

namespace snowid::pg {

// The foreign server of a registry, for the current user. node: as which this database has joined,
// or nullptr. Raises: 42704 if there is no such server; 42501 if the user may not use it.
const ForeignServer* registry_of(const char* server, const char* node);

// Bounds on the clocks' difference, in microseconds: reading the remote clock takes a while.
struct ClockGap {
  int64 ahead_us;        // this clock is ahead by at least this; negative if behind
  int64 most_behind_us;  // this clock is behind by at most this; negative if ahead
};

ClockGap registry_compare_clocks(const ForeignServer* registry);

// Raises: 55000 if the clocks differ by more than core::kClocksDifferUs.
void require_near_clocks(const ForeignServer* registry, const ClockGap& gap);

// Requests: the first argument of snowid.register().
inline constexpr char kLook[] = "look";    // read the registry's row
inline constexpr char kClaim[] = "claim";  // assign a number to the claim, at its first request
inline constexpr char kExchange[] = "exchange";   // replace the token by the next one
inline constexpr char kTakeOver[] = "take over";  // as kExchange, by the node's replacement
inline constexpr char kAccept[] = "accept";       // as kExchange, or insert a lost row
inline constexpr char kLeave[] = "leave";         // as kExchange, and retire the number

// Answers. An invalid request is an error instead.
enum class Verdict : uint8_t {
  kHeld,      // the row has the next token; with kLook and kClaim, there is a row of the claim
  kMoved,     // another registry than requested
  kUnknown,   // no row of the claim
  kBehind,    // the registry has lost exchanges
  kPromoted,  // this server was promoted or restored since, and has not stated a takeover
  kRetired,   // the number was retired
  kCopy,      // another server has exchanged tokens since
};

struct Answer {
  Verdict verdict;
  bool is_promoted;  // a promoted or restored server has requested this number, too
  int64 number;
  int64 exchange;  // of the row; 0 if there is none
  int64 token;
  int64 max_lead_us;  // the node's last snowid.max_lead
  char identity[kLongestIdentity + 1];
};

// identity: expected of the registry; with kLook an empty string for any. token: expected of its
// row. member: claim, number, exchange, the next token, name.
Answer registry_ask(const ForeignServer* registry, const char* request, const char* identity,
                    int64 token, const Membership& member);

}  // namespace snowid::pg
