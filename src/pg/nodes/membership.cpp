// Reading the membership. See membership.hpp.
#include "pg/nodes/membership.hpp"

namespace snowid::pg {

Membership membership_read() { return {MemberState::kNone, 0, nullptr, nullptr}; }

bool is_membership(Oid) { return false; }

}  // namespace snowid::pg
