// Allocating blocks from a central source, over remote.hpp, with the rights of the owner of
// the sequence here. Nothing is shared here.
#pragma once

#include "pg/central/sources.hpp"
#include "pg/prelude.hpp"

namespace snowid::pg {

// Whether owner and server are the ones that they were when the sequence was attached. If not, the
// present owner has not agreed to blocks being allocated with its rights.
bool central_is_as_attached(const CentralSource& source);

// The SQLSTATE of what was changed: 42501 for the owner, 55000 for another server of that name,
// 42704 for none. And reports it.
int central_changed_sqlstate(const CentralSource& source);
[[noreturn]] void central_report_changed(const CentralSource& source);

// Allocates 1 to `blocks` blocks durably, the first of which begins at `least` or above, and none
// above `max` there. The source is as it was attached. Returns and fails as remote_run() does; the
// error has been explained. It is 55000 where the source has another identity than when it was
// attached, or is behind `least`.
ErrorData* central_allocate(const CentralSource& source, int64 least, uint64 blocks,
                            core::GivenBlocks* allocated);

// The identity of a source that is about to be attached, of which relid, owner, server_oid, server
// and remote are set. Nothing is allocated. Raises the errors of central_allocate(), and 08006
// where the server cannot be reached.
const char* central_identify(const CentralSource& source, int64 least);

// 08006. why: the error of this try, or nullptr where the source was not tried, because it failed a
// moment ago.
[[noreturn]] void central_report_down(const CentralSource& source, const ErrorData* why);

}  // namespace snowid::pg
