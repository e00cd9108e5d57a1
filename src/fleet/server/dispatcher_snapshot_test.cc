#include "fleet/server/dispatcher_snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "base/testing/manual_clock.h"
#include "base/testing/temporary_folder.h"
#include "fleet/server/made_up_agent_for_test.h"
#include "fleet/server/made_up_client_for_test.h"
#include "fleet/store/fleet_store.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr double kLeaseSeconds = 15;

class DispatcherSnapshotTest : public ::testing::Test {
 protected:
  DispatcherSnapshotTest() { clock_.Advance(kLeaseSeconds); }

  DispatcherSnapshot Snapshot() const { return dispatcher_->Snapshot(); }
  DispatcherCounters Counters() const { return Snapshot().counters; }

  const testing::TemporaryFolder folder_;
  ManualClock clock_;
  const std::unique_ptr<FleetStore> store_ = *FleetStore::Open(folder_ / "fleet.db");
  const std::unique_ptr<Dispatcher> dispatcher_ =
      *Dispatcher::Create(*store_, {.lease_seconds = kLeaseSeconds}, clock_);
};

TEST_F(DispatcherSnapshotTest, EachDeviceHasOneState) {
  std::optional<MadeUpAgent> away(std::in_place, *dispatcher_, nullptr, MadeUpAgentOptions{.id = "away"});
  away.reset();
  const MadeUpAgent desk(*dispatcher_), rack(*dispatcher_, nullptr, {.id = "rack"}),
      shelf(*dispatcher_, nullptr, {.id = "shelf"});
  EXPECT_TRUE(dispatcher_->Drain("rack/cpu", "it is hot").ok());
  const MadeUpClient holder(*dispatcher_, "desk/cpu");
  const DispatcherSnapshot snapshot = Snapshot();
  EXPECT_EQ(snapshot.agents, 3);
  EXPECT_EQ(snapshot.devices_away, 1);
  EXPECT_EQ(snapshot.devices_held, 1);
  EXPECT_EQ(snapshot.devices_drained, 1);
  EXPECT_EQ(snapshot.devices_free, 1);
}

TEST_F(DispatcherSnapshotTest, LeasesAndWaitsAreCounted) {
  MadeUpAgent agent(*dispatcher_);
  MadeUpClient first(*dispatcher_, "desk/cpu");
  const MadeUpClient second(*dispatcher_, "desk/cpu");
  EXPECT_THAT(Snapshot().waiting, ElementsAre(Pair("desk/cpu", 1)));
  clock_.Advance(2);
  agent.Tick();
  first.Release();
  EXPECT_THAT(Snapshot().waiting, IsEmpty());
  EXPECT_EQ(Counters().leases_granted, 2);
  EXPECT_EQ(Counters().leases_ended, 1);
  EXPECT_EQ(Counters().leases_lost, 0);
  EXPECT_EQ(Counters().waited.sum(), 2);
  clock_.Advance(kLeaseSeconds);
  EXPECT_EQ(Snapshot().seconds_since_tick, kLeaseSeconds + kLeaseSeconds + 2);
  dispatcher_->Tick();
  EXPECT_EQ(Snapshot().seconds_since_tick, 0);
  EXPECT_EQ(Counters().leases_ended, 2);
  EXPECT_EQ(Counters().leases_lost, 1);
}

TEST_F(DispatcherSnapshotTest, ResultsAreCounted) {
  const std::string item = EncodeWorkerRequest(MeasureItem{.kind = MeasureItem::Kind::kMeasurePeaks});
  MadeUpAgent agent(*dispatcher_, [](const MeasureItem&) { return Measurement(); });
  MadeUpClient client(*dispatcher_, "desk/cpu");
  client.SendItem(item);
  agent.Tick();
  EXPECT_EQ(Counters().results_passed_on, 1);
  client.SendItem(item);
  client.Release();
  agent.Tick();
  EXPECT_EQ(Counters().results_passed_on, 1);
  EXPECT_EQ(Counters().results_refused, 1);
}

}  // namespace
}  // namespace attune
