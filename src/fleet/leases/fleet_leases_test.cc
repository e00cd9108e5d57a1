#include "fleet/leases/fleet_leases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace attune {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr double kLease = 15;

TEST(FleetLeasesTest, HighestPriorityFirstThenFirstCome) {
  FleetLeases leases(1, kLease);
  leases.Join("a", {"key"}, 0);
  const int64_t low = leases.Ask({.key = "key"}), first = leases.Ask({.key = "key", .priority = 2});
  const int64_t second = leases.Ask({.key = "key", .priority = 2});
  std::vector<int64_t> order;
  for (int turn = 0; turn < 3; ++turn) {
    const std::vector<DeviceGrant> grants = leases.Grant(1);
    ASSERT_THAT(grants, SizeIs(1));
    EXPECT_EQ(grants[0].device, "a");
    order.push_back(grants[0].request);
    EXPECT_THAT(leases.Grant(1), IsEmpty());
    EXPECT_TRUE(leases.Release(grants[0].token));
  }
  EXPECT_EQ(order, (std::vector{first, second, low}));
}

TEST(FleetLeasesTest, PriorityIsWithinAnOwnerAndOwnersShare) {
  FleetLeases leases(1, kLease);
  for (const char* device : {"a", "b", "c", "d"}) leases.Join(device, {"key"}, 0);
  std::vector<int64_t> of_ann;
  for (int i = 0; i < 5; ++i)
    of_ann.push_back(leases.Ask({.key = "key", .owner = "ann", .priority = i == 4 ? 9 : 5}));
  const int64_t bob = leases.Ask({.key = "key", .owner = "bob", .priority = -1});
  const int64_t last = leases.Ask({.key = "key", .owner = kFleetItself, .priority = -9});
  const std::vector<DeviceGrant> grants = leases.Grant(1);
  std::vector<int64_t> order;
  for (const DeviceGrant& grant : grants) order.push_back(grant.request);
  // Ann's request of the highest priority, bob's first, and ann's again.
  EXPECT_EQ(order, (std::vector{of_ann[4], bob, of_ann[0], of_ann[1]}));
  // Bob has one device less, and still goes first when one is free.
  const int64_t again = leases.Ask({.key = "key", .owner = "bob", .priority = -1});
  leases.Release(grants[2].token);
  EXPECT_EQ(leases.Grant(1).at(0).request, again);
  const int64_t urgent = leases.Ask({.key = "key", .owner = kFleetItself, .priority = 9});
  leases.Release(grants[3].token);
  EXPECT_EQ(leases.Grant(1).at(0).request, urgent);
  leases.Withdraw(of_ann[2]);
  leases.Withdraw(of_ann[3]);
  leases.Release(grants[0].token);
  EXPECT_EQ(leases.Grant(1).at(0).request, last);
}

TEST(FleetLeasesTest, AKeyMayMatchSeveralDevices) {
  FleetLeases leases(1, kLease);
  leases.Join("a", {"zen4", "any"}, 0);
  leases.Join("b", {"zen5", "any"}, 0);
  const int64_t any = leases.Ask({.key = "any"}), zen4 = leases.Ask({.key = "zen4"});
  leases.Ask({.key = "arm"});
  const std::vector<DeviceGrant> grants = leases.Grant(1);
  ASSERT_THAT(grants, SizeIs(1));  // the first one took "a"; "b" does not do for the second
  EXPECT_EQ(grants[0].request, any);
  leases.Release(grants[0].token);
  EXPECT_EQ(leases.Grant(1).at(0).request, zen4);
}

TEST(FleetLeasesTest, ALeaseEndsIfEitherSideIsSilent) {
  for (const bool device_is_silent : {true, false}) {
    FleetLeases leases(1, kLease);
    leases.Join("a", {"key"}, 0);
    leases.Ask({.key = "key"});
    const LeaseToken token = leases.Grant(0).at(0).token;
    for (double now = 5; now < kLease; now += 5) {
      if (!device_is_silent) leases.DeviceIsAlive("a", now);
      if (device_is_silent) EXPECT_TRUE(leases.HolderIsAlive(token, now));
      EXPECT_THAT(leases.EndSilent(now), IsEmpty());
    }
    EXPECT_TRUE(leases.IsCurrent("a", token));
    const std::vector<LostLease> lost = leases.EndSilent(kLease);
    ASSERT_THAT(lost, SizeIs(1));
    EXPECT_EQ(lost[0].device_was_silent, device_is_silent);
    EXPECT_FALSE(leases.IsCurrent("a", token));
    EXPECT_FALSE(leases.HolderIsAlive(token, kLease));
    EXPECT_FALSE(leases.Release(token));
    // A silent device is not given out before it is heard of again, and then under a larger token.
    leases.Ask({.key = "key"});
    EXPECT_THAT(leases.Grant(kLease + 1), SizeIs(device_is_silent ? 0 : 1));
    leases.DeviceIsAlive("a", kLease + 2);
    if (device_is_silent) EXPECT_GT(leases.Grant(kLease + 2).at(0).token, token);
  }
}

