// Asking a registry, as one of its nodes (join.cpp): where its clock is, and requests, each of
// which is a call of snowid.register() there (registry.sql), over remote.hpp.
//
// In the order of use: registry_of(), registry_compare_clocks() and require_near_clocks(),
// registry_ask().
//
// What asks raises 25006 if the registry is a standby, 08006 if it cannot be reached or does not
// answer, 08P01 if what it answers is not an answer, and what it reports itself.
#pragma once

#include "pg/postgres.hpp"

#include "core/ceiling.hpp"
#include "pg/nodes/membership.hpp"

extern "C" {
#include "foreign/foreign.h"
}

namespace snowid::pg {

// The foreign server of a registry that the current user may ask. node: as which this database has
// joined over it, nullptr if it has not.
// Raises: 42704 if there is no such server, 42501 if the user may not use it.
const ForeignServer* registry_of(const char* server, const char* node);

// How far clocks may differ, in microseconds.
inline constexpr int64 kMostDifferenceUs = core::kClocksDifferUs;

// How this server's clock and the registry's differ, in microseconds. Reading the other one takes a
// while, so these are bounds.
struct ClockGap {
  int64 ahead_us;        // by how much this one is ahead for sure, or behind if it is negative
  int64 most_behind_us;  // by how much it is behind at most; negative if it is ahead
};

ClockGap registry_compare_clocks(const ForeignServer* registry);

// Raises: 55000 if they differ by more than kMostDifferenceUs.
void require_near_clocks(const ForeignServer* registry, const ClockGap& gap);

// What is asked for, as the first argument of snowid.register() has it.
inline constexpr char kLook[] = "look";           // what the registry has
inline constexpr char kClaim[] = "claim";         // the number of the claim, a new one at first
inline constexpr char kExchange[] = "exchange";   // to replace the token by the next one
inline constexpr char kTakeOver[] = "take over";  // the same, as a server that replaces the node
inline constexpr char kAccept[] = "accept";       // the same, or to make a row that was lost
inline constexpr char kLeave[] = "leave";         // the same, and to retire the number

// How it answers. What is wrong with a request is an error instead.
enum class Verdict : uint8_t {
  kHeld,      // it has the next token now; with kLook and kClaim, a row of the claim
  kMoved,     // it is another registry than was asked for
  kUnknown,   // it has no row of the claim
  kBehind,    // it has lost exchanges
  kPromoted,  // the asker was promoted or restored since, and has not stated that it takes over
  kRetired,   // the number is
  kCopy,      // another server has exchanged tokens since
};

struct Answer {
  Verdict verdict;
  bool is_promoted;  // a promoted or restored server has asked for this number, too
  int64 number;
  int64 exchange;  // what its row has now; 0 if there is none
  int64 token;
  int64 max_lead_us;  // what the node last said of snowid.max_lead
  char identity[kLongestIdentity + 1];
};

// Asks the registry. identity: the one that it must have; an empty string for any, with kLook.
// token: the one that its row is thought to have. member: claim, number, exchange, the next token,
// name.
Answer registry_ask(const ForeignServer* registry, const char* request, const char* identity,
                    int64 token, const Membership& member);

}  // namespace snowid::pg
