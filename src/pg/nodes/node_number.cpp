// The node number: the shard of snowid_next() and snowid_default_shard(), unless
// snowid.default_shard sets one. Citus or a registry assigns it; otherwise it is 0.
//
// In the order of use: for an ID without a shard, ids/issue.hpp calls shard_of_setting(); for the
// first ID of a database, database/database.hpp calls node_may_issue(). Each session caches the
// number (ids/issue.hpp) until a relcache invalidation of any relation, because Citus' tables may
// be created; sometimes only in a transaction. Nothing is shared.
#include "pg/nodes/nodes.hpp"

#include "core/layout.hpp"
#include "pg/compat.hpp"
#include "pg/database/database.hpp"
#include "pg/errors.hpp"
#include "pg/ids/issue.hpp"
#include "pg/nodes/citus.hpp"
#include "pg/nodes/membership.hpp"
#include "pg/values.hpp"
#include "pg/xact.hpp"

extern "C" {
#include "access/xlog.h"
}

namespace snowid::pg {

namespace {

struct NodeNumber {
  const char* source;  // of the node number, also if it could not be read
  int64 number;
  bool has_number;
  const char* node;      // the next two are nullptr if the source is not a registry
  const char* registry;  // the foreign server
  TimestampTz checked;   // 0 if never
  const char* problem;   // nullptr if the registry has confirmed the number
};

bool require_node_number = false;  // snowid.require_node_number

void forget_number(bool, void*) { default_shard_forget(); }

// Whether the cached number is valid only until the end of the transaction.
bool ends_with_transaction = false;

// Raises: 55000. Citus copies ALTER DATABASE and ALTER ROLE to all nodes, and propagates SET.
[[noreturn]] void report_shard_under_citus() {
  ereport(
      ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
      errmsg("parameter \"%s\" is set on a node of Citus", "snowid.default_shard"),
      errdetail("Citus copies settings to other nodes, which would then generate the same IDs."),
      errhint("Reset it: the node's number comes from Citus. To use another shard, name it in the "
              "call, as in snowid_next(7)."));
}

// Raises: 55000 if snowid.require_node_number is on.
void require_other_than_0() {
  if (!require_node_number) return;
  ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
          errmsg("this server has no node number"),
          errdetail("Parameter \"%s\" rejects number 0.", "snowid.require_node_number"),
          errhint("Use snowid.join(), or set \"snowid.default_shard\" to a number that no other "
                  "server has."));
}

// The next two fill the answer in as far as possible, and raise an error if there is no number.

// Raises: 55000 if Citus gives no number.
void resolve_by_citus(const CitusNode& citus, NodeNumber* result) {
  result->source = "citus";
  if (citus.state != CitusState::kNumbered) report_no_group(citus.state);
  result->number = citus.group;
  // Group 0 without nodes: possibly a worker Citus has yet to synchronize.
  if (require_node_number && citus.group == 0 && !citus.is_lasting)
    report_no_group(CitusState::kUnsynchronized);
  if (membership_read().is_group_replaced) report_replaced(citus.group);
}

// Raises: 55000 if the membership gives none or a relation is missing; 0A000 as membership_read().
void resolve_by_membership(NodeNumber* result, bool is_standby) {
  const uint64 changes = changes_of(number_word->load(std::memory_order_acquire));
  // Set first: the source is the membership even if it cannot be read.
  result->source = "joined";
  const Membership member = membership_read();
  const MemberState state = state_of(member);
  if (state == MemberState::kNone) {
    result->source = "none";
    result->number = 0;
    if (!is_standby) shared_number_store(changes, 0);
    return require_other_than_0();
  }
  if (state != MemberState::kRestored) {
    result->node = pstrdup(member.node);
    result->registry = pstrdup(member.server);
    result->number = member.number;
    result->checked = member.checked;
  }
  if (state != MemberState::kJoined) report_state(member);
  result->problem = kFindings[static_cast<int>(member.finding)];
  if (!is_standby) shared_number_store(changes, member.number);
}

// Finds the number from, in this order: the setting, Citus, the number shared by sessions, the
// membership. Fills the answer in as far as possible. wants_names: of the node and its registry.
// Raises: 55000 if there is none; 22023 if snowid.default_shard is invalid; 0A000 as
// membership_read().
void resolve_number(NodeNumber* result, bool wants_names) {
  result->source = "setting";
  result->number = shard_setting;
  if (shard_setting == kRefusedShard) report_refused_shard();
  const CitusNode citus = citus_read();
  ends_with_transaction = ends_with_transaction || !citus.is_lasting;
  if (shard_setting >= 0) {
    if (citus.state != CitusState::kNone) report_shard_under_citus();
    return;
  }
  // A standby gets no invalidation when the primary writes the durable state, and may be promoted.
  const bool is_standby = RecoveryInProgress();
  ends_with_transaction = ends_with_transaction || is_standby;
  if (citus.state != CitusState::kNone) return resolve_by_citus(citus, result);
  if (wants_names || !shared_number_recall(&result->number))
    return resolve_by_membership(result, is_standby);
  if (result->number == 0) require_other_than_0();
}

// Whether the error explains why there are no IDs, unlike a cancel.
bool says_why(const ErrorData* error) noexcept {
  return error->sqlerrcode == ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE ||
         error->sqlerrcode == ERRCODE_INVALID_PARAMETER_VALUE;
}

}  // namespace

