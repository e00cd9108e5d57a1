// Processes that measure and say what makes no sense to their agent, as liars_test.cc of the server has
// agents.
#include <gtest/gtest.h>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/testing/message_mutations.h"
#include "fleet/agent/lease_work.h"
#include "fleet/host/host_conversation.h"
#include "fleet/host/host_messages.h"
#include "fleet/wire/checked_messages.h"
#include "fleet/wire/token.h"
#include "measure/blob.h"
#include "measure/codec.h"

namespace attune {
namespace {

namespace proto = fleet_proto;
using testing::FuzzingRun;
using testing::MessageMutations;
using testing::SpoiledOrder;

MeasureItem Item() {
  return {
      .kind = MeasureItem::Kind::kTimeKernel, .subject = std::string(64, 'a'), .data = std::string(64, 'b')};
}

// A host that is asked, and whose reports the test makes up. They go the way of those of a process.
class HostOfReports final : public DeviceHost {
 public:
  const DeviceInfo& device() const override { return device_; }
  const std::vector<std::string>& lacks() const override { return lacks_; }
  void Put(const std::string& /*digest*/, int /*file*/) override {}
  void Forget(const std::string& /*digest*/) override {}
  void Run(RunBatch batch) override {
    conversation_.Ask(batch);
    const std::lock_guard<std::mutex> lock(mutex_);
    batch_ = std::move(batch);
    ++num_batches_;
    changed_.notify_all();
  }
  void Cancel(int64_t /*number*/) override {}

  RunBatch AwaitBatch(int number) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return num_batches_ >= number; });
    return batch_;
  }
  // False if the host is ended for what it says.
  bool Report(const std::string& bytes, LeaseWork& work) {
    const absl::StatusOr<HostReport> report = DecodeHostReport(bytes);
    if (!report.ok() || !conversation_.Take(*report).ok()) return false;
    if (const auto* result = std::get_if<HostResult>(&*report)) work.Observe(*result);
    return true;
  }

 private:
  const DeviceInfo device_;
  const std::vector<std::string> lacks_;
  HostConversation conversation_;
  std::mutex mutex_;
  std::condition_variable changed_;
  RunBatch batch_;
  int num_batches_ = 0;
};

class AnyBlob final : public BlobFetcher {
 public:
  absl::StatusOr<FileDescriptor> Fetch(const LeaseToken&, const std::string&, const std::string&) override {
    return Blob::Of("any")->Open();
  }
};

proto::Work WorkOf(int64_t lease) {
  constexpr int kItems = 3;
  proto::Work work;
  ToWire({.epoch = 1, .number = lease}, *work.mutable_token());
  work.set_owner("ann");
  for (int i = 0; i < kItems; ++i) {
    work.add_items()->set_index(i);
    work.mutable_items(i)->set_item(EncodeWorkerRequest(Item()));
  }
  return work;
}

std::string ReportOf(const RunBatch& batch, size_t step) {
  HostResult result = {.number = batch.number, .index = static_cast<int64_t>(step) - 1};
  result.measurement.outcome = TrialOutcome::kOk;
  result.measurement.timing = {.seconds = 1e-3, .low = 9e-4, .high = 2e-3, .repetitions = 9};
  result.measurement.reason = "a reason";
  if (step == 0)
    return EncodeHostReport(HostLeased{.number = batch.number, .processors = {0}, .isolated = {1}});
  if (step == 4) return EncodeHostReport(HostAlive{});
  if (step == 5) return EncodeHostReport(HostBatchOver{batch.number});
  return EncodeHostReport(result);
}

TEST(LyingHost, IsEndedAndAnswersNothingThatItWasNotAsked) {
  SetLogLevel(LogLevel::kOff);
  const FuzzingRun run = FuzzingRun::FromEnvironment();
  RecordProperty("seed", absl::StrCat(run.seed));
  int64_t num_ended = 0;
  for (int64_t i = 0; i < run.count && !::testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(absl::StrCat("ATTUNE_FUZZ_SEED=", run.seed, ", conversation ", i));
    Random random = run.RandomOf(i);
    MessageMutations mutations(random, {});
    HostOfReports host;
    AnyBlob blobs;
    std::multiset<int32_t> answered;
    LeaseWork work(host, blobs, [&](const proto::Result& result) {
      answered.insert(result.index());
      // The server accepts everything that reaches it.
      proto::FromAgent message;
      *message.mutable_result() = result;
      EXPECT_TRUE(Checked(message).ok()) << Checked(message).status();
    });
    work.Take(WorkOf(1));
    const RunBatch batch = host.AwaitBatch(1);
    constexpr size_t kSteps = 6;
    const size_t lie = mutations.Below(kSteps);
    bool is_there = true;
    for (const size_t step : SpoiledOrder(mutations, kSteps)) {
      const std::string report = ReportOf(batch, step);
      is_there = is_there && host.Report(step == lie ? mutations.Spoil(report) : report, work);
    }
    for (const int32_t index : answered) {
      EXPECT_EQ(answered.count(index), 1);
      EXPECT_TRUE(index >= 0 && index < 3) << index;
    }
    EXPECT_EQ(work.is_idle(), answered.size() == 3);
    num_ended += is_there ? 0 : 1;
    // The next lease begins anew.
    work.Take(WorkOf(2));
    const RunBatch next = host.AwaitBatch(2);
    answered.clear();
    if (is_there)
      for (size_t step = 1; step <= 3; ++step) EXPECT_TRUE(host.Report(ReportOf(next, step), work));
    EXPECT_EQ(answered.size(), is_there ? 3 : 0);
  }
  EXPECT_GT(num_ended, run.count / 20);
  EXPECT_LT(num_ended, run.count - run.count / 20);
  SetLogLevel(LogLevel::kWarning);
}

TEST(LyingHost, CommandsAreReadAsSafely) {
  const FuzzingRun run = FuzzingRun::FromEnvironment();
  const std::string commands[] = {
      EncodeHostCommand(NewBlob{std::string(64, 'a')}), EncodeHostCommand(ForgetBlob{std::string(64, 'a')}),
      EncodeHostCommand(RunBatch{.number = 1, .items = {{0, Item()}, {1, Item()}}}),
      EncodeHostCommand(CancelBatch{1})};
  for (int64_t i = 0; i < run.count; ++i) {
    Random random = run.RandomOf(i);
    MessageMutations mutations(random, {});
    const auto command = DecodeHostCommand(mutations.Spoil(commands[mutations.Below(std::size(commands))]));
    if (!command.ok()) continue;
    if (const auto* batch = std::get_if<RunBatch>(&*command)) {
      EXPECT_GE(batch->number, 0);
      EXPECT_LE(batch->items.size(), kMaxBatchItems);
    }
  }
}

}  // namespace
}  // namespace attune
