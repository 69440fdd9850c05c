// Changing slots with the transaction. See pending.hpp.
//
// The moves of a transaction are a stack, newest first: those of a subtransaction that is rolled
// back lie on top.
#include "pg/moves/pending.hpp"

#include "pg/compat.hpp"
#include "pg/server/at_end.hpp"
#include "pg/server/durable_commit.hpp"

namespace snowid::pg {

namespace {

enum class Kind : uint8_t {
  kClosed,       // the slot was open; opened again on rollback
  kToOpen,       // opened on commit
  kClosedAgain,  // a kToOpen counts for nothing, unless this is rolled back
};

struct Move {
  Move* older;
  Slot* slot;
  core::Tick last;
  SubTransactionId part;
  Kind kind;
  Move* undone;    // what a kClosedAgain has undone
  bool is_undone;  // whether a kToOpen was
  // Whether it is the oldest of its slot. Then this session is counted in once more as a user of
  // the slot, since at its exit places are let go of first. Once for all moves of a slot, since the
  // count is bounded.
  bool is_holding;
};

// In the memory of the transaction.
Move* moves = nullptr;

core::Layout LayoutOf(const Slot* slot) { return core::MakeLayout(slot->key.layout); }

Move* FindOpening(const Slot* slot) {
  Move* move = moves;
  while (move != nullptr && (move->slot != slot || move->kind != Kind::kToOpen || move->is_undone))
    move = move->older;
  return move;
}

bool IsMoved(const Slot* slot) {
  const Move* move = moves;
  while (move != nullptr && move->slot != slot) move = move->older;
  return move != nullptr;
}

void LetGoOf(Move* move) {
  if (move->is_holding) LetGo(move->slot);
}

// Opens what was to be opened. released_lock() of the shards is held until after this.
void open_accepted() {
  for (; moves != nullptr; moves = moves->older) {
    if (moves->kind == Kind::kToOpen && !moves->is_undone)
      open_slot(moves->slot, LayoutOf(moves->slot), moves->last);
    LetGoOf(moves);
  }
}

void undo_newest() {
  Move* move = moves;
  moves = move->older;
  // The ID that snowid.release_shard() has returned is never issued here, also after a rollback.
  if (move->kind == Kind::kClosed)
    open_slot(move->slot, LayoutOf(move->slot), {move->last.value + 1});
  if (move->undone != nullptr) {
    move->undone->is_undone = false;
    move->undone->last = std::max(move->undone->last, {move->last.value + 1});
  }
  LetGoOf(move);
}

void follow_transaction(XactEvent event) {
  if (moves == nullptr) return;
  switch (event) {
    case XACT_EVENT_COMMIT:
      open_accepted();
      break;
    case XACT_EVENT_ABORT:
      while (moves != nullptr) undo_newest();
      break;
    default:
      break;
  }
}

void follow_part(SubXactEvent event, SubTransactionId part, SubTransactionId parent) {
  if (event == SUBXACT_EVENT_ABORT_SUB)
    while (moves != nullptr && moves->part == part) undo_newest();
  if (event == SUBXACT_EVENT_COMMIT_SUB)
    for (Move* move = moves; move != nullptr && move->part == part; move = move->older)
      move->part = parent;
}

// Makes a move that is not yet on the stack, so that nothing can fail once it is. The commit has to
// be durable also where there is nothing left to close: another server may use the shard as soon as
// the client has the answer.
Move* make_move(Slot* slot, Kind kind) {
  at_end_subscribe(AtEndOrder::kMoves, {follow_transaction, follow_part, nullptr});
  require_durable_commit();
  auto* move = static_cast<Move*>(MemoryContextAlloc(TopTransactionContext, sizeof(Move)));
  *move = {moves, slot, {0}, GetCurrentSubTransactionId(), kind, nullptr, false, false};
  return move;
}

void Push(Move* move, core::Tick last) {
  move->last = last;
  move->is_holding = !IsMoved(move->slot);
  if (move->is_holding) Hold(move->slot);
  moves = move;
}

}  // namespace

core::Tick pending_close(Slot* slot, const core::Layout& layout) {
  Move* opening = FindOpening(slot);
  if (opening != nullptr) {
    Move* move = make_move(slot, Kind::kClosedAgain);
    move->undone = opening;
    opening->is_undone = true;
    Push(move, opening->last);
    return opening->last;
  }
  Move* move = make_move(slot, Kind::kClosed);
  const core::Tick last = Close(slot->last_tick, layout);
  if (last == EndOf(layout)) return IsUsedUp(layout) ? last : LastTickByCeiling(layout);
  Push(move, last);
  return last;
}

void pending_open(Slot* slot, core::Tick last) { Push(make_move(slot, Kind::kToOpen), last); }

core::Tick* pending_opening_of(const Slot* slot) {
  Move* opening = FindOpening(slot);
  return opening == nullptr ? nullptr : &opening->last;
}

}  // namespace snowid::pg
