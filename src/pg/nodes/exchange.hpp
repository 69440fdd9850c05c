// Exchanging tokens with the registry, which detects copies. The caller has called member_lock().
#pragma once

#include "pg/nodes/registry.hpp"
#include "pg/prelude.hpp"

namespace snowid::pg {

// Has the registry know a token that no copy of this database can have, since it is made now, and
// stores it in the words. Returns the identity of the registry. Fails as registry_ask() does; and
// with 55000 where the number is another's, then this database has been marked as a copy, durably;
// where another server goes by it which has checked just now; and where the registry is another
// one.
const char* exchange_tokens(const Registry& registry, const Member& member, Words* words);

// Has the registry know a token of this database, whatever it knew before, by the secret. Nothing
// is stored here that would count before member_store(). Returns the identity of the registry.
// Fails as registry_ask() does, and with 55000 where the number is not to be had.
const char* take_number_over(const Registry& registry, const Member& member, Words* words);

}  // namespace snowid::pg
