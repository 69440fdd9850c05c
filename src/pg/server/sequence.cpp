// What the catalogs say of sequences. See sequence.hpp.
#include "pg/server/sequence.hpp"

#include "pg/base/errors.hpp"
#include "pg/compat.hpp"
#include "pg/server/extension.hpp"

namespace snowid::pg {

void require_sequence(Oid relid) {
  const char* name = get_rel_name(relid);
  if (name == nullptr) report_no_relation(relid);
  if (get_rel_relkind(relid) != RELKIND_SEQUENCE)
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("\"%s\" is not a sequence", name)));
  if (is_own_relation(relid))
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
                    errmsg("cannot draw numbers from sequence \"%s\"", name),
                    errdetail("Extension \"%s\" keeps its own state in it.", kExtensionName),
                    errhint("Use CREATE SEQUENCE to make one to draw from.")));
}

void require_own_sequence(Oid relid) {
  require_sequence(relid);
  if (!owns_relation(relid))
    aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_SEQUENCE, get_rel_name(relid));
}

SequenceOptions sequence_options(Oid relid) {
  HeapTuple tuple = SearchSysCache1(SEQRELID, ObjectIdGetDatum(relid));
  if (!HeapTupleIsValid(tuple)) elog(ERROR, "cache lookup failed for sequence %u", relid);
  const auto* form = reinterpret_cast<Form_pg_sequence>(GETSTRUCT(tuple));
  const SequenceOptions options{form->seqincrement, form->seqmax};
  const bool cycles = form->seqcycle;
  ReleaseSysCache(tuple);
  if (cycles)
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("sequence \"%s\" cycles", get_rel_name(relid)),
             errdetail("Its numbers would repeat."), errhint("Use ALTER SEQUENCE ... NO CYCLE.")));
  if (options.increment < 1)
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("sequence \"%s\" counts down", get_rel_name(relid)),
                    errdetail("Its increment is " INT64_FORMAT ".", options.increment),
                    errhint("Use ALTER SEQUENCE ... INCREMENT with a number above 0.")));
  return options;
}

}  // namespace snowid::pg
