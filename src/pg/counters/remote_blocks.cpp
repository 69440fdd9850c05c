// Allocating blocks of a remote sequence (remote_source.hpp). The caller has the right to refill:
// one session of a server allocates for a sequence at a time.
#include "pg/postgres.hpp"

#include "core/central.hpp"
#include "pg/catalog_table.hpp"
#include "pg/counters/remote_source.hpp"
#include "pg/remote.hpp"

extern "C" {
#include "executor/spi.h"
#include "foreign/foreign.h"
#include "utils/lsyscache.h"
}

namespace snowid::pg {

namespace {

// The statement for the remote server. Arguments: whether the source is being attached, the least
// number to allocate, the sequence's name, the identity expected, and the maximum number of blocks.
// It calls nextval once for each block, at most for a sixteenth of the blocks left (core::kPart).
// The answer is one row: the source's identity, and the longest series of blocks without a gap,
// because other sessions may call nextval meanwhile. Nothing is allocated if the identity differs,
// or the source's next block begins below the least number.
//
// - If nextval was not called since the sequence was created or set, only SELECT could read the
//   next number. Then one block is allocated, and the caller checks it. While the source is being
//   attached, such a sequence counts as being at its start.
// - The identity changes when the server is promoted, restored or upgraded, and when the sequence
//   is created again. The timeline is of the WAL being written: the control file has the old one
//   until the first checkpoint after a promotion.
// - An advisory lock excludes the same statement from other servers. The statement tries for 0.2 s,
//   then continues without it, because any role may hold it.
// - Its own WAL record and a synchronous commit make the answer durable under any remote settings.
// - The sequence's options are read after the first nextval, which keeps them from changing.
// - Operators and the types of their operands are exact, because roles may overload them.
constexpr char kAllocate[] = R"(
SELECT b.identity, b.behind, pg_catalog.min(b.n), pg_catalog.count(*), b.increment, b.max, b.cycles
FROM (
  -- Numbers of one row have the same island.
  SELECT a.n, a.identity, a.behind, (a.p).increment AS increment, (a.p).maximum_value AS max,
    (a.p).cycle_option AS cycles,
    a.n::numeric OPERATOR(pg_catalog.-) ((a.p).increment::numeric OPERATOR(pg_catalog.*)
      (pg_catalog.row_number() OVER (ORDER BY a.n))::numeric) AS island
  FROM (
    SELECT s.identity, s.behind,
      CASE WHEN g.i IS NOT NULL THEN pg_catalog.nextval(s.seqrelid::pg_catalog.regclass) END AS n,
      pg_catalog.pg_sequence_parameters(s.seqrelid) AS p
    FROM (
      -- Evaluated before the first nextval, since OFFSET keeps this from being flattened.
      SELECT r.*,
        (SELECT x.next FROM (SELECT COALESCE(r.last OPERATOR(pg_catalog.+) r.seqincrement::numeric,
             CASE WHEN %s THEN r.seqstart::numeric END)) AS x(next)
         WHERE x.next OPERATOR(pg_catalog.<) %s::numeric) AS behind
      FROM (
        SELECT q.*,
          pg_catalog.set_config('lock_timeout', '2s', true),
          pg_catalog.set_config('synchronous_commit', 'on', true),
          (SELECT true FROM pg_catalog.generate_series(1::bigint, 10::bigint)
           WHERE CASE WHEN pg_catalog.pg_try_advisory_xact_lock(
               (1936617335::bigint OPERATOR(pg_catalog.<<) 32)
               OPERATOR(pg_catalog.|) q.seqrelid::bigint) THEN true
             ELSE pg_catalog.pg_sleep(0.02::double precision) IS NULL END
           LIMIT 1),
          -- On a standby a message is an internal error, and the transaction's number 25006.
          pg_catalog.pg_logical_emit_message(true, 'snowid'::pg_catalog.text,
            pg_catalog.txid_current()::pg_catalog.text),
          pg_catalog.concat_ws('/'::pg_catalog.text,
            (SELECT c.system_identifier FROM pg_catalog.pg_control_system() AS c),
            (SELECT d.oid FROM pg_catalog.pg_database AS d
             WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()),
            q.seqrelid, pg_catalog."left"(pg_catalog.pg_walfile_name(
              pg_catalog.pg_current_wal_insert_lsn()), 8)) AS identity,
          pg_catalog.pg_sequence_last_value(q.seqrelid)::numeric AS last
        FROM pg_catalog.pg_sequence AS q
        WHERE q.seqrelid OPERATOR(pg_catalog.=) %s::pg_catalog.regclass::pg_catalog.oid
        OFFSET 0
      ) AS r
      OFFSET 0
    ) AS s
    LEFT JOIN LATERAL pg_catalog.generate_series(1::bigint,
      CASE WHEN s.behind IS NOT NULL OR s.identity OPERATOR(pg_catalog.<>) %s::pg_catalog.text
        THEN 0::bigint
        WHEN s.last IS NULL THEN 1::bigint
        ELSE GREATEST(1, LEAST()" UINT64_FORMAT R"(,
          pg_catalog.div(s.seqmax::numeric OPERATOR(pg_catalog.-) s.last,
            s.seqincrement::numeric OPERATOR(pg_catalog.*) 16::numeric)))::bigint
        END) AS g(i) ON true
  ) AS a
) AS b
GROUP BY b.identity, b.behind, b.island, b.increment, b.max, b.cycles
ORDER BY 4 DESC
LIMIT 1)";

enum Column : int {
  kIdentity = 1,
  kBehind,  // where the source's next block begins; null unless below the least number
  kFirst,   // null if nothing was allocated
  kBlocks,
  kIncrement,
  kMax,
  kCycles,
  kColumns = kCycles
};

// Two numbers of at most 20 digits, two of at most 10, and separators.
constexpr size_t kLongestIdentity = 63;

[[noreturn]] void report_other(const RemoteSource& source, const char* identity) {
  const char* sequence = get_rel_name(source.relid);
  ereport(
      ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
      errmsg(
          "sequence \"%s\" on server \"%s\" is not the one to which sequence \"%s\" was attached",
          source.remote, source.server, sequence),
      errdetail("That server was restored, promoted, or upgraded, or the sequence was created "
                "again. It may have lost allocated numbers, and allocate them again."),
      errdetail_log("The source was \"%s\" when it was attached, and is \"%s\".", source.identity,
                    identity),
      errhint("Find the greatest \"last_allocated\" in snowid.segment_sources on all servers "
              "using the source, and set the source above it by setval(). Then use "
              "snowid_segment_attach() again on each of these servers."));
}

// Raises: 55000. next: where the source's next block begins.
[[noreturn]] void report_behind(const RemoteSource& source, int64 next, int64 least) {
  ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
          errmsg("sequence \"%s\" on server \"%s\" is behind sequence \"%s\"", source.remote,
                 source.server, get_rel_name(source.relid)),
          errdetail("Its next block begins at " INT64_FORMAT ", and numbers up to " INT64_FORMAT
                    " count as allocated to sequence \"%s\".",
                    next, least - 1, get_rel_name(source.relid)),
          errhint("On server \"%s\" use setval() to set the sequence to " INT64_FORMAT
                  ", or to the greatest \"last_allocated\" in snowid.segment_sources on all "
                  "servers using it, if greater.",
                  source.server, least - 1));
}

