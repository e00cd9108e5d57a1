#include "work/driver/host_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "work/sched/resources.h"

namespace attune {
namespace {

using ::testing::Optional;

constexpr int64_t kAtOnce = 16;

LocalHost HostWith(const std::vector<std::string>& slots, const std::string& fingerprint = "") {
  LocalHost host;
  host.device.fingerprint = fingerprint;
  for (const std::string& slot : slots) host.resources.slots[slot] = kAnyAmount;
  return host;
}

TEST(HostTable, KnowsTheFingerprintIfThereIsNoChoice) {
  HostTable hosts;
  EXPECT_EQ(hosts.FingerprintOf(std::nullopt), "");
  hosts.Add(3, HostWith({}, "a"), "desk");
  EXPECT_EQ(hosts.FingerprintOf(std::nullopt), "a");
  EXPECT_EQ(hosts.at(3).name, "desk");
  hosts.Add(5, HostWith({}, "b"), "attic");
  EXPECT_EQ(hosts.FingerprintOf(std::nullopt), "");
  EXPECT_EQ(hosts.FingerprintOf(5), "b");
  hosts.Remove(3);
  EXPECT_FALSE(hosts.contains(3));
  EXPECT_EQ(hosts.FingerprintOf(std::nullopt), "b");
}

TEST(HostTable, EachHostOfAGroupHasRoomForItsJobs) {
  HostTable hosts;
  EXPECT_EQ(hosts.RoomFor({"ann"}, kAtOnce, 1), kAtOnce);  // they are told what they wait for
  hosts.Add(0, HostWith({"ann"}), "");
  EXPECT_EQ(hosts.RoomFor({"ann"}, kAtOnce, 1), kAtOnce);
  hosts.Add(1, HostWith({"ann"}), "");
  hosts.Add(2, HostWith({"bob"}), "");
  EXPECT_EQ(hosts.RoomFor({"ann"}, kAtOnce, 2), 2 * kAtOnce);
  EXPECT_EQ(hosts.RoomFor({"bob"}, kAtOnce, 2), kAtOnce);
}

TEST(HostTable, GroupsShareTheRoomOfHostsThatTakeAll) {
  HostTable hosts;
  hosts.Add(0, HostWith({"owner/*"}), "");
  EXPECT_EQ(hosts.RoomFor({"owner/ann"}, kAtOnce, 1), kAtOnce);
  EXPECT_EQ(hosts.RoomFor({"owner/ann"}, kAtOnce, 4), kAtOnce / 4);
  EXPECT_EQ(hosts.RoomFor({"owner/ann"}, kAtOnce, 100), 2);
  hosts.Add(1, HostWith({"owner/ann"}), "");
  EXPECT_EQ(hosts.RoomFor({"owner/ann"}, kAtOnce, 4), kAtOnce + kAtOnce / 4);
}

TEST(HostTable, TheLeastBusyHostHasTheFewestJobsThereOrOnTheirWay) {
  HostTable hosts;
  hosts.Add(0, HostWith({"ann"}), "");
  EXPECT_EQ(hosts.LeastBusy({"ann"}, {}, {}), std::nullopt);  // there is no choice
  hosts.Add(1, HostWith({"bob"}), "");
  EXPECT_EQ(hosts.LeastBusy({"ann"}, {}, {}), std::nullopt);
  hosts.Add(2, HostWith({"ann"}), "");
  EXPECT_THAT(hosts.LeastBusy({"ann"}, {}, {}), Optional(0));
  EXPECT_THAT(hosts.LeastBusy({"ann"}, {{0, 1}, {9, 7}}, {}), Optional(2));
  EXPECT_THAT(hosts.LeastBusy({"ann"}, {{0, 1}}, {{RunnerSlot(2), 2}, {"processors", 5}}), Optional(0));
}

}  // namespace
}  // namespace attune
