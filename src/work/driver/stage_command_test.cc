#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "work/driver/local_host.h"

namespace attune {
namespace {

using ::testing::ElementsAre;

constexpr char kDevice[] = "device/a";

// Processors 4 and 5 of the machine compute, and 7 measures.
LocalHost MeasuringHost() {
  LocalHost host;
  host.numbers = {4, 5, 7};
  host.building = {4, 5};
  host.measuring = {7};
  host.isolation = Isolation::kCache;
  host.resources.devices = {{.key = kDevice, .processors = {2}}};
  return host;
}

JobStage Build() {
  return {.name = "build", .needs = {{.key = kProcessorsKey}}, .memory_bytes = 0, .seconds = {}};
}
JobStage Time() {
  return {.name = "time", .needs = {{.key = kDevice, .exclusive = true}}, .memory_bytes = 0, .seconds = {}};
}

Holding Granted(std::vector<int> processors) {
  Holding holding;
  holding.granted = std::move(processors);
  return holding;
}

TEST(StageCommand, GivesTheGrantedProcessorsByTheirNumbersOnTheMachine) {
  const RunStage build = StageCommand(MeasuringHost(), Build(), Granted({1}), false, true);
  EXPECT_THAT(build.processors, ElementsAre(5));
  EXPECT_EQ(build.lease, StageLease::kShared);
  const RunStage time = StageCommand(MeasuringHost(), Time(), Granted({2}), false, true);
  EXPECT_THAT(time.processors, ElementsAre(7));
  EXPECT_EQ(time.lease, StageLease::kExclusive);
  EXPECT_EQ(time.isolation, Isolation::kCache);
}

TEST(StageCommand, KeepsStagesWithoutProcessorsOffTheDevice) {
  const RunStage run = StageCommand(MeasuringHost(), Build(), Granted({}), false, true);
  EXPECT_THAT(run.processors, ElementsAre(4, 5));
  EXPECT_EQ(run.lease, StageLease::kShared);
}

TEST(StageCommand, TakesNoLeaseWhileADeviceElsewhereMeasures) {
  const RunStage run = StageCommand(MeasuringHost(), Build(), Granted({}), /*has_remote_device=*/true, true);
  EXPECT_THAT(run.processors, ElementsAre(4, 5));
  EXPECT_EQ(run.lease, StageLease::kNone);
  // It builds as others do.
  const RunStage build = StageCommand(MeasuringHost(), Build(), Granted({0}), true, true);
  EXPECT_EQ(build.lease, StageLease::kShared);
}

TEST(StageCommand, CoordinatesNothingIfTheStrategyDoesNot) {
  const RunStage build = StageCommand(MeasuringHost(), Build(), Granted({}), false, /*is_coordinated=*/false);
  EXPECT_THAT(build.processors, ElementsAre(4, 5));
  EXPECT_EQ(build.lease, StageLease::kNone);
  const RunStage time = StageCommand(MeasuringHost(), Time(), Granted({}), false, /*is_coordinated=*/false);
  EXPECT_THAT(time.processors, ElementsAre(7));
  EXPECT_EQ(time.lease, StageLease::kNone);
}

}  // namespace
}  // namespace attune
