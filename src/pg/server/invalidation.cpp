// The callback and its subscribers. See invalidation.hpp.
#include "pg/server/invalidation.hpp"

namespace snowid::pg {

namespace {

constexpr int kMostSubscribers = 8;
void (*subscribers[kMostSubscribers])(Oid relid);
int subscriber_count = 0;

void call_subscribers(Datum, Oid relid) {
  for (int i = 0; i < subscriber_count; i++) subscribers[i](relid);
}

}  // namespace

void invalidation_subscribe(void (*forget)(Oid relid)) {
  if (subscriber_count == kMostSubscribers) elog(ERROR, "too many subscribers to invalidations");
  if (subscriber_count == 0) CacheRegisterRelcacheCallback(call_subscribers, 0);
  subscribers[subscriber_count++] = forget;
}

}  // namespace snowid::pg
