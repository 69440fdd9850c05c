// UUIDs (RFC 9562): of version 7 from ticks, and those that contain an ID. Pure functions.
//
// Version 7 is 48 bits of Unix milliseconds, 4 of version, 12 bits, 2 of variant, 62 bits. Version
// 8 has no meaning for its 48 bits. Versions 1 and 6 have 60 bits of time around the version: 6
// from the most significant down, 1 with the low 32 first, the middle 16 next, the high 12 last.
#pragma once

#include <cstdint>

#include "core/layout.hpp"
#include "core/tick.hpp"
#include "core/types.hpp"

namespace snowid::core {

// A UUID's 16 bytes, the first one most significant: compares as the bytes do.
struct Uuid {
  uint64_t high;
  uint64_t low;
  friend constexpr auto operator<=>(const Uuid&, const Uuid&) = default;
};

// The layout of snowid_uuidv7()'s ticks: milliseconds, and a sequence in the next 12 bits.
inline constexpr Layout kUuid7 = make_layout({0, 1000, 48, 0, 12, 0});

namespace uuid {

// A UUID of 48, 12, and 62 bits. `c` may have more bits above them.
constexpr Uuid assemble(unsigned version, uint64_t a, uint64_t b, uint64_t c) noexcept {
  return {a << 16 | uint64_t{version} << 12 | b, uint64_t{0b10} << 62 | (c & (UINT64_MAX >> 2))};
}

constexpr unsigned version_of(Uuid uuid) noexcept { return uuid.high >> 12 & 0xf; }
constexpr bool is_of_rfc(Uuid uuid) noexcept { return uuid.low >> 62 == 0b10; }
constexpr uint64_t A(Uuid uuid) { return uuid.high >> 16; }
constexpr uint64_t B(Uuid uuid) { return uuid.high & 0xfff; }
constexpr uint64_t C(Uuid uuid) { return uuid.low & (UINT64_MAX >> 2); }

// Versions 1 and 6 count steps of 100 ns since 1582-10-15, the first Gregorian day.
constexpr UnixMicros moment_of_steps(uint64_t steps) noexcept {
  constexpr int64_t kFirstDayUs = -12'219'292'800'000'000;
  return {kFirstDayUs + static_cast<int64_t>(steps / 10)};
}

// The last step of SplitMix64 (Steele, Lea, and Flood, 2014), which spreads differences.
constexpr uint64_t mix(uint64_t bits) noexcept {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

// Check bits of an ID and its layout. Never to be changed: databases store UUIDs with them.
constexpr uint64_t check_of(const LayoutSpec& spec, Id id) noexcept {
  uint64_t check = mix(static_cast<uint64_t>(spec.epoch_us) + 0x9e3779b97f4a7c15);
  check = mix(check ^ spec.fields);
  return mix(check ^ static_cast<uint64_t>(id.value));
}

// Whether UUIDs of version 7 can hold all IDs of a layout, in order, with at least 24 check bits.
constexpr bool is_fit_for_version7(const Layout& layout) noexcept {
  return layout.time_is_first && layout.epoch.value >= 0 &&
         layout.end.value <= (int64_t{1} << 48) * 1000 && layout.time_shift <= 40;
}

// A UUID of version 7: the ID's milliseconds; then, in the other 74 bits, 10 of the microseconds
// beyond them, the rest of the ID, and check bits.
constexpr Uuid version7_of(const Layout& layout, Id id, Time time, uint64_t check) noexcept {
  const int64_t start_us = start_of(layout, time).value;
  // In 128 bits, because the time may be the lowest field.
  const uint64_t rest =
      static_cast<uint64_t>(Uint128{static_cast<uint64_t>(id.value)} << (64 - layout.time_shift));
  const Uint128 bits =
      Uint128{static_cast<uint64_t>(start_us % 1000)} << 64 | rest | check >> layout.time_shift;
  return assemble(7, static_cast<uint64_t>(start_us / 1000), static_cast<uint64_t>(bits >> 62),
                  static_cast<uint64_t>(bits));
}

constexpr Id id_of_version7(const Layout& layout, Uuid uuid) noexcept {
  const Uint128 bits = Uint128{B(uuid)} << 62 | C(uuid);
  const int64_t start_us = static_cast<int64_t>(A(uuid)) * 1000 + static_cast<int64_t>(bits >> 64);
  const uint64_t time = static_cast<uint64_t>(time_at(layout, {start_us}).value);
  const uint64_t rest =
      static_cast<uint64_t>(Uint128{static_cast<uint64_t>(bits)} >> (64 - layout.time_shift));
  return {static_cast<int64_t>(time << layout.time_shift | rest)};
}

// A UUID of version 8: the 63 bits of the ID, then check bits.
constexpr Uuid version8_of(Id id, uint64_t check) noexcept {
  const uint64_t bits = static_cast<uint64_t>(id.value);
  return assemble(8, bits >> 15, bits >> 3 & 0xfff, bits << 59 | check >> 5);
}
constexpr Id id_of_version8(Uuid uuid) noexcept {
  return {static_cast<int64_t>(A(uuid) << 15 | B(uuid) << 3 | C(uuid) >> 59)};
}

}  // namespace uuid

// The UUID of version 7 of a tick of kUuid7 and 62 random bits. A later tick's UUID is greater.
constexpr Uuid uuid7_of(Tick tick, uint64_t random) noexcept {
  return uuid::assemble(7, static_cast<uint64_t>(time_of(kUuid7, tick).value),
                        sequence_of(kUuid7, tick).value, random);
}

constexpr bool is_uuid7(Uuid uuid) noexcept {
  return uuid::is_of_rfc(uuid) && uuid::version_of(uuid) == 7;
}

// The least and the greatest UUID of version 7 of a millisecond, 0 to kUuid7.max_time.
constexpr Uuid least_uuid7_of(Time time) noexcept {
  return uuid::assemble(7, static_cast<uint64_t>(time.value), 0, 0);
}
constexpr Uuid greatest_uuid7_of(Time time) noexcept {
  return uuid::assemble(7, static_cast<uint64_t>(time.value), 0xfff, UINT64_MAX);
}

// The least UUID of version 7 with a millisecond from `moment` on, and the greatest with an earlier
// one; else the greatest and the least of all UUIDs, which have no version.
constexpr Uuid first_uuid7_from(UnixMicros moment) noexcept {
  const Time time = first_unit_from(kUuid7, moment);
  return time > kUuid7.max_time ? Uuid{UINT64_MAX, UINT64_MAX} : least_uuid7_of(time);
}
constexpr Uuid last_uuid7_before(UnixMicros moment) noexcept {
  const Time time{first_unit_from(kUuid7, moment).value - 1};
  return time.value < 0 ? Uuid{0, 0} : greatest_uuid7_of(time);
}

// The place of a bound of UUIDs in the order of time: the least ID of kUuid7, or the one after the
// last, such that each UUID of version 7 below the bound has time and 12 bits of an earlier ID.
constexpr Id key_of_uuid_bound(Uuid bound) noexcept {
  const int64_t start = static_cast<int64_t>(uuid::A(bound) << 12);
  const unsigned version = uuid::version_of(bound);
  if (version != 7) return {start + (version < 7 ? 0 : 1 << 12)};
  const bool is_within = bound.low > uint64_t{0b10} << 62;
  return {start + static_cast<int64_t>(uuid::B(bound)) + (is_within ? 1 : 0)};
}

// The time of a UUID of version 1, 6, or 7, rounded down. Fails with kNoTime for any other.
constexpr Status time_of_uuid(Uuid uuid, UnixMicros* moment) noexcept {
  if (!uuid::is_of_rfc(uuid)) return Status::kNoTime;
  switch (uuid::version_of(uuid)) {
    case 1:
      *moment = uuid::moment_of_steps(uuid::B(uuid) << 48 | (uuid::A(uuid) & 0xffff) << 32 |
                                      uuid::A(uuid) >> 16);
      return Status::kOk;
    case 6:
      *moment = uuid::moment_of_steps(uuid::A(uuid) << 12 | uuid::B(uuid));
      return Status::kOk;
    case 7:
      *moment = {static_cast<int64_t>(uuid::A(uuid)) * 1000};
      return Status::kOk;
    default:
      return Status::kNoTime;
  }
}

// The UUID that contains an ID: of version 7 with the ID's time if that fits, else of version 8.
// UUIDs of one layout sort as their IDs. Fails as decompose() does.
constexpr Status to_uuid(const Layout& layout, Id id, Uuid* out) noexcept {
  Parts parts{};
  const Status status = decompose(layout, id, &parts);
  if (status != Status::kOk) return status;
  const uint64_t check = uuid::check_of(layout.spec, id);
  *out = uuid::is_fit_for_version7(layout) ? uuid::version7_of(layout, id, parts.time, check)
                                           : uuid::version8_of(id, check);
  return Status::kOk;
}

// Fails with kForeignUuid for other UUIDs, except one in 2^24 of those with a time of the layout.
constexpr Status from_uuid(const Layout& layout, Uuid uuid, Id* id) noexcept {
  *id = uuid::is_fit_for_version7(layout) ? uuid::id_of_version7(layout, uuid)
                                          : uuid::id_of_version8(uuid);
  Uuid again{};
  if (to_uuid(layout, *id, &again) != Status::kOk || again != uuid) return Status::kForeignUuid;
  return Status::kOk;
}

}  // namespace snowid::core
