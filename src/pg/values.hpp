// SQL values: UUIDs, rows, and types of fixed size; hash tables; random bytes.
#pragma once

#include "pg/postgres.hpp"

#include "core/uuid.hpp"
#include "pg/compat.hpp"

extern "C" {
#include "access/htup_details.h"
#include "common/hashfn.h"
#include "funcapi.h"
#include "port/pg_bswap.h"
#include "utils/hsearch.h"
#include "utils/tuplestore.h"
#include "utils/uuid.h"
}

namespace snowid::pg {

inline Datum uuid_datum(core::Uuid uuid) {
  auto* made = static_cast<pg_uuid_t*>(palloc(sizeof(pg_uuid_t)));
  const uint64 words[] = {pg_hton64(uuid.high), pg_hton64(uuid.low)};
  static_assert(sizeof(words) == sizeof(made->data));
  memcpy(made->data, words, sizeof(words));
  return UUIDPGetDatum(made);
}

inline core::Uuid uuid_arg(FunctionCallInfo fcinfo, int number) {
  uint64 words[2];
  memcpy(words, PG_GETARG_UUID_P(number)->data, sizeof(words));
  return {pg_ntoh64(words[0]), pg_ntoh64(words[1])};
}

inline Datum row_datum(FunctionCallInfo fcinfo, Datum* values, bool* nulls) {
  TupleDesc columns;
  if (get_call_result_type(fcinfo, nullptr, &columns) != TYPEFUNC_COMPOSITE)
    elog(ERROR, "return type must be a row type");
  return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(columns), values, nulls));
}

// Adds a row to the result of a function that has called InitMaterializedSRF().
inline void put_row(FunctionCallInfo fcinfo, Datum* values, bool* nulls) {
  const auto* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

// An argument of a type of fixed size, and the order of the first two.
template <typename Type>
const Type& struct_arg(FunctionCallInfo fcinfo, int number) {
  return *reinterpret_cast<const Type*>(PG_GETARG_POINTER(number));
}
template <typename Type>
std::strong_ordering order_of(FunctionCallInfo fcinfo) {
  return struct_arg<Type>(fcinfo, 0) <=> struct_arg<Type>(fcinfo, 1);
}

// The operator functions of such a type, comparing and hashing its bytes.
#define SNOWID_COMPARISON(name, Type, is) \
  SNOWID_FUNCTION(name) { PG_RETURN_BOOL(order_of<Type>(fcinfo) is 0); }
#define SNOWID_COMPARISONS(name, Type)                                                           \
  SNOWID_COMPARISON(name##_eq, Type, ==)                                                         \
  SNOWID_COMPARISON(name##_ne, Type, !=)                                                         \
  SNOWID_COMPARISON(name##_lt, Type, <)                                                          \
  SNOWID_COMPARISON(name##_le, Type, <=)                                                         \
  SNOWID_COMPARISON(name##_gt, Type, >)                                                          \
  SNOWID_COMPARISON(name##_ge, Type, >=)                                                         \
  SNOWID_FUNCTION(name##_cmp) {                                                                  \
    const std::strong_ordering order = order_of<Type>(fcinfo);                                   \
    PG_RETURN_INT32(order<0 ? -1 : order> 0 ? 1 : 0);                                            \
  }                                                                                              \
  SNOWID_FUNCTION(name##_hash) {                                                                 \
    return hash_any(reinterpret_cast<const unsigned char*>(PG_GETARG_POINTER(0)), sizeof(Type)); \
  }                                                                                              \
  SNOWID_FUNCTION(name##_hash_extended) {                                                        \
    return hash_any_extended(reinterpret_cast<const unsigned char*>(PG_GETARG_POINTER(0)),       \
                             sizeof(Type), static_cast<uint64>(PG_GETARG_INT64(1)));             \
  }

// Requires: entries begin with their key.
template <typename Key, typename Entry>
HTAB* make_hash(const char* name, MemoryContext context) {
  HASHCTL options{};
  options.keysize = sizeof(Key);
  options.entrysize = sizeof(Entry);
  options.hcxt = context;
  return hash_create(name, 64, &options, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

// Raises: XX000 if PostgreSQL's strong source fails.
inline void fetch_random(void* to, Size size) {
  if (unlikely(!pg_strong_random(to, size)))
    ereport(ERROR, errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random values"));
}

// Random numbers, each used once, fetched in batches for speed. Zeroed at first.
class RandomPool {
 public:
  // Raises: XX000, as fetch_random().
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
