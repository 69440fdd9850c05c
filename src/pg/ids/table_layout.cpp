// Reads a table's defaults as expression trees, and caches the result until the relation changes.
// Also the SQL function that returns the shard and layout of an expression stored in a catalog, an
// argument of type pg_node_tree, whose values only PostgreSQL makes. Nothing is evaluated.
#include "pg/ids/table_layout.hpp"

#include "pg/catalog_table.hpp"
#include "pg/values.hpp"

extern "C" {
#include "access/tupdesc.h"
#include "catalog/pg_type.h"
#include "parser/parse_coerce.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
}

namespace snowid::pg {

namespace {

struct Remembered {
  Oid relid;     // the key
  bool is_read;  // false while its defaults are read
  DefaultLayout layout;
};

HTAB* remembered = nullptr;

bool calls(Node* node, const char* function) {
  return node != nullptr && IsA(node, FuncExpr) &&
         is_own_function(castNode(FuncExpr, node)->funcid, function);
}

// The arguments of a call of snowid_next() or snowid_reserve(), by their types, because named ones
// may be in any order.
struct Arguments {
  Node* shard;      // nullptr if omitted
  bool has_layout;  // false if the layout is not a constant
  core::LayoutSpec layout;
};

Arguments arguments_of(const FuncExpr* call) {
  Arguments of{nullptr, true, core::kInstagram.spec};
  ListCell* cell;
  foreach (cell, call->args) {
    auto* argument = static_cast<Node*>(lfirst(cell));
    if (IsA(argument, NamedArgExpr))
      argument = reinterpret_cast<Node*>(castNode(NamedArgExpr, argument)->arg);
    const Oid type = exprType(argument);
    if (type == INT8OID) of.shard = argument;
    if (type == INT8OID || type == INT4OID) continue;
    const auto* layout = reinterpret_cast<const Const*>(argument);
    of.has_layout = IsA(argument, Const) && !layout->constisnull;
    if (of.has_layout)
      of.layout = *reinterpret_cast<const core::LayoutSpec*>(DatumGetPointer(layout->constvalue));
  }
  return of;
}

// Returns false if the shard is not a constant, or not a shard.
bool read_constant_shard(Node* argument, int64* shard) {
  if (IsA(argument, FuncExpr) && castNode(FuncExpr, argument)->funcid == F_INT8_INT4)
    argument = static_cast<Node*>(linitial(castNode(FuncExpr, argument)->args));
  const auto* value = reinterpret_cast<const Const*>(argument);
  if (!IsA(argument, Const) || value->constisnull) return false;
  *shard = value->consttype == INT4OID ? DatumGetInt32(value->constvalue)
                                       : DatumGetInt64(value->constvalue);
  return *shard >= 0;
}

void add(const DefaultLayout& other, DefaultLayout* layout) noexcept {
  const bool differs = layout->has_layout && other.has_layout && !(layout->layout == other.layout);
  layout->is_mixed = layout->is_mixed || other.is_mixed || differs;
  layout->is_other = layout->is_other || other.is_other;
  layout->has_layout = layout->has_layout || other.has_layout;
  if (other.has_layout) layout->layout = other.layout;
}

// A walker for expression_tree_walker(). found: a DefaultLayout.
bool find_makers(Node* node, void* found) {
  if (node == nullptr) return false;
  auto* layout = static_cast<DefaultLayout*>(found);
  const auto* call = reinterpret_cast<FuncExpr*>(node);
  if (calls(node, "snowid_next") || calls(node, "snowid_reserve")) {
    const Arguments of = arguments_of(call);
    add({true, !of.has_layout, false, of.layout}, layout);
    return false;
  }
  if (IsA(node, NextValueExpr) || (IsA(node, FuncExpr) && func_volatile(call->funcid) != 'i'))
    layout->is_other = true;
  return walk_expression(node, find_makers, found);
}

Node* own_default(TupleDesc columns, AttrNumber number) {
  const TupleConstr* constraints = columns->constr;
  for (int i = 0; constraints != nullptr && i < constraints->num_defval; i++)
    if (constraints->defval[i].adnum == number)
      return static_cast<Node*>(stringToNode(constraints->defval[i].adbin));
  return nullptr;
}

// Returns false if the result must not be cached: the relation is gone, or has a domain, because
// ALTER DOMAIN does not invalidate the relation.
bool read_defaults(Oid relid, DefaultLayout* layout) {
  bool is_lasting = true;
  Relation relation = RelationIdGetRelation(relid);
  if (relation == nullptr) return false;
  // A copy, because nothing is locked: each catalog access may process invalidations.
  TupleDesc columns = CreateTupleDescCopyConstr(RelationGetDescr(relation));
  RelationClose(relation);
  for (AttrNumber number = 1; number <= columns->natts; number++) {
    const FormData_pg_attribute& column = *TupleDescAttr(columns, number - 1);
    if (column.attisdropped || column.attgenerated != '\0') continue;
    // bigint, snowid, and domains over them.
    if (!IsBinaryCoercible(column.atttypid, INT8OID)) continue;
    const bool is_domain = getBaseType(column.atttypid) != column.atttypid;
    is_lasting = is_lasting && !is_domain;
    if (column.attidentity != '\0') layout->is_other = true;
    Node* expression = column.atthasdef ? own_default(columns, number)
                       : is_domain      ? get_typdefault(column.atttypid)
                                        : nullptr;
    find_makers(expression, layout);
  }
  FreeTupleDesc(columns);
  return is_lasting;
}

}  // namespace

void default_layout_add(Oid relid, DefaultLayout* layout) {
  if (remembered == nullptr)
    remembered = make_hash<Oid, Remembered>("snowid layouts of tables", CacheMemoryContext);
  bool is_known;
  auto* entry = static_cast<Remembered*>(hash_search(remembered, &relid, HASH_ENTER, &is_known));
  if (is_known && entry->is_read) return add(entry->layout, layout);
  entry->is_read = false;
  DefaultLayout found{};
  const bool is_lasting = read_defaults(relid, &found);
  // The entry is gone if the relation was changed meanwhile.
  entry = static_cast<Remembered*>(hash_search(remembered, &relid, HASH_FIND, nullptr));
  if (entry != nullptr && is_lasting) {
    entry->layout = found;
    entry->is_read = true;
  }
  add(found, layout);
}

void on_relcache_table_layout(Oid relid) {
  if (remembered == nullptr) return;
  if (OidIsValid(relid)) {
    hash_search(remembered, &relid, HASH_REMOVE, nullptr);
    return;
  }
  HASH_SEQ_STATUS scan;
  hash_seq_init(&scan, remembered);
  while (auto* entry = static_cast<Remembered*>(hash_seq_search(&scan)))
    hash_search(remembered, &entry->relid, HASH_REMOVE, nullptr);
}

SNOWID_FUNCTION(snowid_source_of_expression) {
  auto* tree = static_cast<Node*>(stringToNode(TextDatumGetCString(PG_GETARG_DATUM(0))));
  tree = strip_implicit_coercions(tree);
  Arguments of{};
  if (calls(tree, "snowid_next")) of = arguments_of(castNode(FuncExpr, tree));
  int64 shard = 0;
  const bool is_default = of.shard == nullptr || calls(of.shard, "snowid_default_shard");
  const bool is_known = of.has_layout && (is_default || read_constant_shard(of.shard, &shard));
  Datum values[] = {Int64GetDatum(shard), PointerGetDatum(&of.layout)};
  bool nulls[] = {!is_known || is_default, !is_known};
  return row_datum(fcinfo, values, nulls);
}

}  // namespace snowid::pg
