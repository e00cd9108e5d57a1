#include "fleet/server/held_leases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "fleet/wire/checked_messages.h"
#include "measure/codec.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Property;
using ::testing::SizeIs;

constexpr LeaseToken kToken = {.epoch = 1, .number = 2}, kOther = {.epoch = 1, .number = 3};

fleet_proto::Items ItemsAt(const std::vector<int>& indices,
                           MeasureItem::Kind kind = MeasureItem::Kind::kMeasurePeaks) {
  fleet_proto::Items items;
  for (const int index : indices) {
    fleet_proto::Item* item = items.add_items();
    item->set_index(index);
    item->set_item(EncodeWorkerRequest(MeasureItem{.kind = kind}));
  }
  return items;
}

TEST(HeldLeasesTest, ALeaseIsFoundByItsTokenAndByItsDevice) {
  HeldLeases held;
  held.Add(kToken, {.device = "desk/cpu", .owner = "ann"});
  held.Add(kOther, {.device = "rack/cpu", .owner = "bob"});
  EXPECT_EQ(held.OfDevice("desk/cpu"), kToken);
  EXPECT_EQ(held.OfDevice("shelf/cpu"), std::nullopt);
  ASSERT_NE(held.Find(kOther), nullptr);
  EXPECT_EQ(held.Find(kOther)->owner, "bob");
  held.Remove(kToken);
  held.Remove(kToken);
  EXPECT_EQ(held.Find(kToken), nullptr);
  EXPECT_EQ(held.OfDevice("desk/cpu"), std::nullopt);
  EXPECT_THAT(held.all(), SizeIs(1));
  held.Add({.epoch = 1, .number = 4}, {.device = "desk/cpu"});
  EXPECT_EQ(held.OfDevice("desk/cpu"), (LeaseToken{.epoch = 1, .number = 4}));
}

TEST(HeldLeasesTest, AnItemIsOpenUntilItsResultIsTaken) {
  HeldLeases::Lease lease;
  ASSERT_TRUE(lease.Open(ItemsAt({3, 1})).ok());
  ASSERT_TRUE(lease.Open(ItemsAt({1, 2})).ok());  // the client sends one again
  const auto at = [](int index) { return Property(&fleet_proto::Item::index, index); };
  EXPECT_THAT(lease.OpenItems(), ElementsAre(at(1), at(2), at(3)));
  EXPECT_EQ(*lease.TakeResult(2, {}), true);
  EXPECT_EQ(*lease.TakeResult(2, {}), false);
  EXPECT_EQ(*lease.TakeResult(7, {}), false);
  EXPECT_THAT(lease.OpenItems(), ElementsAre(at(1), at(3)));
}

TEST(HeldLeasesTest, AResultThatCannotBeLeavesTheItemOpen) {
  HeldLeases::Lease lease;
  ASSERT_TRUE(lease.Open(ItemsAt({1}, MeasureItem::Kind::kTimeKernel)).ok());
  Measurement in_no_time;
  in_no_time.outcome = TrialOutcome::kOk;
  EXPECT_TRUE(absl::IsInvalidArgument(lease.TakeResult(1, in_no_time).status()));
  EXPECT_THAT(lease.OpenItems(), SizeIs(1));
}

TEST(HeldLeasesTest, ALeaseHasAtMostSoManyOpenItems) {
  HeldLeases::Lease lease;
  std::vector<int> all;
  for (int i = 0; i <= kMaxItemsOfLease; ++i) all.push_back(i);
  EXPECT_TRUE(absl::IsInvalidArgument(lease.Open(ItemsAt(all))));
  EXPECT_THAT(lease.OpenItems(), IsEmpty());
  all.pop_back();
  EXPECT_TRUE(lease.Open(ItemsAt(all)).ok());
  EXPECT_TRUE(lease.Open(ItemsAt({0, 5})).ok());  // in the place of open ones
  EXPECT_TRUE(absl::IsInvalidArgument(lease.Open(ItemsAt({5, kMaxItemsOfLease}))));
}

}  // namespace
}  // namespace attune
