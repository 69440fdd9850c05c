// Changing slots with the transaction. See pending.hpp.
#include "pg/moves/pending.hpp"

#include "pg/base/clock.hpp"
#include "pg/compat.hpp"
#include "pg/server/durable_commit.hpp"

namespace snowid::pg {

namespace {

struct Move {
  Move* older;
  Slot* slot;
  core::Tick last;  // what a release that is rolled back, or an accept that commits, opens it above
  SubTransactionId part;
  bool is_release;
};

// Newest first, those of a subtransaction before those of its parents. In the memory of the
// transaction.
Move* moves = nullptr;

void end_newest(bool is_commit) {
  Move* move = moves;
  moves = move->older;
  if (move->is_release != is_commit)
    open_slot(move->slot, core::make_layout(move->slot->key.layout), move->last);
  let_go(move->slot);
}

// Makes a move that push() adds, after which nothing can fail. The commit has to be durable:
// another server may use the shard as soon as the client has the answer.
Move* make_move(Slot* slot, bool is_release) {
  for (const Move* move = moves; move != nullptr; move = move->older)
    if (move->slot == slot)
      ereport(ERROR,
              (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
               errmsg("shard " UINT64_FORMAT " was moved in this transaction", slot->key.shard),
               errhint("Commit it, and move the shard in another one.")));
  require_durable_commit();
  auto* move = static_cast<Move*>(MemoryContextAlloc(TopTransactionContext, sizeof(Move)));
  *move = {moves, slot, {0}, GetCurrentSubTransactionId(), is_release};
  return move;
}

// Counts this session in as a user of the slot, since at its exit places are let go of first.
void push(Move* move, core::Tick last) noexcept {
  move->last = last;
  hold(move->slot);
  moves = move;
}

}  // namespace

void at_eoxact_moves(XactEvent event) {
  if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT) return;
  while (moves != nullptr) end_newest(event == XACT_EVENT_COMMIT);
}

void at_eosubxact_moves(SubXactEvent event, SubTransactionId part, SubTransactionId parent) {
  if (event == SUBXACT_EVENT_ABORT_SUB)
    while (moves != nullptr && moves->part == part) end_newest(false);
  if (event == SUBXACT_EVENT_COMMIT_SUB)
    for (Move* move = moves; move != nullptr && move->part == part; move = move->older)
      move->part = parent;
}

core::Tick pending_close(Slot* slot, const core::Layout& layout) {
  Move* move = make_move(slot, true);
  const core::UnixMicros now = unix_now();
  core::Tick last = close_tick(slot->last_tick, layout);
  if (last == end_of(layout))
    return is_used_up(layout) ? last : core::Tick{last_tick_by_ceiling(layout).value + 1};
  last = std::max(last, std::min(last_tick_before(layout, now), {end_of(layout).value - 1}));
  push(move, {last.value + 1});
  return {last.value + 1};
}

void pending_open(Slot* slot, core::Tick last) { push(make_move(slot, false), last); }

}  // namespace snowid::pg
