// How a node and its registry exchange tokens, by which copies of the node are found.
//
// A token is a random number that the node makes, and stores as `next` before it asks for it. The
// same one is asked for, whatever the request, until the registry has said that it has it: so an
// answer that was lost is asked for again, and a request that comes late does no harm. Since a copy
// may have been made meanwhile, which knows `next`, too, only a token that was made after that
// confirms the number.
//
// The functions here store what they find in the page before they return or raise; the caller has
// called membership_lock(). All raise as registry_ask() does, and then `next` stays.
#pragma once

#include "pg/nodes/registry.hpp"
#include "pg/prelude.hpp"

namespace snowid::pg {

// Claims a number, or finishes an earlier claim: in one that returns the number is the node's, and
// the page says so. A claim names the identity of the registry, which is asked for before the claim
// is stored.
// Raises: 55000 if another server has finished the claim, or the registry has become another one;
// then the claim is forgotten.
void claim_number(const Registry& registry, Membership* member);

// Exchanges the token. Goes on with a WARNING if the registry does not know it, and sets `finding`.
// Raises: 55000 if another server has exchanged tokens since, or the number was retired; then the
// node has stopped.
void check_number(const Registry& registry, Membership* member);

// Finds the token that the registry has, whoever has exchanged it, and the snowid.max_lead of who
// has.
// Raises: 55000 if the number cannot be taken over.
Answer look_before_taking(const Registry& registry, const Membership& member);

// Exchanges that token, and binds the node to this server. The page is not stored yet: the caller
// first goes above what the other server has issued.
// Raises: 55000 if it cannot be; nothing has changed then.
void take_over_number(const Registry& registry, const Answer& look, Membership* member);

// Has the registry, as it is now, know the node's number and token; from then on the node goes by
// that registry.
// Raises: 55000 if it cannot be; nothing has changed then.
void accept_registry(const Registry& registry, Membership* member);

// Has the registry retire the number of a node that has stopped.
// Raises: 55000 if the registry does not go by this server.
void retire_number(const Registry& registry, Membership* member);

}  // namespace snowid::pg
