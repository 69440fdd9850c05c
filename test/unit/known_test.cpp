// Tests of core/known.hpp: whether numbers in memory count, at each moment of a change of the
// sequence, by who refills and by others.
#include "core/known.hpp"

#include <gtest/gtest.h>

namespace snowid::core {
namespace {

constexpr uint32_t kFile = 16384;
constexpr int64_t kMark = -1;
constexpr SequenceValue kOld{1000, true, 70, kMark};
constexpr SequenceValue kNew{2000, true, 90, kMark};

bool Counts(const Known& known, uint32_t file, const SequenceValue& page) {
  return is_as_known(known, file, page) || is_as_before(known, file, page);
}

void Change(Known& known, const SequenceValue& from, const SequenceValue& to) {
  announce(known, kFile, from, to.last, to.is_called);
  note_own_change(known, to);
}

// One that has been refilled to kOld.
void Refill(Known& known) {
  Change(known, {1, false, 50, 0}, kOld);
  settle(known, kFile);
}

TEST(KnownTest, TheNextNumberIsThatOfNextval) {
  int64_t next = 0;
  EXPECT_TRUE(next_number(kOld, 10, &next));
  EXPECT_EQ(next, 1010);
  EXPECT_TRUE(next_number({1000, false, 70, kMark}, 10, &next));
  EXPECT_EQ(next, 1000);
  EXPECT_FALSE(next_number({INT64_MAX - 9, true, 70, kMark}, 10, &next));
}

TEST(KnownTest, NothingCountsBeforeTheFirstRefillIsDone) {
  Known known{};
  const SequenceValue fresh{1, false, 50, 0};
  EXPECT_FALSE(Counts(known, kFile, fresh));
  Change(known, fresh, kOld);
  EXPECT_FALSE(Counts(known, kFile, kOld));
  settle(known, kFile);
  EXPECT_TRUE(Counts(known, kFile, kOld));
}

TEST(KnownTest, NumbersCountThroughoutAChangeByWhoRefills) {
  Known known{};
  Refill(known);
  announce(known, kFile, kOld, kNew.last, kNew.is_called);
  EXPECT_TRUE(Counts(known, kFile, kOld));
  EXPECT_TRUE(Counts(known, kFile, kNew));
  note_own_change(known, kNew);
  EXPECT_TRUE(Counts(known, kFile, kNew));
  settle(known, kFile);
  EXPECT_TRUE(Counts(known, kFile, kNew));
  EXPECT_FALSE(Counts(known, kFile, kOld));
}

TEST(KnownTest, WhatOthersHaveChangedDoesNotCount) {
  Known known{};
  Refill(known);
  for (const SequenceValue& page :
       {SequenceValue{1001, true, 70, kMark}, SequenceValue{1000, false, 70, kMark},
        SequenceValue{1000, true, 71, kMark}, SequenceValue{1000, true, 70, 0}})
    EXPECT_FALSE(is_as_known(known, kFile, page));
  EXPECT_FALSE(Counts(known, kFile + 1, kOld));
}

TEST(KnownTest, NorDoesItUntilARefillAfterThatIsDone) {
  Known known{};
  Refill(known);
  const SequenceValue set{5000, true, 80, 0};
  announce(known, kFile, set, kNew.last, kNew.is_called);
  EXPECT_FALSE(Counts(known, kFile, set));
  EXPECT_FALSE(Counts(known, kFile, kNew));
  note_own_change(known, kNew);
  EXPECT_FALSE(Counts(known, kFile, kNew));
  settle(known, kFile);
  EXPECT_TRUE(Counts(known, kFile, kNew));
}

TEST(KnownTest, WhereNothingIsLoggedTheMarkTells) {
  Known known{};
  Change(known, {1, false, 0, 0}, {1000, true, 0, kMark});
  settle(known, kFile);
  EXPECT_TRUE(is_as_known(known, kFile, {1000, true, 0, kMark}));
  EXPECT_FALSE(Counts(known, kFile, {1000, true, 0, 0}));
}

}  // namespace
}  // namespace snowid::core