// Reads the answer. identity: of kLongestIdentity + 1 bytes. Raises: 42809, 55000, 08P01.
void read_answer(const RemoteSource& source, int64 least, uint64 blocks, char* identity,
                 core::GivenBlocks* allocated) {
  const RemoteAnswer answer{source.server};
  if (SPI_processed == 0)
    ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
            errmsg("\"%s\" is not a sequence on server \"%s\"", source.remote, source.server));
  const char* text = answer.text(kIdentity);
  if (*text == '\0' || strlen(text) > kLongestIdentity)
    report_invalid_answer(source.server, "The identity is too short or too long.");
  strcpy(identity, text);
  if (strcmp(answer.text(kCycles), "t") == 0 || answer.number(kIncrement) < 0)
    ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("sequence \"%s\" on server \"%s\" cycles or counts down", source.remote,
                   source.server));
  if (source.identity != nullptr && strcmp(identity, source.identity) != 0)
    report_other(source, identity);
  if (SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, kBehind) != nullptr)
    report_behind(source, answer.number(kBehind, PG_INT64_MIN, least - 1), least);
  if (source.identity == nullptr) return;
  *allocated = {answer.number(kFirst), answer.number(kBlocks, 1, static_cast<int64>(blocks)),
                answer.number(kIncrement, 1), answer.number(kMax)};
  if (!core::is_possible(*allocated))
    report_invalid_answer(source.server, "The blocks are above the maximum value of the sequence.");
  // setval was used meanwhile, or the next number could not be read.
  if (allocated->first < least) report_behind(source, allocated->first, least);
}

