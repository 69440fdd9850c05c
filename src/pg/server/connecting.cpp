// Interrupting a call that connects. See connecting.hpp.
#include "pg/server/connecting.hpp"

namespace snowid::pg {

namespace {

// Few calls take so long that the timer fires at all.
constexpr int kFirstMs = 1000;
constexpr int kEveryMs = 100;

// The timer that looks for interrupts.
TimeoutId timer = MAX_TIMEOUTS;

// Which descriptors, from 0 to before `descriptors`, were sockets before. A new descriptor is the
// least that is free, so it is less than the number of open files. fd.c bounds those.
bool* was_socket = nullptr;
int descriptors = 0;

bool IsSocket(int descriptor) {
  int type;
  socklen_t length = sizeof(type);
  return getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) == 0;
}

// The timer's handler, which runs within any code: it calls what may be called by a signal handler.
void disconnect_if_interrupted() {
  if (!QueryCancelPending && !ProcDiePending) return;
  for (int i = 0; i < descriptors; i++)
    if (!was_socket[i] && IsSocket(i)) shutdown(i, SHUT_RDWR);
}

}  // namespace

void begin_connecting() {
  if (was_socket == nullptr) {
    // A third more are files that fd.c is only told of.
    const int files = atoi(GetConfigOption("max_files_per_process", false, false));
    const int most = 2 * std::min(files, 100000) + 100;
    was_socket = static_cast<bool*>(MemoryContextAlloc(TopMemoryContext, most));
    descriptors = most;
    timer = RegisterTimeout(USER_TIMEOUT, disconnect_if_interrupted);
  }
  for (int i = 0; i < descriptors; i++) was_socket[i] = IsSocket(i);
  enable_timeout_every(timer, TimestampTzPlusMilliseconds(GetCurrentTimestamp(), kFirstMs),
                       kEveryMs);
}

void EndConnecting() {
  if (timer != MAX_TIMEOUTS) disable_timeout(timer, false);
}

}  // namespace snowid::pg
