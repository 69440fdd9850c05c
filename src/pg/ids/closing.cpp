// Asking whether a shard is closed. See closing.hpp.
#include "pg/ids/closing.hpp"

namespace snowid::pg {

constinit ClosedShards closed_shards = {
    [](const core::Layout&, int64) { return false; }, [](const core::Layout&, int64) {},
    [](const core::Layout&, core::Shard, const Slot*) {}, [] {}};

}  // namespace snowid::pg
