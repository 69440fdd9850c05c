// Allocating blocks on other servers. See allocate.hpp. Nothing is shared here: the caller has the
// right to refill, so only one session of a server allocates for a sequence at a time.
#include "pg/central/allocate.hpp"

#include "pg/server/extension.hpp"
#include "pg/server/remote.hpp"

namespace snowid::pg {

namespace {

// The statement for the other server. Its arguments are the sequence's name as a literal, and the
// most blocks to allocate. It calls nextval that often, but for at most a sixteenth of the blocks
// that are left (core::kPart), and answers with one row: the longest series of blocks without a
// gap. There are gaps where somebody else calls nextval meanwhile.
//
// - An advisory lock keeps away other servers that run the same statement. The statement tries to
//   get it for 0.2 seconds and then goes on without, since anybody may hold it.
// - It writes a WAL record of its own and commits synchronously, so the answer is durable there,
//   whatever the other server's settings are.
// - The sequence's options are read after the first nextval, which keeps them from changing.
// - Operators are named in full, and take operands of exactly their types: anybody may have made
//   others there.
constexpr char kAllocate[] = R"(
SELECT pg_catalog.min(b.n), pg_catalog.count(*), b.increment, b.max, b.cycles
FROM (
  -- Numbers of one row have the same island.
  SELECT a.n, (a.p).increment AS increment, (a.p).maximum_value AS max,
    (a.p).cycle_option AS cycles,
    a.n::numeric OPERATOR(pg_catalog.-) ((a.p).increment::numeric OPERATOR(pg_catalog.*)
      (pg_catalog.row_number() OVER (ORDER BY a.n))::numeric) AS island
  FROM (
    SELECT pg_catalog.nextval(s.seqrelid::pg_catalog.regclass) AS n,
      pg_catalog.pg_sequence_parameters(s.seqrelid) AS p
    FROM (
      -- Evaluated before the first nextval, since OFFSET keeps this from being flattened.
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
          pg_catalog.txid_current()::pg_catalog.text)
      FROM pg_catalog.pg_sequence AS q
      WHERE q.seqrelid OPERATOR(pg_catalog.=) %s::pg_catalog.regclass::pg_catalog.oid
      OFFSET 0
    ) AS s,
    LATERAL pg_catalog.generate_series(1::bigint, GREATEST(1, LEAST()" UINT64_FORMAT R"(,
      pg_catalog.div(s.seqmax::numeric OPERATOR(pg_catalog.-)
        COALESCE(pg_catalog.pg_sequence_last_value(s.seqrelid), s.seqstart)::numeric,
        s.seqincrement::numeric OPERATOR(pg_catalog.*) 16::numeric)))::bigint)
  ) AS a
) AS b
GROUP BY b.island, b.increment, b.max, b.cycles
ORDER BY 2 DESC
LIMIT 1)";

// The columns of the answer.
enum Column : int { kFirst = 1, kBlocks, kIncrement, kMax, kCycles, kColumns = kCycles };

// A request, and where to store the answer.
struct Request {
  const CentralSource& source;
  uint64 blocks;
  core::GivenBlocks* allocated;
};

// 08P01: the other server's answer is not one that the statement can give.
[[noreturn]] void report_nonsense(const CentralSource& source) {
  ereport(ERROR, (errcode(ERRCODE_PROTOCOL_VIOLATION),
                  errmsg("server \"%s\" has not answered as a server with sequence \"%s\" does",
                         source.server, source.remote),
                  errdetail("It should allocate at least one block, and no more than were asked "
                            "for, none of it above the sequence's maximum value.")));
  pg_unreachable();
}

// A column of the answer, which comes as text, as the number that it should be. Fails with 08P01.
int64 number_column(const CentralSource& source, Column column) {
  const char* text = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, column);
  if (text == nullptr) report_nonsense(source);
  int64_t number;
  const char* end = text + strlen(text);
  const std::from_chars_result result = std::from_chars(text, end, number);
  if (result.ec != std::errc{} || result.ptr != end) report_nonsense(source);
  return number;
}

