// Allocating blocks from a central source, over server/remote.hpp, with the rights of the owner of
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

// Allocates 1 to `blocks` blocks durably, none of which begins above `max` there. The source is as
// it was attached. Returns and fails as remote_run() does; the error has been explained.
ErrorData* central_allocate(const CentralSource& source, uint64 blocks,
                            core::GivenBlocks* allocated);

// 08006. why: the error of this try, or nullptr where the source was not tried, because it failed a
// moment ago.
[[noreturn]] void central_report_down(const CentralSource& source, const ErrorData* why);

}  // namespace snowid::pg