// Runs the statement. Returns nullptr, or the error. Raises: a cancel.
ErrorData* ask_source(const RemoteSource& source, int64 least, uint64 blocks, char* identity,
                      core::GivenBlocks* allocated) {
  const bool is_attached = source.identity != nullptr;
  // No source has an empty identity: nothing is allocated before it is attached.
  const char* text =
      psprintf(kAllocate, is_attached ? "false" : "true",
               quote_literal_cstr(psprintf(INT64_FORMAT, least)), quote_literal_cstr(source.remote),
               quote_literal_cstr(is_attached ? source.identity : ""), blocks);
  return remote_run(source.server_oid, source.owner, text, kColumns,
                    [&] { read_answer(source, least, blocks, identity, allocated); });
}

// Raises: 42501 if the owner has changed, who has not agreed to allocations with its rights; 55000
// if another server has the name; 42704 if none has.
[[noreturn]] void report_changed(const RemoteSource& source) {
  const char* sequence = get_rel_name(source.relid);
  constexpr char kHint[] = "The owner of the sequence can use snowid_segment_attach() again.";
  if (OidIsValid(source.server_oid))
    ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
            errmsg("sequence \"%s\" has another owner than when it was attached to server \"%s\"",
                   sequence, source.server),
            errdetail("Numbers are allocated with the rights of the owner who attached it."),
            errhint("%s", kHint));
  if (OidIsValid(get_foreign_server_oid(source.server, true)))
    ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("server \"%s\" is not the one to which sequence \"%s\" was attached",
                   source.server, sequence),
            errhint("%s", kHint));
  ereport(ERROR, errcode(ERRCODE_UNDEFINED_OBJECT),
          errmsg("server \"%s\" does not exist", source.server),
          errdetail("Sequence \"%s\" was attached to it.", sequence), errhint("%s", kHint));
}

}  // namespace

ErrorData* source_allocate(const RemoteSource& source, int64 least, uint64 blocks,
                           core::GivenBlocks* allocated) {
  if (!OidIsValid(source.server_oid) || relation_owner(source.relid) != source.owner)
    return try_in_subtransaction([&] { report_changed(source); });
  char identity[kLongestIdentity + 1];
  return ask_source(source, least, blocks, identity, allocated);
}

const char* source_identify(const RemoteSource& source, int64 least) {
  auto* identity = static_cast<char*>(palloc(kLongestIdentity + 1));
  ErrorData* error = ask_source(source, least, 0, identity, nullptr);
  if (error == nullptr) return identity;
  if (!is_unreachable(error)) ReThrowError(error);
  ereport(ERROR, errcode(ERRCODE_CONNECTION_FAILURE),
          errmsg("could not reach server \"%s\"", source.server), errdetail_of_remote(error),
          errhint("Try again when it can be reached."));
}

void source_report_down(const RemoteSource& source, const ErrorData* why) {
  ereport(ERROR, errcode(ERRCODE_CONNECTION_FAILURE),
          errmsg("could not allocate numbers from server \"%s\"", source.server),
          why != nullptr ? errdetail_of_remote(why)
                         : errdetail("It could not be reached a moment ago."),
          errhint("Numbers are issued again as soon as the server can be reached."));
}

}  // namespace snowid::pg
