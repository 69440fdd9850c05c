// Exchanging tokens with the registry, which finds copies out. See member.hpp for the words that
// tokens are kept in; the caller has called member_lock().
#pragma once

#include "pg/nodes/registry.hpp"
#include "pg/prelude.hpp"

namespace snowid::pg {

// Has the registry know a token that no copy of this database can have, since it is made now. The
// two words are tokens of the member's incarnation. Fails as registry_ask() does; and with 55000
// where the number is another's: then this database has been marked as a copy, durably.
Answer exchange_tokens(const Registry& registry, const Member& member);

// Has the registry know a first token of a new incarnation, which `member` has, whatever it knew
// before, by the secret. Until the row is stored with that incarnation this database has no number.
// Fails as exchange_tokens() does.
Answer take_number_over(const Registry& registry, const Member& member);

// Says that the answer was heeded. Before that taking over again is answered alike.
void end_taking_over();

}  // namespace snowid::pg
