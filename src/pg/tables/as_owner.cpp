// snowid.execute(): a statement on a table, as the table's owner. Nothing is shared.
//
// Planning a query, and DDL, evaluate functions of the owner's: what is constant in CHECK
// constraints, in expressions of indexes and statistics. With SET ROLE they could go back to the
// role of the session. So the statement runs as VACUUM runs such functions: with the owner's
// rights, in a security-restricted operation.
#include "pg/base/errors.hpp"
#include "pg/compat.hpp"
#include "pg/server/role.hpp"

namespace snowid::pg {

namespace {

// Raises 42501 unless the caller may SET ROLE to it.
void require_may_become(Oid role) {
  if (may_set_role(GetUserId(), role)) return;
  ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                  errmsg("permission denied to set role \"%s\"", GetUserNameFromId(role, false))));
}

// The flags of a statement that the present user runs as the role. The owner of a table with forced
// row-level security reads it as another caller who may.
int security_for(Oid role) {
  if (role == GetUserId()) return 0;
  return SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION | SECURITY_NOFORCE_RLS;
}

}  // namespace

}  // namespace snowid::pg

using namespace snowid;
using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(snowid_execute);

// snowid.execute(owner name, statement text, kind anyelement) → anyelement, or null
Datum snowid_execute(PG_FUNCTION_ARGS) {
  const Oid owner = get_role_oid(NameStr(*PG_GETARG_NAME(0)), false);
  const char* statement = text_to_cstring(PG_GETARG_TEXT_PP(1));
  const Oid kind = get_fn_expr_rettype(fcinfo->flinfo);
  int16 length;
  bool by_value;
  require_may_become(owner);
  const Caller caller = role_enter(owner, security_for(owner));
  SPI_connect();
  const int result = SPI_execute(statement, false, 0);
  if (result < 0)
    ereport(ERROR,
            (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
             errmsg("cannot run a statement of this kind: %s", SPI_result_code_string(result))));
  bool is_null = true;
  Datum selected = Datum{0};
  if (result == SPI_OK_SELECT && SPI_processed == 1 &&
      SPI_gettypeid(SPI_tuptable->tupdesc, 1) == kind)
    selected = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &is_null);
  if (!is_null) {
    get_typlenbyval(kind, &length, &by_value);
    selected = SPI_datumTransfer(selected, by_value, length);
  }
  SPI_finish();
  role_leave(caller);
  if (is_null) PG_RETURN_NULL();
  PG_RETURN_DATUM(selected);
}
}
