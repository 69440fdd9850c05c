// DISCARD ALL and DISCARD SEQUENCES make a session forget its last IDs, as they do lastval's and
// currval's: connection poolers hand the session on to somebody else.
#pragma once

namespace snowid::pg {

// Has utility statements pass through snowid. Called once, when the library is loaded.
void discard_register();

}  // namespace snowid::pg
