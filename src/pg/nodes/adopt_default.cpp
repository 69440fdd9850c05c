// Writing the call, and knowing it again. See adopt_default.hpp.
#include "pg/nodes/adopt_default.hpp"

#include "pg/base/layouts.hpp"
#include "pg/server/extension.hpp"

namespace snowid::pg {

namespace {

// The call of a function of the extension's own, by its name, in a tree; nullptr where the tree is
// something else, such as the call of a function of that name that somebody else has made.
FuncExpr* own_call(Node* tree, const char* name) {
  Node* node = strip_implicit_coercions(tree);
  if (node == nullptr || !IsA(node, FuncExpr)) return nullptr;
  auto* call = reinterpret_cast<FuncExpr*>(node);
  const Oid extension = get_extension_oid(kExtensionName, true);
  const char* called = get_func_name(call->funcid);
  const bool is_own = OidIsValid(extension) && called != nullptr && strcmp(called, name) == 0 &&
                      getExtensionOfObject(ProcedureRelationId, call->funcid) == extension;
  return is_own ? call : nullptr;
}

// A constant in a tree, of whatever type; nullptr where the tree is something else, or null.
// Nothing is computed: the default may call anybody's functions.
Const* constant(Node* tree) {
  Node* node = strip_implicit_coercions(tree);
  if (node == nullptr || !IsA(node, Const)) return nullptr;
  auto* value = reinterpret_cast<Const*>(node);
  return value->constisnull ? nullptr : value;
}

bool is_shard(Node* tree, const NextCall& call) {
  if (!call.has_shard) return own_call(tree, "snowid_default_shard") != nullptr;
  // An integer that a cast, written or not, makes a bigint of.
  if (IsA(tree, FuncExpr) && reinterpret_cast<FuncExpr*>(tree)->funcid == F_INT8_INT4)
    tree = static_cast<Node*>(linitial(reinterpret_cast<FuncExpr*>(tree)->args));
  const Const* value = constant(tree);
  if (value == nullptr) return false;
  if (value->consttype == INT8OID) return DatumGetInt64(value->constvalue) == call.shard;
  return value->consttype == INT4OID && DatumGetInt32(value->constvalue) == call.shard;
}

bool is_layout(Node* tree, const NextCall& call) {
  const Const* value = constant(tree);
  // An argument that a cast has made a snowid_layout of is none.
  if (value == nullptr || value->consttype != exprType(tree)) return false;
  const void* spec = DatumGetPointer(value->constvalue);
  return *static_cast<const core::LayoutSpec*>(spec) == call.layout;
}

bool is_call(Node* tree, const NextCall& call) {
  const FuncExpr* next = own_call(tree, "snowid_next");
  if (next == nullptr) return false;
  const bool is_instagram = call.layout == core::kInstagram.spec;
  switch (list_length(next->args)) {
    case 0:
      return is_instagram && !call.has_shard;
    case 1:
      return is_instagram && is_shard(static_cast<Node*>(linitial(next->args)), call);
    default:
      return is_shard(static_cast<Node*>(linitial(next->args)), call) &&
             is_layout(static_cast<Node*>(lsecond(next->args)), call);
  }
}

}  // namespace

const char* sql_of(const NextCall& call) {
  const Oid extension = get_extension_oid(kExtensionName, false);
  const char* schema = quote_identifier(get_namespace_name(extension_schema(extension)));
  const bool is_instagram = call.layout == core::kInstagram.spec;
  if (is_instagram && !call.has_shard) return psprintf("%s.snowid_next()", schema);
  const char* shard;
  if (!call.has_shard)
    shard = psprintf("%s.snowid_default_shard()", schema);
  else if (call.shard <= PG_INT32_MAX)
    shard = psprintf("(" INT64_FORMAT ")::bigint", call.shard);
  else
    shard = psprintf("'" INT64_FORMAT "'::bigint", call.shard);
  if (is_instagram) return psprintf("%s.snowid_next(%s)", schema, shard);
  return psprintf("%s.snowid_next(%s, %s::%s.snowid_layout)", schema, shard,
                  quote_literal_cstr(layout_text(call.layout)), schema);
}

bool column_draws(Oid relid, const char* column, const NextCall& call) {
  Relation table = table_open(relid, NoLock);
  TupleDesc columns = RelationGetDescr(table);
  const AttrNumber number = get_attnum(relid, column);
  bool draws = false;
  if (number > 0 && TupleDescAttr(columns, number - 1)->attidentity == '\0' &&
      columns->constr != nullptr) {
    for (int i = 0; i < columns->constr->num_defval; i++) {
      const AttrDefault& value = columns->constr->defval[i];
      if (value.adnum == number && value.adbin != nullptr)
        draws = is_call(static_cast<Node*>(stringToNode(value.adbin)), call);
    }
  }
  table_close(table, NoLock);
  return draws;
}

}  // namespace snowid::pg
