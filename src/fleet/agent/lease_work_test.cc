#include "fleet/agent/lease_work.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>

#include "fleet/wire/token.h"
#include "measure/blob.h"
#include "measure/codec.h"
#include "target/target.h"

namespace attune {
namespace {

namespace proto = fleet_proto;

// A host that notes what it is told, and answers when the test says so.
class HostOfTest final : public DeviceHost {
 public:
  const DeviceInfo& device() const override { return device_; }
  const std::vector<std::string>& lacks() const override { return lacks_; }
  void Put(const std::string& digest, int /*file*/) override {
    Note([&] { put_.push_back(digest); });
  }
  void Forget(const std::string& digest) override {
    Note([&] { forgotten_.push_back(digest); });
  }
  void Run(RunBatch batch) override {
    Note([&] { batches_.push_back(std::move(batch)); });
  }
  void Cancel(int64_t number) override {
    Note([&] { cancelled_.push_back(number); });
  }

  // Returns the batches, once there are `count`.
  std::vector<RunBatch> AwaitBatches(size_t count) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return batches_.size() >= count; });
    return batches_;
  }
  std::vector<std::string> put() const { return Copy(put_); }
  std::vector<std::string> forgotten() const { return Copy(forgotten_); }
  std::vector<int64_t> cancelled() const { return Copy(cancelled_); }

 private:
  template <typename F>
  void Note(const F& f) {
    const std::lock_guard<std::mutex> lock(mutex_);
    f();
    changed_.notify_all();
  }
  template <typename T>
  std::vector<T> Copy(const std::vector<T>& values) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return values;
  }

  const DeviceInfo device_;
  const std::vector<std::string> lacks_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<RunBatch> batches_;
  std::vector<std::string> put_, forgotten_;
  std::vector<int64_t> cancelled_;
};

// Has every blob, but for those that are missing, or that it has no room for.
class FetcherOfTest final : public BlobFetcher {
 public:
  absl::StatusOr<FileDescriptor> Fetch(const LeaseToken& /*token*/, const std::string& /*owner*/,
                                       const std::string& digest) override {
    if (missing.contains(digest)) return absl::NotFoundError("no such blob");
    if (is_full) return absl::ResourceExhaustedError("/blobs: the disk is full");
    return Blob::Of("any")->Open();
  }
  std::set<std::string> missing;
  std::atomic<bool> is_full = false;
};

class LeaseWorkTest : public ::testing::Test {
 protected:
  static proto::Work Work(int64_t lease, const std::vector<int32_t>& indices) {
    proto::Work work;
    ToWire({.epoch = 1, .number = lease}, *work.mutable_token());
    work.set_owner("alice");
    for (const int32_t index : indices) {
      proto::Item* item = work.add_items();
      item->set_index(index);
      item->set_item(EncodeWorkerRequest(MeasureItem{
          .kind = MeasureItem::Kind::kTimeKernel, .subject = std::string(64, 'a'), .data = data_}));
    }
    return work;
  }
  void Answer(int64_t batch, int64_t index) {
    HostResult result{.number = batch, .index = index};
    result.measurement.outcome = TrialOutcome::kOk;
    result.measurement.timing.seconds = 1;
    work_.Observe(result);
  }
  std::vector<int32_t> sent() const {
    std::vector<int32_t> indices;
    for (const proto::Result& result : sent_) indices.push_back(result.index());
    return indices;
  }

  static inline const std::string data_ = std::string(64, 'b');
  HostOfTest host_;
  FetcherOfTest fetcher_;
  std::vector<proto::Result> sent_;
  LeaseWork work_{host_, fetcher_, [this](const proto::Result& result) { sent_.push_back(result); }};
};

TEST_F(LeaseWorkTest, WorkGoesToTheHostWithItsBlobs) {
  work_.Take(Work(1, {4, 5}));
  const RunBatch batch = host_.AwaitBatches(1)[0];
  ASSERT_EQ(batch.items.size(), 2);
  EXPECT_EQ(batch.items[1].index, 5);
  EXPECT_EQ(host_.put(), (std::vector<std::string>{std::string(64, 'a'), data_}));
  Answer(batch.number, 4);
  EXPECT_EQ(sent(), (std::vector<int32_t>{4}));
  EXPECT_EQ(FromWire(sent_[0].token()).number, 1);
}

TEST_F(LeaseWorkTest, WorkThatComesAgainIsAnsweredAndNotDoneAgain) {
  work_.Take(Work(1, {4, 5}));
  const RunBatch batch = host_.AwaitBatches(1)[0];
  Answer(batch.number, 4);
  work_.Take(Work(1, {4, 5, 6}));
  EXPECT_EQ(sent(), (std::vector<int32_t>{4, 4}));
  const std::vector<RunBatch> batches = host_.AwaitBatches(2);
  ASSERT_EQ(batches[1].items.size(), 1);
  EXPECT_EQ(batches[1].items[0].index, 6);
}