// Whether a sequence can have given these blocks. most: how many were asked for.
bool IsPossible(const core::GivenBlocks& allocated, uint64 most) {
  if (allocated.increment < 1 || allocated.blocks < 1 || allocated.first > allocated.max)
    return false;
  const uint64 blocks = static_cast<uint64>(allocated.blocks);
  const uint64 room = static_cast<uint64>(allocated.max) - static_cast<uint64>(allocated.first);
  return blocks <= most && blocks - 1 <= room / static_cast<uint64>(allocated.increment);
}

// Reads the answer to the statement. argument: a Request.
void read_answer(void* argument) {
  const Request& request = *static_cast<const Request*>(argument);
  const CentralSource& source = request.source;
  if (SPI_processed == 0)
    ereport(ERROR,
            (errcode(ERRCODE_WRONG_OBJECT_TYPE),
             errmsg("\"%s\" is not a sequence on server \"%s\"", source.remote, source.server)));
  if (SPI_processed > 1) report_nonsense(source);
  const core::GivenBlocks allocated{number_column(source, kFirst), number_column(source, kBlocks),
                                    number_column(source, kIncrement), number_column(source, kMax)};
  const char* cycles = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, kCycles);
  if (cycles == nullptr) report_nonsense(source);
  if (strcmp(cycles, "t") == 0 || allocated.increment < 0)
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("sequence \"%s\" on server \"%s\" cycles or counts down", source.remote,
                           source.server)));
  if (!IsPossible(allocated, request.blocks)) report_nonsense(source);
  *request.allocated = allocated;
}

}  // namespace

bool central_is_as_attached(const CentralSource& source) {
  return OidIsValid(source.server_oid) && relation_owner(source.relid) == source.owner;
}

int central_changed_sqlstate(const CentralSource& source) {
  if (OidIsValid(source.server_oid)) return ERRCODE_INSUFFICIENT_PRIVILEGE;
  return OidIsValid(get_foreign_server_oid(source.server, true))
             ? ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE
             : ERRCODE_UNDEFINED_OBJECT;
}

void central_report_changed(const CentralSource& source) {
  const char* sequence = get_rel_name(source.relid);
  const int sqlstate = central_changed_sqlstate(source);
  const char* hint = "The owner of the sequence can use snowid_segment_attach() again.";
  if (sqlstate == ERRCODE_INSUFFICIENT_PRIVILEGE)
    ereport(ERROR,
            (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
             errmsg("sequence \"%s\" has another owner than when it was attached to server \"%s\"",
                    sequence, source.server),
             errdetail("Numbers are allocated with the rights of the owner who has attached it."),
             errhint("%s", hint)));
  if (sqlstate == ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE)
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("server \"%s\" is not the one that sequence \"%s\" was attached to",
                           source.server, sequence),
                    errhint("%s", hint)));
  ereport(ERROR,
          (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("server \"%s\" does not exist", source.server),
           errdetail("Sequence \"%s\" was attached to it.", sequence), errhint("%s", hint)));
  pg_unreachable();
}

ErrorData* central_allocate(const CentralSource& source, uint64 blocks,
                            core::GivenBlocks* allocated) {
  Request request{source, blocks, allocated};
  const char* text = psprintf(kAllocate, quote_literal_cstr(source.remote), blocks);
  ErrorData* error =
      remote_run({source.server_oid, source.owner, text, kColumns, read_answer, &request});
  if (error != nullptr) remote_explain(source.server, error);
  return error;
}

void central_report_down(const CentralSource& source, const ErrorData* why) {
  // A role that may draw numbers must not learn where the server is; the log has it.
  ereport(ERROR, (errcode(ERRCODE_CONNECTION_FAILURE),
                  errmsg("could not allocate numbers from server \"%s\"", source.server),
                  why != nullptr ? errdetail_internal("%s", why->message)
                                 : errdetail("It could not be reached a moment ago."),
                  why != nullptr && why->detail != nullptr ? errdetail_log("%s", why->detail) : 0,
                  errhint("Numbers go on as soon as the server can be reached.")));
  pg_unreachable();
}

}  // namespace snowid::pg
