#include "pg/ids/settings.hpp"

#include "pg/clock.hpp"
#include "pg/compat.hpp"

namespace snowid::pg {

int64 default_shard = kUnresolvedShard;
uint64 changes_seen = 0;
int64 shard_setting = kOwnNumber;
int max_lead_ms = 1000;
int max_wait_ms = kDefaultMaxWaitMs;

namespace {

// snowid.shard as it was given. It is a text because shards can be greater than an int, and because
// PostgreSQL would replace an invalid number by the default, which may be another server's shard.
char* shard_text = nullptr;
bool is_registering = false;

// How often default_shard_forget() was called.
uint64 times_forgotten = 0;

// Reads a shard, or kOwnNumber. Returns false where the text is neither.
bool read_shard(std::string_view text, int64* shard) noexcept {
  while (!text.empty() && isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), *shard);
  return error == std::errc{} && rest == text.data() + text.size() && *shard >= kOwnNumber;
}

// Refuses an invalid value in SET, ALTER DATABASE, ALTER ROLE and ALTER SYSTEM. Accepts it where it
// comes from the configuration file, or was stored before the library was loaded: PostgreSQL would
// only warn, and go on with the default. The first use of the shard then fails. ALTER SYSTEM asks
// with the file as the source; but while a statement is executed the file itself is not read.
bool check_shard(char** value, void**, GucSource source) {
  int64 shard;
  if (read_shard(*value, &shard)) return true;
  if (is_registering || InitializingParallelWorker ||
      (source < PGC_S_INTERACTIVE && !(source == PGC_S_FILE && ActivePortal != nullptr)))
    return true;
  GUC_check_errdetail("It can be 0 to " INT64_FORMAT ", or -1 for this node's own number.",
                      PG_INT64_MAX);
  return false;
}

void assign_shard(const char* value, void*) {
  if (!read_shard(value, &shard_setting)) shard_setting = kRefusedShard;
  default_shard_forget();
}

}  // namespace

void default_shard_forget() {
  default_shard = kUnresolvedShard;
  times_forgotten++;
}

int64 shard_resolve() {
  // Where it fails below the session has no default shard, instead of the previous one. The changes
  // are read first, so that the next caller notices one that comes meanwhile.
  default_shard = kUnresolvedShard;
  changes_seen = changes_of(number_word->load(std::memory_order_acquire));
  const uint64 before = times_forgotten;
  const int64 shard = shard_of_setting();
  // Unless default_shard_forget() was called meanwhile: then the answer may be another one by now.
  if (times_forgotten == before) default_shard = shard;
  return shard;
}

void report_refused_shard() {
  ereport(
      ERROR,
      (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
       errmsg("invalid value for parameter \"%s\": \"%s\"", "snowid.shard", shard_text),
       errhint(
           "Set it to a shard, or to -1 for this node's own number, with the command that has set "
           "it (SET, ALTER DATABASE, ALTER ROLE or ALTER SYSTEM), or in the configuration file.")));
}

void id_settings_register() {
  is_registering = true;
  DefineCustomStringVariable(
      "snowid.shard", "Shard of the IDs that snowid_next() makes.",
      "-1 is this node's own number, which snowid_default_shard() gives; the view "
      "snowid.node_status says "
      "where it comes from. Functions that take a shard do not use this setting.",
      &shard_text, "-1", PGC_USERSET, 0, check_shard, assign_shard, nullptr);
  is_registering = false;
  DefineCustomIntVariable(
      "snowid.max_lead", "How far the time of an ID may run ahead of the server's clock.",
      "A burst borrows from the future up to here, and a clock set back by less "
      "goes unnoticed. Beyond it, callers wait.",
      &max_lead_ms, 1000, 0, INT_MAX, PGC_SUSET, GUC_UNIT_MS, nullptr, nullptr, nullptr);
  DefineCustomIntVariable(
      "snowid.max_wait", "How long a caller waits for the clock before it gets an error.",
      "A caller that would have to wait for longer is refused at once.", &max_wait_ms,
      kDefaultMaxWaitMs, 0, INT_MAX, PGC_USERSET, GUC_UNIT_MS, nullptr, nullptr, nullptr);
  bound_register("snowid.debug_max_shards", &max_shards);
  bound_register("snowid.debug_max_shards_of_database", &max_shards_of_database);
  bound_register("snowid.debug_shards_between_sweeps", &shards_between_sweeps);
  bound_register("snowid.debug_most_idle_shards", &most_idle_shards);
  bound_register("snowid.debug_log_every", &log_every);
  bound_register("snowid.debug_walk_tables", &walk_tables);
}

}  // namespace snowid::pg
