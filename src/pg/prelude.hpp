// The one door to PostgreSQL's headers. They are C, and up to PostgreSQL 15 do not say so to a C++
// compiler; they also redefine names of the C library, so the C++ library and src/core come first.
#pragma once

// Some compilers and distributions have the C++ library check itself, and call it to report what it
// has found. snowid calls nothing of it at run time, since PostgreSQL need not have loaded it.
#undef _GLIBCXX_ASSERTIONS
#define _GLIBCXX_NO_ASSERTIONS

#include <sys/time.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <compare>
#include <cstdint>
#include <string_view>

#include "core/adapting_step.hpp"
#include "core/backfill.hpp"
#include "core/ceiling.hpp"
#include "core/layout.hpp"
#include "core/layout_text.hpp"
#include "core/objectid.hpp"
#include "core/scatter.hpp"
#include "core/section.hpp"
#include "core/segment.hpp"
#include "core/series.hpp"
#include "core/text.hpp"
#include "core/tick.hpp"
#include "core/types.hpp"
#include "core/uuid.hpp"

extern "C" {
// clang-format off: postgres.h must come before the others
#include "postgres.h"

#include "access/genam.h"
#include "access/generic_xlog.h"
#include "access/htup_details.h"
#include "access/parallel.h"
#include "access/relation.h"
#include "access/skey.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/catalog.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_opfamily_d.h"
#include "catalog/pg_proc_d.h"
#include "catalog/pg_sequence.h"
#include "commands/defrem.h"
#include "commands/extension.h"
#include "commands/sequence.h"
#include "commands/trigger.h"
#include "common/hashfn.h"
#include "common/int.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "foreign/foreign.h"
#include "funcapi.h"
#include "lib/dshash.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "port/pg_bswap.h"
#include "portability/instr_time.h"
#include "replication/logicalworker.h"
#include "replication/syncrep.h"
#include "replication/walsender.h"
#include "replication/walsender_private.h"
#include "storage/bufmgr.h"
#include "storage/condition_variable.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "storage/shmem.h"
#include "tcop/pquery.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/dsa.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"
#include "utils/wait_event.h"
#include "windowapi.h"
// clang-format on
}
