// How a node and its registry exchange tokens, by which copies of the node are found.
//
// A token is a random number that the node makes, and stores as `next` before it asks for it. The
// same one is asked for, whatever the request, until the registry has said that it has it: so an
// answer that was lost is asked for again, and a request that comes late does no harm. Since a copy
// may have been made meanwhile, which knows `next`, too, only a token that was made after that
// confirms the number.
//
// In the order of use: registry_of() finds the registry, require_near_clocks() compares clocks;
// then one of claim_number(), check_number(), take_over_number(), accept_registry() and
// retire_number() asks it, each request being a call of snowid.register() there (registry.sql,
// remote.hpp). They store what they find in the page before they return or raise; the caller has
// called membership_lock().
//
// Each request raises 25006 if the registry is a standby, 08006 if it cannot be reached or does not
// answer, 08P01 if what it answers is not an answer, and what it reports itself; then `next` stays.
#pragma once

#include "pg/clock.hpp"
#include "pg/nodes/membership.hpp"
#include "pg/prelude.hpp"

namespace snowid::pg {

// How far clocks may differ, in microseconds.
inline constexpr int64 kMostDifferenceUs = core::kClocksDifferUs;

// The foreign server of a registry that the current user may ask. node: as which this database has
// joined over it, nullptr if it has not.
// Raises: 42704 if there is no such server, 42501 if the user may not use it.
const ForeignServer* registry_of(const char* server, const char* node);

// How this server's clock and the registry's differ, in microseconds. Reading the other one takes a
// while, so these are bounds.
struct ClockGap {
  int64 ahead_us;        // by how much this one is ahead for sure, or behind if it is negative
  int64 most_behind_us;  // by how much it is behind at most; negative if it is ahead
};

ClockGap registry_compare_clocks(const ForeignServer* registry);

// Raises: 55000 if they differ by more than kMostDifferenceUs.
void require_near_clocks(const ForeignServer* registry, const ClockGap& gap);

enum class Verdict : uint8_t;

// An answer of the registry.
struct Answer {
  Verdict verdict;
  bool is_promoted;  // a promoted or restored server has asked for this number, too
  int64 number;
  int64 exchange;  // what its row has now; 0 if there is none
  int64 token;
  int64 max_lead_us;  // what the node last said of snowid.max_lead
  char identity[kLongestIdentity + 1];
};

// Claims a number, or finishes an earlier claim: in one that returns the number is the node's, and
// the page says so. A claim names the identity of the registry, which is asked for before the claim
// is stored.
// Raises: 55000 if another server has finished the claim, or the registry has become another one;
// then the claim is forgotten.
void claim_number(const ForeignServer* registry, Membership* member);

// Exchanges the token. Goes on with a WARNING if the registry does not know it, and sets `finding`.
// Raises: 55000 if another server has exchanged tokens since, or the number was retired; then the
// node has stopped.
void check_number(const ForeignServer* registry, Membership* member);

// Finds the token that the registry has, whoever has exchanged it, and the snowid.max_lead of who
// has.
// Raises: 55000 if the number cannot be taken over.
Answer look_before_taking(const ForeignServer* registry, const Membership& member);

// Exchanges that token, and binds the node to this server. The page is not stored yet: the caller
// first goes above what the other server has issued.
// Raises: 55000 if it cannot be; nothing has changed then.
void take_over_number(const ForeignServer* registry, const Answer& look, Membership* member);

// Has the registry, as it is now, know the node's number and token; from then on the node goes by
// that registry.
// Raises: 55000 if it cannot be; nothing has changed then.
void accept_registry(const ForeignServer* registry, Membership* member);

// Has the registry retire the number of a node that has stopped.
// Raises: 55000 if the registry does not go by this server.
void retire_number(const ForeignServer* registry, Membership* member);

}  // namespace snowid::pg
