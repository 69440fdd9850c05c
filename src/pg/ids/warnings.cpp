// Warning once a day. See warnings.hpp.
#include "pg/ids/warnings.hpp"

#include "pg/base/clock.hpp"
#include "pg/database/database.hpp"
#include "pg/ids/errors.hpp"

namespace snowid::pg {

namespace {

constexpr uint32 kWarnings = 64;

// A layout that is about to end.
struct Warning {
  std::atomic<uint64_t> layout;  // a hash of it; 0 where nobody has used this place yet
  std::atomic<int64_t> warned_us;
};

// The one entry of the table.
struct Warnings {
  uint64 key;  // 0
  Warning of[kWarnings];
};

SNOWID_PIN(Warning, layout, 0);
SNOWID_PIN(Warning, warned_us, 8);
SNOWID_PIN(Warnings, key, 0);
SNOWID_PIN(Warnings, of, 8);
SNOWID_PIN_SIZE(Warnings, 8 + 16 * kWarnings);

SharedTable table = {{"warnings", SNOWID_IDS_ABI, sizeof(uint64), sizeof(Warnings), nullptr},
                     nullptr};

Warnings* warnings = nullptr;

// When the end of this layout was last logged, as Unix microseconds; 0 for never.
std::atomic<int64_t>* warned_us(const core::LayoutSpec& layout) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(&layout);
  const uint64_t hash = hash_bytes_extended(bytes, sizeof(layout), 0) | 1;
  const uint64_t home = (hash >> 32) % kWarnings;
  for (uint64_t at = home; at < home + kWarnings; at++) {
    Warning& warning = warnings->of[at % kWarnings];
    uint64_t owner = 0;
    if (warning.layout.compare_exchange_strong(owner, hash, std::memory_order_relaxed) ||
        owner == hash)
      return &warning.warned_us;
  }
  return &warnings->of[home].warned_us;
}

}  // namespace

void warnings_attach() {
  constexpr uint64 kKey = 0;
  if (warnings != nullptr) return;
  warnings = static_cast<Warnings*>(table_attach_entry(&table, &kKey));
}

void warn_daily(const core::Layout& layout, core::UnixMicros now) {
  warnings_attach();
  std::atomic<int64_t>* warned = warned_us(layout.spec);
  int64_t last = warned->load(std::memory_order_relaxed);
  if (IsRecent({last}, USECS_PER_DAY, now)) return;
  if (warned->compare_exchange_strong(last, now.value, std::memory_order_relaxed))
    warn_of_end(layout);
}

}  // namespace snowid::pg
