#include "work/sched/resources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

StageNeeds Processors(int64_t amount, bool exclusive = false) {
  return {{{kProcessorsKey, amount, exclusive}}, 0};
}
StageNeeds Device(const char* key, int64_t amount = 1) { return {{{key, amount, true}}, 0}; }

// Four processors, of which two and two share a cache; a device of processor 1.
HostResources Host() {
  return {.processors = 4,
          .caches = {0, 0, 1, 1},
          .memory_bytes = 1000,
          .devices = {{"device/a", {1}}},
          .slots = {{"licence", 2}}};
}

TEST(Resources, AreHeldUntilReleased) {
  ResourceLedger ledger;
  ledger.AddHost(Host());
  const auto three = ledger.Take(Processors(3));
  ASSERT_TRUE(three.has_value());
  EXPECT_THAT(three->granted, ElementsAre(0, 2, 3));  // the device's own last
  EXPECT_FALSE(ledger.Take(Processors(2)).has_value());
  EXPECT_TRUE(ledger.Take(Device("device/a")).has_value());
  EXPECT_FALSE(ledger.Take(Processors(1)).has_value());
  ledger.Release(*three);
  EXPECT_TRUE(ledger.Take(Processors(3)).has_value());
}

TEST(Resources, ADeviceHoldsItsProcessorsAndByOptionThoseThatShareACache) {
  for (const bool isolates : {false, true}) {
    ResourceLedger ledger;
    HostResources host = Host();
    host.isolates_caches = isolates;
    ledger.AddHost(host);
    const auto device = ledger.Take(Device("device/a"));
    ASSERT_TRUE(device.has_value());
    EXPECT_THAT(device->granted, ElementsAre(1));
    EXPECT_EQ(device->processors, isolates ? std::vector<int>({0, 1}) : std::vector<int>({1}));
    EXPECT_EQ(ledger.Take(Processors(3)).has_value(), !isolates);
    EXPECT_FALSE(ledger.Take(Device("device/a")).has_value());
  }
}

TEST(Resources, ExclusiveProcessorsAreAllOfAHost) {
  ResourceLedger ledger;
  ledger.AddHost(Host());
  const auto all = ledger.Take(Processors(2, true));
  ASSERT_TRUE(all.has_value());
  EXPECT_THAT(all->granted, ElementsAre(0, 2));
  EXPECT_THAT(all->processors, ElementsAre(0, 1, 2, 3));
  ledger.Release(*all);
  ASSERT_TRUE(ledger.Take(Processors(1)).has_value());
  EXPECT_FALSE(ledger.Take(Processors(2, true)).has_value());
}

TEST(Resources, CountMemoryAndSlots) {
  ResourceLedger ledger;
  ledger.AddHost(Host());
  const StageNeeds needs = {{{"licence", 1, false}}, 400};
  const auto first = ledger.Take(needs), second = ledger.Take(needs);
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(ledger.Take({{{"licence", 1, false}}, 0}).has_value());
  ledger.Release(*first);
  EXPECT_FALSE(ledger.Take({{{"licence", 2, false}}, 0}).has_value());
  EXPECT_FALSE(ledger.Take({{{"licence", 1, false}}, 601}).has_value());
  EXPECT_TRUE(ledger.Take({{{"licence", 1, false}}, 600}).has_value());
}

TEST(Resources, KnowWhatCanNeverBeGranted) {
  ResourceLedger ledger;
  const int host = ledger.AddHost(Host());
  ASSERT_TRUE(ledger.Take(Processors(4)).has_value());
  EXPECT_EQ(ledger.HostThatCouldGrant(Processors(4)), host);
  EXPECT_EQ(ledger.HostThatCouldGrant(Device("device/a")), host);
  EXPECT_EQ(ledger.HostThatCouldGrant(Processors(5)), -1);
  EXPECT_EQ(ledger.HostThatCouldGrant(Device("device/a", 2)), -1);
  EXPECT_EQ(ledger.HostThatCouldGrant(Device("device/b")), -1);
  EXPECT_EQ(ledger.HostThatCouldGrant({{{"licence", 3, false}}, 0}), -1);
  EXPECT_EQ(ledger.HostThatCouldGrant({{}, 1001}), -1);
  ledger.RemoveHost(host);
  EXPECT_EQ(ledger.HostThatCouldGrant(Processors(1)), -1);
}

