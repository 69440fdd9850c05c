// The SQL type objectid: MongoDB's ObjectID, 12 bytes, passed by reference, without a length word.
//
// MongoDB's clients have a random number and a counter per process. Here the whole server counts as
// one process, which makes its ObjectIDs increase across sessions.
//
// Shared: the counter, a slot for all databases (ids/issue.hpp); and the random number, in the only
// entry of the table "objectid", which is never deleted.
#include "pg/postgres.hpp"

#include "core/objectid.hpp"
#include "pg/clock.hpp"
#include "pg/errors.hpp"
#include "pg/ids/issue.hpp"
#include "pg/shmem/shared_table.hpp"
#include "pg/values.hpp"

extern "C" {
#include "libpq/pqformat.h"
}

// ABI number of Process: its layout, and the meaning of its fields.
#ifndef SNOWID_OBJECTID_ABI
#define SNOWID_OBJECTID_ABI 1
#endif

namespace snowid::pg {

namespace {

core::ObjectId* new_objectid() {
  return static_cast<core::ObjectId*>(palloc(sizeof(core::ObjectId)));
}

struct Process {
  uint64 key;
  std::atomic<uint64_t> random;  // 0 until generated
};

SNOWID_PIN_SIZE(Process, 16);

SharedTable table = {"objectid", SNOWID_OBJECTID_ABI, sizeof(uint64), sizeof(Process)};

CommonShard objectid_shard;
Process* process = nullptr;  // nullptr until objectid_shard has a slot
uint64 random_after = 0;     // for objectid_end_setting_back()

constexpr uint64 kRandomBits = uint64{1} << 40;

// Raises: XX000 if the source of random bytes fails.
uint64 fresh_random() {
  uint64 fresh;
  fetch_random(&fresh, sizeof(fresh));
  // Nonzero: with a bit above the random ones.
  return fresh % kRandomBits | kRandomBits;
}

void attach_process() {
  constexpr uint64 kKey = 0;
  process = static_cast<Process*>(table_attach_entry(&table, &kKey));
}

// 40 random bits, the same for all sessions until a restart or until ObjectIDs are reset.
uint64 random_of_process() { return process->random.load(std::memory_order_acquire) % kRandomBits; }

void make_ready() {
  uint32 counter;
  fetch_random(&counter, sizeof(counter));
  if (objectid_shard.slot == nullptr) {
    uint64_t none = 0;
    const uint64 fresh = fresh_random();
    attach_process();
    process->random.compare_exchange_strong(none, fresh, std::memory_order_acq_rel);
  }
  common_make_ready(core::kObjectIdLayout, &objectid_shard,
                    {counter & core::kObjectIdLayout.max_sequence.value});
}

}  // namespace

void objectid_begin_setting_back() {
  attach_process();
  random_after = fresh_random();
  process->random.store(fresh_random(), std::memory_order_release);
}

void objectid_end_setting_back() noexcept {
  process->random.store(random_after, std::memory_order_release);
}

SNOWID_FUNCTION(snowid_objectid_in) {
  const char* text = PG_GETARG_CSTRING(0);
  core::ObjectId* id = new_objectid();
  if (core::parse_object_id(text, id) != core::Status::kOk)
    SNOWID_INPUT_ERROR((errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
                        errmsg("invalid input syntax for type %s: \"%s\"", "objectid", text),
                        errhint("Exactly 24 hexadecimal digits are expected.")));
  PG_RETURN_POINTER(id);
}

SNOWID_FUNCTION(snowid_objectid_out) {
  char* text = static_cast<char*>(palloc(core::kObjectIdDigits + 1));
  core::format_object_id(struct_arg<core::ObjectId>(fcinfo, 0), text);
  text[core::kObjectIdDigits] = '\0';
  PG_RETURN_CSTRING(text);
}

// Raises: 08P01 if fewer than 12 bytes are left; the caller checks for more.
SNOWID_FUNCTION(snowid_objectid_recv) {
  core::ObjectId* id = new_objectid();
  pq_copymsgbytes(reinterpret_cast<StringInfo>(PG_GETARG_POINTER(0)),
                  reinterpret_cast<char*>(id->bytes), sizeof *id);
  PG_RETURN_POINTER(id);
}

SNOWID_FUNCTION(snowid_objectid_send) {
  const core::ObjectId& id = struct_arg<core::ObjectId>(fcinfo, 0);
  StringInfoData message;
  pq_begintypsend(&message);
  pq_sendbytes(&message, reinterpret_cast<const char*>(id.bytes), sizeof id);
  PG_RETURN_BYTEA_P(pq_endtypsend(&message));
}

// Raises: 22P03 if the length is not 12.
SNOWID_FUNCTION(snowid_objectid_from_bytea) {
  const bytea* bytes = PG_GETARG_BYTEA_PP(0);
  const int length = VARSIZE_ANY_EXHDR(bytes);
  if (length != sizeof(core::ObjectId))
    ereport(ERROR, errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
            errmsg("invalid length of bytea for type objectid"),
            errdetail("An objectid has 12 bytes, and the value has %d.", length));
  core::ObjectId* id = new_objectid();
  memcpy(id, VARDATA_ANY(bytes), sizeof *id);
  PG_RETURN_POINTER(id);
}

SNOWID_COMPARISONS(snowid_objectid, core::ObjectId)

SNOWID_FUNCTION(snowid_objectid_smaller) {
  PG_RETURN_DATUM(PG_GETARG_DATUM(order_of<core::ObjectId>(fcinfo) < 0 ? 0 : 1));
}

SNOWID_FUNCTION(snowid_objectid_larger) {
  PG_RETURN_DATUM(PG_GETARG_DATUM(order_of<core::ObjectId>(fcinfo) > 0 ? 0 : 1));
}

SNOWID_FUNCTION(snowid_objectid_timestamp) {
  PG_RETURN_TIMESTAMPTZ(to_timestamptz(core::time_of(struct_arg<core::ObjectId>(fcinfo, 0))));
}

SNOWID_FUNCTION(snowid_objectid_next) {
  require_read_write("objectid_next()");
  if (unlikely(!common_is_ready(objectid_shard))) make_ready();
  auto* made = static_cast<core::ObjectId*>(palloc(sizeof(core::ObjectId)));
  *made = core::next_object_id(random_of_process,
                               [] { return issue_common(core::kObjectIdLayout, objectid_shard); });
  PG_RETURN_POINTER(made);
}

}  // namespace snowid::pg
