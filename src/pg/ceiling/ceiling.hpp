// The ceiling: the only durable state of the IDs of a database. It is a time, stored as last_value
// of the sequence snowid_internal.ceiling, and no ID is issued with a time above it. Whatever
// happens to the server, every time up to the ceiling counts as used when it starts again. The idea
// is max_seq of WeChat's seqsvr.
//
// This is all that other rooms see of it.
#pragma once

#include "pg/ceiling/learn.hpp"
#include "pg/ceiling/raise.hpp"
#include "pg/ceiling/settings.hpp"
#include "pg/ceiling/state.hpp"
#include "pg/ceiling/wild.hpp"

namespace snowid::pg {

// Registers the setting. Called once, when the library is loaded.
void ceiling_register();

}  // namespace snowid::pg