TEST(FleetLeasesTest, AfterARestartOneLeaseIsWaitedAndTokensRise) {
  FleetLeases before(1, kLease);
  before.Join("a", {"key"}, 0);
  before.Ask({.key = "key"});
  const LeaseToken old = before.Grant(0).at(0).token;
  FleetLeases after(2, kLease, 100);
  after.Join("a", {"key"}, 101);
  after.Ask({.key = "key"});
  EXPECT_THAT(after.Grant(114), IsEmpty());
  after.DeviceIsAlive("a", 115);
  const DeviceGrant grant = after.Grant(115).at(0);
  EXPECT_GT(grant.token, old);
  EXPECT_FALSE(after.IsCurrent("a", old));
}

TEST(FleetLeasesTest, ARestoredLeaseGoesOn) {
  const LeaseToken old = {.epoch = 1, .number = 7};
  FleetLeases leases(2, kLease, 100);
  EXPECT_TRUE(leases.Restore("a", old, 100));
  EXPECT_TRUE(leases.IsCurrent("a", old));
  leases.Join("a", {"key"}, 110);
  EXPECT_TRUE(leases.HolderIsAlive(old, 112));
  const int64_t waiting = leases.Ask({.key = "key"});
  EXPECT_THAT(leases.EndSilent(115), IsEmpty());
  EXPECT_THAT(leases.Grant(115), IsEmpty());
  EXPECT_TRUE(leases.IsCurrent("a", old));
  EXPECT_TRUE(leases.Release(old));
  const DeviceGrant grant = leases.Grant(116).at(0);
  EXPECT_EQ(grant.request, waiting);
  EXPECT_GT(grant.token, old);
  EXPECT_FALSE(leases.IsCurrent("a", old));
}

TEST(FleetLeasesTest, ARestoredLeaseEndsIfEitherSideIsSilent) {
  const LeaseToken old = {.epoch = 1, .number = 7};
  for (const bool device_is_silent : {true, false}) {
    FleetLeases leases(2, kLease, 100);
    EXPECT_TRUE(leases.Restore("a", old, 101));
    if (device_is_silent) EXPECT_TRUE(leases.HolderIsAlive(old, 110));
    if (!device_is_silent) leases.Join("a", {"key"}, 110);
    EXPECT_THAT(leases.EndSilent(115), IsEmpty());
    const std::vector<LostLease> lost = leases.EndSilent(101 + kLease);
    ASSERT_THAT(lost, SizeIs(1));
    EXPECT_EQ(lost[0].token, old);
    EXPECT_EQ(lost[0].device_was_silent, device_is_silent);
    EXPECT_FALSE(leases.IsCurrent("a", old));
    leases.Join("a", {"key"}, 117);
    leases.Ask({.key = "key"});
    EXPECT_GT(leases.Grant(117).at(0).token, old);
  }
}

TEST(FleetLeasesTest, RestoresNoLeaseThatContradictsAnother) {
  const LeaseToken old = {.epoch = 1, .number = 7};
  FleetLeases leases(2, kLease, 100);
  EXPECT_TRUE(leases.Restore("a", old, 100));
  EXPECT_FALSE(leases.Restore("b", old, 100));
  EXPECT_FALSE(leases.Restore("a", {.epoch = 1, .number = 8}, 100));
  EXPECT_FALSE(leases.Restore("c", {.epoch = 2, .number = 1}, 100));
  EXPECT_TRUE(leases.IsCurrent("a", old));
  leases.Join("c", {"key"}, 115);
  leases.Ask({.key = "key"});
  EXPECT_EQ(leases.Grant(115).at(0).device, "c");
}

TEST(FleetLeasesTest, DevicesMayTakeWorkOfSomeOwnersOnly) {
  FleetLeases leases(1, kLease);
  leases.Join("a", {"key"}, 0, {"ann", "bob"});
  const int64_t others = leases.Ask({.key = "key", .owner = "eve", .priority = 2});
  const int64_t bobs = leases.Ask({.key = "key", .owner = "bob"});
  const std::vector<DeviceGrant> grants = leases.Grant(1);
  ASSERT_THAT(grants, SizeIs(1));
  EXPECT_EQ(grants[0].request, bobs);
  leases.Join("b", {"key"}, 1);
  EXPECT_EQ(leases.Grant(1).at(0).request, others);
  // A lease continues even if the device would not be given to its holder again.
  leases.Join("a", {"key"}, 2, {"ann"});
  EXPECT_TRUE(leases.IsCurrent("a", grants[0].token));
  leases.Release(grants[0].token);
  leases.Ask({.key = "key", .owner = "bob"});
  EXPECT_THAT(leases.Grant(2), IsEmpty());
}

TEST(FleetLeasesTest, TheFleetsOwnWorkIsTakenByAll) {
  FleetLeases leases(1, kLease);
  EXPECT_TRUE(leases.MayServe("a", "eve"));  // it has not said yet whom it trusts
  leases.Join("a", {"key"}, 0, {"ann"});
  EXPECT_TRUE(leases.MayServe("a", "ann"));
  EXPECT_FALSE(leases.MayServe("a", "eve"));
  leases.Ask({.key = "key", .owner = kFleetItself});
  EXPECT_THAT(leases.Grant(1), SizeIs(1));
}