TEST(Resources, AHostIsForgottenWhenNothingIsHeldThere) {
  ResourceLedger ledger;
  const int first = ledger.AddHost(Host()), second = ledger.AddHost(Host());
  const auto held = ledger.Take(Processors(2), first);
  ASSERT_TRUE(held.has_value());
  ledger.RemoveHost(first);
  EXPECT_THAT(ledger.Hosts(), ElementsAre(second));
  EXPECT_FALSE(ledger.Take(Processors(1), first).has_value());
  EXPECT_EQ(ledger.host(first).processors, Host().processors);
  ledger.Release(*held);
  EXPECT_FALSE(ledger.Take(Processors(1), first).has_value());
  ledger.RemoveHost(second);
  EXPECT_THAT(ledger.Hosts(), IsEmpty());
  EXPECT_EQ(ledger.HostThatCouldGrant(Device("device/a")), -1);
  // Numbers are never given again.
  const int third = ledger.AddHost(Host());
  EXPECT_GT(third, second);
  EXPECT_EQ(ledger.HostThatCouldGrant(Device("device/a")), third);
}

TEST(Resources, FreePartsAreKeptForALargeStage) {
  ResourceLedger ledger;
  ledger.AddHost(Host());
  const auto one = ledger.Take(Processors(1));
  const auto parts = ledger.TakeFreeParts(Processors(4));
  ASSERT_TRUE(one && parts);
  EXPECT_THAT(parts->processors, ElementsAre(1, 2, 3));
  EXPECT_FALSE(ledger.Take(Processors(1)).has_value());
  ledger.Release(*parts);
  EXPECT_TRUE(ledger.Take(Processors(3)).has_value());
  EXPECT_FALSE(ledger.TakeFreeParts(Processors(5)).has_value());
  const auto nothing = ledger.TakeFreeParts(Device("device/a"));
  ASSERT_TRUE(nothing.has_value());
  EXPECT_THAT(nothing->processors, IsEmpty());
}

TEST(Resources, ProcessorsOfDevicesMayBeForThoseAlone) {
  ResourceLedger ledger;
  ledger.AddHost({.processors = 3,
                  .keeps_device_processors = true,
                  .devices = {{.key = "device/a", .processors = {2}, .quiet = {1}}}});
  EXPECT_EQ(ledger.HostThatCouldGrant(Processors(3)), -1);
  const auto device = ledger.Take(Device("device/a"));
  ASSERT_TRUE(device.has_value());
  EXPECT_THAT(device->granted, ElementsAre(2));
  EXPECT_THAT(device->processors, ElementsAre(1, 2));
  EXPECT_FALSE(ledger.Take(Processors(2)).has_value());
  ledger.Release(*device);
  EXPECT_THAT(ledger.Take(Processors(2))->granted, ElementsAre(0, 1));
}

TEST(Resources, ASlotMayStandForMany) {
  ResourceLedger ledger;
  ledger.AddHost({.slots = {{"owner/*", 2}, {"owner/ann", 1}}});
  const auto of = [](const std::string& name) { return StageNeeds{.needs = {{.key = name}}}; };
  EXPECT_EQ(ledger.HostThatCouldGrant(of("program/zip")), -1);
  ASSERT_TRUE(ledger.Take(of("owner/ann")));
  EXPECT_FALSE(ledger.Take(of("owner/ann")));  // which has a slot of its own
  const auto bobs = ledger.Take(of("owner/bob"));
  ASSERT_TRUE(bobs && ledger.Take(of("owner/eve")));
  EXPECT_FALSE(ledger.Take(of("owner/bob")));
  ledger.Release(*bobs);
  EXPECT_TRUE(ledger.Take(of("owner/dan")));
}

TEST(Resources, SlotsMayChangeWhileTheyAreHeld) {
  ResourceLedger ledger;
  const int host = ledger.AddHost({.slots = {{"a", 1}}});
  const StageNeeds a = {.needs = {{.key = "a"}}}, b = {.needs = {{.key = "b"}}};
  const auto held = ledger.Take(a);
  ASSERT_TRUE(held);
  ledger.SetSlots(host, {{"b", 1}});
  EXPECT_EQ(ledger.HostThatCouldGrant(a), -1);
  EXPECT_TRUE(ledger.Take(b));
  ledger.SetSlots(host, {{"a", 1}, {"b", 2}});
  EXPECT_FALSE(ledger.Take(a));  // it is still held
  EXPECT_TRUE(ledger.Take(b));
  ledger.Release(*held);
  EXPECT_TRUE(ledger.Take(a));
}

TEST(Resources, TheFullestHostThatSufficesIsTaken) {
  ResourceLedger ledger;
  ledger.AddHost({.processors = 8});
  const int small = ledger.AddHost({.processors = 2});
  EXPECT_EQ(ledger.Take(Processors(2))->host, small);
  EXPECT_EQ(ledger.Take(Processors(1))->host, 0);
}

}  // namespace
}  // namespace attune