int64 shard_of_setting() {
  NodeNumber result{};
  resolve_number(&result, false);
  return result.number;
}

// A replaced node must not issue IDs of named shards either, because its replacement does.
bool node_may_issue(bool fails) {
  const Membership member = membership_read();
  const CitusNode citus = member.is_group_replaced ? citus_read() : CitusNode{};
  const bool has_group = citus.state != CitusState::kNone;
  if (member.state != MemberState::kReplaced && !has_group) return true;
  if (!fails) return false;
  if (has_group) report_replaced(citus.group);
  report_state(member);
}

void at_eoxact_node_number() {
  if (!ends_with_transaction) return;
  ends_with_transaction = false;
  default_shard_forget();
}

void nodes_register() {
  DefineCustomBoolVariable(
      "snowid.require_node_number", "Requires a node number for snowid_next() without arguments.",
      "For clusters in which every server must have joined a registry or Citus.",
      &require_node_number, false, PGC_SUSET, 0, nullptr, forget_number, nullptr);
  DefineCustomStringVariable("snowid.instance_tag", "Distinguishes this server from its copies.",
                             "A node generates no IDs if the tag differs from the one with which "
                             "it joined. Set it where a copy does not inherit it: on the command "
                             "line, or in a file outside of the data directory.",
                             &instance_tag, "", PGC_SIGHUP, 0, nullptr, nullptr, nullptr);
}

// Returns the error of issuing an ID as a column.
SNOWID_FUNCTION(snowid_get_node_status) {
  // A function wrongly marked PARALLEL SAFE reads the view in a worker.
  PreventCommandIfParallelMode("snowid.get_node_status()");
  NodeNumber node{};
  ErrorData* error = try_in_subtransaction([&] {
    resolve_number(&node, true);
    node.has_number = true;
    require_shard(core::kInstagram, node.number);
    // Raises an error if another version of the library made shared memory.
    slots_attach();
  });
  if (error != nullptr && !says_why(error)) ReThrowError(error);
  const char* problem = error != nullptr ? error->message : node.problem;
  const auto text_or_null = [](const char* text) {
    return text == nullptr ? Datum{0} : CStringGetTextDatum(text);
  };
  Datum values[] = {Int64GetDatum(node.number),        CStringGetTextDatum(node.source),
                    text_or_null(node.node),           text_or_null(node.registry),
                    TimestampTzGetDatum(node.checked), text_or_null(problem)};
  bool nulls[] = {!node.has_number,     false,
                  node.node == nullptr, node.registry == nullptr,
                  node.checked == 0,    problem == nullptr};
  return row_datum(fcinfo, values, nulls);
}

}  // namespace snowid::pg