TEST(FleetLeasesTest, NobodyGetsADeviceThatItsOwnerDoesNotShare) {
  DeviceOwners owners;
  owners.Put("a", "ann", {"key"}, {});
  owners.Put("b", "bob", {"key"}, {"ann"});
  FleetLeases leases(1, kLease, std::nullopt, &owners);
  for (const char* device : {"a", "b"}) leases.Join(device, {"key"}, 0);
  leases.Ask({.key = "key", .owner = "eve", .priority = 9});
  const int64_t bobs = leases.Ask({.key = "key", .owner = "bob"});
  std::vector<DeviceGrant> grants = leases.Grant(1);
  ASSERT_THAT(grants, SizeIs(1));
  EXPECT_EQ(grants[0].request, bobs);
  EXPECT_EQ(grants[0].device, "b");
  EXPECT_TRUE(leases.Release(grants[0].token));
  // Ann's own device is busy, and another owner's is not given instead.
  leases.Ask({.key = "key", .owner = "ann"});
  EXPECT_EQ(leases.Grant(2).at(0).device, "a");
  leases.Ask({.key = "key", .owner = "ann"});
  EXPECT_THAT(leases.Grant(2), IsEmpty());
  owners.SetTrust("ann", {"bob"});
  leases.Ask({.key = "bob/key", .owner = "ann"});
  EXPECT_EQ(leases.Grant(2).at(0).device, "b");
}

TEST(FleetLeasesTest, DrainedDevicesFinishWhatTheyHave) {
  FleetLeases leases(1, kLease);
  leases.Join("a", {"key"}, 0);
  leases.Ask({.key = "key"});
  const LeaseToken token = leases.Grant(0).at(0).token;
  leases.Drain("a", "it drifts");
  EXPECT_TRUE(leases.IsCurrent("a", token));
  leases.Release(token);
  const int64_t waiting = leases.Ask({.key = "key"});
  EXPECT_THAT(leases.Grant(1), IsEmpty());
  leases.Resume("a");
  EXPECT_EQ(leases.Grant(1).at(0).request, waiting);
}

TEST(FleetLeasesTest, RemovedDevicesAndWithdrawnRequestsAreForgotten) {
  FleetLeases leases(1, kLease);
  leases.Join("a", {"key"}, 0);
  const int64_t first = leases.Ask({.key = "key"});
  leases.Withdraw(first);
  EXPECT_THAT(leases.Grant(0), IsEmpty());
  leases.Ask({.key = "key"});
  const LeaseToken token = leases.Grant(0).at(0).token;
  leases.Remove("a");
  EXPECT_FALSE(leases.IsCurrent("a", token));
  EXPECT_FALSE(leases.Release(token));
}

// Any sequence of events: no device has two holders, tokens rise, and no request waits while a device would
// do.
TEST(FleetLeasesTest, HoldsItsPromisesInAnyOrder) {
  std::mt19937 random(7);
  const auto draw = [&](int most) { return static_cast<int>(random() % static_cast<unsigned>(most)); };
  const std::vector<std::string> names = {"a", "b", "c"}, keys = {"x", "y"};
  for (int sequence = 0; sequence < 1000; ++sequence) {
    FleetLeases leases(1, kLease);
    std::map<std::string, LeaseToken> holders;
    LeaseToken latest;
    double now = 0;
    for (int event = 0; event < 100; ++event) {
      now += draw(4);
      const std::string name = names[static_cast<size_t>(draw(3))];
      switch (draw(8)) {
        case 0:
          leases.Join(name, {keys[static_cast<size_t>(draw(2))]}, now);
          break;
        case 1:
          leases.DeviceIsAlive(name, now);
          break;
        case 2:
          leases.Ask({.key = keys[static_cast<size_t>(draw(2))], .priority = draw(3)});
          break;
        case 3:
          if (holders.contains(name))
            EXPECT_EQ(leases.HolderIsAlive(holders[name], now), leases.IsCurrent(name, holders[name]));
          break;
        case 4:
          if (holders.contains(name) && leases.Release(holders[name])) holders.erase(name);
          break;
        case 5:
          leases.Drain(name, "test");
          break;
        case 6:
          leases.Resume(name);
          break;
        default:
          leases.Withdraw(draw(event + 1));
          break;
      }
      for (const LostLease& lost : leases.EndSilent(now)) {
        EXPECT_EQ(holders.at(lost.device), lost.token);
        holders.erase(lost.device);
      }
      for (const DeviceGrant& grant : leases.Grant(now)) {
        EXPECT_FALSE(holders.contains(grant.device));
        EXPECT_GT(grant.token, latest);
        latest = holders[grant.device] = grant.token;
      }
      for (const auto& [device, token] : holders) EXPECT_TRUE(leases.IsCurrent(device, token));
      EXPECT_THAT(leases.Grant(now), IsEmpty());
    }
  }
}

}  // namespace
}  // namespace attune
