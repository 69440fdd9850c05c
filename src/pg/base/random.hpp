// PostgreSQL's strong source of random bytes. Nothing here is shared.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// Fills `size` bytes at `to`. Fails with XX000, as gen_random_uuid() does.
inline void fetch_random(void* to, Size size) {
  if (unlikely(!pg_strong_random(to, size)))
    ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random values")));
}

// Random numbers, many of which are fetched at a time, since each fetch costs more than the bytes.
// Each is used once, and overwritten. It begins with all bytes zero.
class RandomPool {
 public:
  // Fails as fetch_random() does.
  uint64 take() {
    if (unlikely(left_ == 0)) {
      fetch_random(numbers_, sizeof(numbers_));
      left_ = lengthof(numbers_);
    }
    left_--;
    const uint64 number = numbers_[left_];
    numbers_[left_] = 0;
    return number;
  }

 private:
  uint64 numbers_[64];
  int left_;
};

}  // namespace snowid::pg