TEST_F(LeaseWorkTest, OnlyTheLatestLeaseCounts) {
  work_.Take(Work(2, {1}));
  const RunBatch old = host_.AwaitBatches(1)[0];
  work_.Take(Work(1, {7}));  // comes too late
  work_.Take(Work(3, {1}));
  const RunBatch batch = host_.AwaitBatches(2)[1];
  EXPECT_EQ(host_.cancelled(), (std::vector<int64_t>{old.number}));
  Answer(old.number, 1);
  EXPECT_TRUE(sent_.empty());
  Answer(batch.number, 1);
  ASSERT_EQ(sent_.size(), 1);
  EXPECT_EQ(FromWire(sent_[0].token()).number, 3);
}

TEST_F(LeaseWorkTest, IsIdleOnceAllIsMeasuredOrTheLeaseHasEnded) {
  EXPECT_TRUE(work_.is_idle());
  work_.Take(Work(1, {1, 2}));
  const RunBatch batch = host_.AwaitBatches(1)[0];
  Answer(batch.number, 1);
  EXPECT_FALSE(work_.is_idle());
  Answer(batch.number, 2);
  EXPECT_TRUE(work_.is_idle());
  work_.Take(Work(1, {3}));
  EXPECT_FALSE(work_.is_idle());
  work_.Stop({.epoch = 1, .number = 1});
  EXPECT_TRUE(work_.is_idle());
}

TEST_F(LeaseWorkTest, ALeaseThatHasEndedGetsNoMoreResults) {
  work_.Take(Work(1, {1, 2}));
  const RunBatch batch = host_.AwaitBatches(1)[0];
  work_.Stop({.epoch = 1, .number = 1});
  EXPECT_EQ(host_.cancelled(), (std::vector<int64_t>{batch.number}));
  Answer(batch.number, 1);
  work_.Take(Work(1, {3}));
  EXPECT_TRUE(sent_.empty());
}

TEST_F(LeaseWorkTest, AResultThatIsTooLargeIsAFailure) {
  work_.Take(Work(1, {1}));
  HostResult result{.number = host_.AwaitBatches(1)[0].number, .index = 1};
  result.measurement.outcome = TrialOutcome::kOk;
  result.measurement.outputs = {{.bytes = std::string(size_t{64} << 20, 'x')}};
  work_.Observe(result);
  ASSERT_EQ(sent_.size(), 1);
  EXPECT_EQ(DecodeMeasurement(sent_[0].measurement())->outcome, TrialOutcome::kOutOfMemory);
}

TEST_F(LeaseWorkTest, ABlobOfAnotherOwnerIsTakenFromTheHost) {
  fetcher_.missing = {data_};
  work_.Take(Work(1, {1}));
  host_.AwaitBatches(1);
  EXPECT_EQ(host_.put(), (std::vector<std::string>{std::string(64, 'a')}));
  EXPECT_EQ(host_.forgotten(), (std::vector<std::string>{data_}));
}

TEST_F(LeaseWorkTest, AFullDiskIsTheReasonUntilThereIsRoomAgain) {
  fetcher_.is_full = true;
  work_.Take(Work(1, {1}));
  HostResult result{.number = host_.AwaitBatches(1)[0].number, .index = 1};
  result.measurement = FailedMeasurement(TrialOutcome::kRetry, "blobs are missing");
  result.missing = {data_};
  work_.Observe(result);
  ASSERT_EQ(sent_.size(), 1);
  const auto measurement = DecodeMeasurement(sent_[0].measurement());
  EXPECT_EQ(measurement->outcome, TrialOutcome::kRetry);
  EXPECT_EQ(measurement->reason, "on the device's machine: /blobs: the disk is full");
  EXPECT_EQ(sent_[0].missing_size(), 0);
  fetcher_.is_full = false;
  work_.Take(Work(2, {1}));
  Answer(host_.AwaitBatches(2)[1].number, 1);
  EXPECT_EQ(host_.put(), (std::vector<std::string>{std::string(64, 'a'), data_}));
  ASSERT_EQ(sent_.size(), 2);
  EXPECT_EQ(DecodeMeasurement(sent_[1].measurement())->outcome, TrialOutcome::kOk);
}

TEST_F(LeaseWorkTest, ABlobIsGivenOnceUnlessTheHostHasLostIt) {
  work_.Take(Work(1, {1}));
  const RunBatch batch = host_.AwaitBatches(1)[0];
  work_.Take(Work(1, {2}));
  host_.AwaitBatches(2);
  EXPECT_EQ(host_.put().size(), 2);
  work_.Observe(HostResult{.number = batch.number, .index = 1, .measurement = {}, .missing = {data_}});
  work_.Take(Work(1, {3}));
  host_.AwaitBatches(3);
  EXPECT_EQ(host_.put().size(), 3);
}

}  // namespace
}  // namespace attune
