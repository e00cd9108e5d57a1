// A fleet whose disk is full says so, loses nothing, and continues once there is room again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/log.h"
#include "base/testing/small_disk.h"
#include "base/testing/temporary_folder.h"
#include "fleet/blobs/blob_store.h"
#include "fleet/server/fleet_for_test.h"

namespace attune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class FullDiskTest : public ::testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_SMALL_DISK();
    SetLogLevel(LogLevel::kOff);
  }
  void TearDown() override { SetLogLevel(LogLevel::kWarning); }

  const testing::TemporaryFolder folder_;
  const testing::SmallDisk disk_{folder_.path()};
};

TEST_F(FullDiskTest, AnUploadGoesOnOnceThereIsRoom) {
  const auto store = *BlobStore::Open(folder_ / "blobs", {});
  const std::string bytes(size_t{1} << 20, 'b'), digest = Blob::Of(bytes) -> digest();
  const std::string_view first = std::string_view(bytes).substr(0, bytes.size() / 2);
  ASSERT_TRUE(store->Append("ann", digest, 0, first).ok());
  disk_.Fill(/*left=*/bytes.size() / 4);
  const auto rest = std::string_view(bytes).substr(first.size());
  const absl::Status full = store->Append("ann", digest, std::ssize(first), rest);
  EXPECT_TRUE(absl::IsResourceExhausted(full)) << full;
  EXPECT_THAT(std::string(full.message()),
              AllOf(HasSubstr(folder_ / "blobs/partial/"), HasSubstr("the disk is full; free some space")));
  EXPECT_EQ(*store->Sent("ann", digest), std::ssize(first));
  disk_.Free();
  ASSERT_TRUE(store->Append("ann", digest, std::ssize(first), rest).ok());
  EXPECT_TRUE(store->Finish("ann", digest).ok());
}

TEST_F(FullDiskTest, TheServerLivesOn) {
  FleetOfTest fleet;
  const auto agent = fleet.Agent([](const MeasureItem&) {
    MockAnswer answer;
    answer.measurement.outcome = TrialOutcome::kOk;
    answer.measurement.timing = {.seconds = 1e-3, .low = 1e-3, .high = 1e-3, .repetitions = 1};
    return answer;
  });
  fleet.AwaitDevices(1);
  const auto client = fleet.Client("alice"), owner = fleet.Operator();
  const auto service = *RemoteMeasuringService::Open(client, {.key = "desk"});
  const Blob kernel = *Blob::Of("a kernel"), large = *Blob::Of(std::string(size_t{1} << 20, 'l'));
  ASSERT_TRUE(service->Put(kernel).ok());
  const std::vector<MeasureItem> items = {
      {.kind = MeasureItem::Kind::kTimeKernel, .subject = kernel.digest()}};
  disk_.Fill();
  const absl::Status upload = client->Send(large);
  EXPECT_TRUE(absl::IsResourceExhausted(upload)) << upload;
  EXPECT_THAT(
      std::string(upload.message()),
      AllOf(HasSubstr("on the fleet's server"), HasSubstr("/blobs/partial/"), HasSubstr("free some space")));
  // The first ones may find room in what the database has got already.
  absl::Status invited;
  for (int i = 0; i < 1000 && invited.ok(); ++i) invited = owner->Invite("agent", "bob").status();
  EXPECT_TRUE(absl::IsResourceExhausted(invited)) << invited;
  EXPECT_THAT(std::string(invited.message()), AllOf(HasSubstr("/fleet.db"), HasSubstr("the disk is full")));
  const auto refused = service->Submit(items)->Next(kNoDeadline);
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->second.outcome, TrialOutcome::kRetry);
  EXPECT_THAT(refused->second.reason, HasSubstr("the disk is full"));
  EXPECT_TRUE(owner->Devices("desk")->at(0).is_there());
  disk_.Free();
  EXPECT_TRUE(client->Send(large).ok());
  EXPECT_TRUE(owner->Invite("agent", "bob").ok());
  const auto measured = service->Submit(items)->Next(kNoDeadline);
  ASSERT_TRUE(measured.has_value());
  EXPECT_EQ(measured->second.outcome, TrialOutcome::kOk) << measured->second.reason;
}

}  // namespace
}  // namespace attune
