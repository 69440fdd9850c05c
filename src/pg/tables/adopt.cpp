// snowid.execute(): a statement as the owner of a user table.
//
// Planning a query, and DDL, evaluate functions of the owner: constants in CHECK constraints and in
// expressions of indexes and statistics. After SET ROLE they could return to the session's role.
// Therefore the statement runs as VACUUM runs such functions: with the owner's rights, in a
// security-restricted operation.
#include "pg/postgres.hpp"

#include "pg/compat.hpp"
#include "pg/xact.hpp"

extern "C" {
#include "executor/spi.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
}

namespace snowid::pg {

SNOWID_FUNCTION(snowid_execute) {
  const Oid owner = get_role_oid(NameStr(*PG_GETARG_NAME(0)), false);
  const char* statement = text_to_cstring(PG_GETARG_TEXT_PP(1));
  const Oid kind = get_fn_expr_rettype(fcinfo->flinfo);
  if (!may_set_role(GetUserId(), owner))
    ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
            errmsg("permission denied to set role \"%s\"", GetUserNameFromId(owner, false)));
  // The owner of a table with forced row-level security reads it as another caller with rights.
  constexpr int kRestricted =
      SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION | SECURITY_NOFORCE_RLS;
  const Caller caller = role_enter(owner, owner == GetUserId() ? 0 : kRestricted);
  SPI_connect();
  const int result = SPI_execute(statement, false, 0);
  if (result < 0)
    ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
            errmsg("cannot run a statement of this kind: %s", SPI_result_code_string(result)));
  bool is_null = true;
  Datum selected = Datum{0};
  if (result == SPI_OK_SELECT && SPI_processed == 1 &&
      SPI_gettypeid(SPI_tuptable->tupdesc, 1) == kind)
    selected = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &is_null);
  if (!is_null) selected = SPI_datumTransfer(selected, get_typbyval(kind), get_typlen(kind));
  SPI_finish();
  role_leave(caller);
  if (is_null) PG_RETURN_NULL();
  PG_RETURN_DATUM(selected);
}

}  // namespace snowid::pg
