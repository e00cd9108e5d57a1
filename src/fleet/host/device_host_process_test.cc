// Kernels are checked and timed by a device host that is a process, as an agent starts it.
#include "fleet/host/device_host_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>

#include "base/file.h"
#include "base/testing/child_processes.h"
#include "base/testing/temporary_folder.h"
#include "device/lease.h"
#include "fleet/host/host_events_for_test.h"
#include "measure/blob.h"
#include "measure/hostile_kernels_for_test.h"
#include "measure/sum_kernel_for_test.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using enum TrialOutcome;
using Kind = MeasureItem::Kind;

class DeviceHostProcessTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // Other tests on this machine do not make the host wait.
    setenv("ATTUNE_LEASES", (folder_ / "leases").c_str(), 1);
    auto host = DeviceHostProcess::Start("/proc/self/exe", log_.Collect());
    ASSERT_TRUE(host.ok()) << host.status();
    host_ = *std::move(host);
  }
  ~DeviceHostProcessTest() override { unsetenv("ATTUNE_LEASES"); }

  void PutAs(const std::string& digest, const std::string& bytes) {
    const absl::StatusOr<Blob> blob = Blob::Of(bytes);
    ASSERT_TRUE(blob.ok());
    const absl::StatusOr<FileDescriptor> file = blob->Open();
    ASSERT_TRUE(file.ok());
    host_->Put(digest, file->get());
  }
  std::string Put(const std::string& bytes) {
    const std::string digest = Sha256Hex(bytes);
    PutAs(digest, bytes);
    return digest;
  }

  MeasureItem Item(Kind kind) {
    MeasureItem item = {.kind = kind, .subject = kernel_, .data = data_};
    item.options.seconds_limit = 0.02;
    item.options.worst_precision = 100;
    item.options.cold_bytes = 1 << 20;
    return item;
  }
  RunBatch Batch(int64_t number, const std::vector<MeasureItem>& items) {
    RunBatch batch = {.number = number};
    for (const MeasureItem& item : items) batch.items.push_back({std::ssize(batch.items), item});
    return batch;
  }
  // Runs a batch of one item.
  HostResult RunOne(int64_t number, const MeasureItem& item) {
    host_->Run(Batch(number, {item}));
    const auto results = log_.AwaitResults(number);
    EXPECT_THAT(results, SizeIs(1));
    return results.empty() ? HostResult() : results.begin()->second;
  }

  const testing::TemporaryFolder folder_;
  EventLogOfTest log_;
  std::unique_ptr<DeviceHostProcess> host_;
  const std::string kernel_ = Sha256Hex(EncodeKernel(SumKernel()));
  const std::string data_ = Sha256Hex(SumData(2));

  void PutAll() {
    Put(EncodeKernel(SumKernel()));
    Put(SumData(2));
  }
};

TEST_F(DeviceHostProcessTest, ChecksAndTimesAKernel) {
  PutAll();
  EXPECT_EQ(host_->device(), *HostDevice());
  MeasureItem wrong = Item(Kind::kCheckKernel);
  wrong.data = Put(SumData(3));
  host_->Run(Batch(1, {Item(Kind::kCheckKernel), wrong}));
  auto results = log_.AwaitResults(1);
  ASSERT_THAT(results, SizeIs(2));
  EXPECT_EQ(results.at(0).measurement.outcome, kOk) << results.at(0).measurement.reason;
  EXPECT_EQ(results.at(1).measurement.outcome, kWrongResult);

  const HostResult timed = RunOne(2, Item(Kind::kTimeKernel));
  ASSERT_EQ(timed.measurement.outcome, kOk) << timed.measurement.reason;
  EXPECT_GT(timed.measurement.timing.seconds, 0);
  const std::vector<HostLeased> leases = log_.All<HostLeased>();
  ASSERT_THAT(leases, SizeIs(2));
  EXPECT_FALSE(leases[0].is_exclusive);
  EXPECT_TRUE(leases[1].is_exclusive);
  EXPECT_THAT(leases[1].processors, SizeIs(1));
}

TEST_F(DeviceHostProcessTest, NamesTheBlobsThatAreMissing) {
  Put(SumData(2));
  MeasureItem item = Item(Kind::kTimeKernel);
  item.baseline = std::string(64, 'b');
  const HostResult lacking = RunOne(1, item);
  EXPECT_EQ(lacking.measurement.outcome, kRetry);
  EXPECT_THAT(lacking.missing, ElementsAre(kernel_, item.baseline));
  EXPECT_THAT(log_.All<HostLeased>(), IsEmpty());

  PutAll();
  // The others of the batch are measured.
  host_->Run(Batch(2, {item, Item(Kind::kCheckKernel)}));
  auto results = log_.AwaitResults(2);
  EXPECT_THAT(results[0].missing, ElementsAre(item.baseline));
  EXPECT_EQ(results[1].measurement.outcome, kOk) << results[1].measurement.reason;

  host_->Forget(kernel_);
  EXPECT_THAT(RunOne(3, Item(Kind::kCheckKernel)).missing, ElementsAre(kernel_));
}

TEST_F(DeviceHostProcessTest, DropsABlobThatIsNotTheAnnouncedOne) {
  PutAs(kernel_, "something else");
  Put(SumData(2));
  EXPECT_THAT(RunOne(1, Item(Kind::kCheckKernel)).missing, ElementsAre(kernel_));
}

TEST_F(DeviceHostProcessTest, RunsBatchesInOrder) {
  PutAll();
  for (const int64_t number : {5, 3, 4}) host_->Run(Batch(number, {Item(Kind::kCheckKernel)}));
  log_.Await<HostBatchOver>(3);
  std::vector<int64_t> over;
  for (const HostBatchOver& batch : log_.All<HostBatchOver>()) over.push_back(batch.number);
  EXPECT_THAT(over, ElementsAre(5, 3, 4));
}

TEST_F(DeviceHostProcessTest, CancelsABatchThatWaitsForItsLease) {
  PutAll();
  const absl::StatusOr<DeviceLeases> leases = DeviceLeases::Open(host_->device());
  ASSERT_TRUE(leases.ok()) << leases.status();
  const absl::StatusOr<DeviceLease> held = leases->AcquireExclusive(1);
  ASSERT_TRUE(held.ok()) << held.status();
  host_->Run(Batch(1, {Item(Kind::kTimeKernel), Item(Kind::kCheckKernel)}));
  host_->Run(Batch(2, {Item(Kind::kCheckKernel)}));
  host_->Cancel(2);
  log_.Await<HostAlive>(log_.All<HostAlive>().size() + 2);
  EXPECT_THAT(log_.All<HostResult>(), IsEmpty());
  host_->Cancel(1);
  EXPECT_THAT(log_.AwaitResults(1), SizeIs(2));
  EXPECT_THAT(log_.AwaitResults(2), SizeIs(1));
  for (const HostResult& result : log_.All<HostResult>()) {
    EXPECT_EQ(result.measurement.outcome, kRetry);
    EXPECT_EQ(result.measurement.reason, "cancelled");
  }
}

TEST_F(DeviceHostProcessTest, CancelsABatchThatRuns) {
  PutAll();
  MeasureItem slow = Item(Kind::kTimeKernel);
  slow.options.seconds_limit = 0.1;
  slow.options.precision = 0;  // the limit is always reached
  host_->Run(Batch(1, std::vector<MeasureItem>(1000, slow)));
  log_.Await<HostResult>(1);
  host_->Cancel(1);
  const auto results = log_.AwaitResults(1);
  ASSERT_THAT(results, SizeIs(1000));
  EXPECT_EQ(results.at(0).measurement.outcome, kOk) << results.at(0).measurement.reason;
  EXPECT_EQ(results.at(999).measurement.outcome, kRetry);
  EXPECT_EQ(results.at(999).measurement.reason, "cancelled");
}

TEST_F(DeviceHostProcessTest, LosesNoItemWhenItsWorkersAreKilled) {
  PutAll();
  host_->Run(Batch(1, std::vector<MeasureItem>(20, Item(Kind::kTimeKernel))));
  log_.Await<HostResult>(1);
  const std::vector<pid_t> workers = testing::ChildrenOf(host_->pid());
  EXPECT_THAT(workers, ::testing::Not(IsEmpty()));
  for (const pid_t worker : workers) kill(worker, SIGKILL);
  const auto results = log_.AwaitResults(1);
  EXPECT_THAT(results, SizeIs(20));
  for (const auto& [index, result] : results)
    EXPECT_EQ(result.measurement.outcome, kOk) << index << ": " << result.measurement.reason;
  EXPECT_THAT(log_.All<HostLost>(), IsEmpty());
}

TEST_F(DeviceHostProcessTest, ContainsABatchOfHostileKernels) {
  PutAll();
  const HostileTargets targets = {
      .credentials = folder_ / "credentials", .folder = folder_.path(), .process = getpid()};
  ASSERT_TRUE(WriteFileAtomically(targets.credentials, "secret").ok());
  std::vector<MeasureItem> items;
  for (const HostileKernel& hostile : HostileKernels(targets)) {
    items.push_back(Item(Kind::kTimeKernel));
    items.back().subject = Put(EncodeKernel(hostile.kernel));
    if (hostile.outcomes.contains(kTimedOut)) items.back().options.execution_seconds_limit = 0.3;
  }
  items.push_back(Item(Kind::kTimeKernel));
  host_->Run(Batch(1, items));
  const auto results = log_.AwaitResults(1);
  ASSERT_THAT(results, SizeIs(items.size()));
  for (const auto& [index, result] : results) {
    const bool is_good = items[static_cast<size_t>(index)].subject == kernel_;
    EXPECT_EQ(result.measurement.outcome == kOk, is_good) << index << ": " << result.measurement.reason;
  }
  EXPECT_THAT(log_.All<HostLost>(), IsEmpty());
}

TEST_F(DeviceHostProcessTest, IsLostOnceWhenItIsKilled) {
  PutAll();
  host_->Run(Batch(1, std::vector<MeasureItem>(1000, Item(Kind::kTimeKernel))));
  log_.Await<HostResult>(1);
  kill(host_->pid(), SIGKILL);
  log_.Await<HostLost>(1);
  PutAll();
  host_->Run(Batch(2, {Item(Kind::kCheckKernel)}));
  host_->Cancel(2);
  host_.reset();
  const std::vector<HostLost> lost = log_.All<HostLost>();
  ASSERT_THAT(lost, SizeIs(1));
  EXPECT_THAT(lost[0].reason, HasSubstr("signal 9"));
}

TEST_F(DeviceHostProcessTest, EndsWithoutAnEventWhenNobodyNeedsIt) {
  const pid_t pid = host_->pid();
  host_.reset();
  EXPECT_EQ(kill(pid, 0), -1);
  EXPECT_THAT(log_.All<HostLost>(), IsEmpty());
}

TEST(DeviceHostProcess, AProgramThatIsNoHostIsAnError) {
  EventLogOfTest log;
  EXPECT_FALSE(DeviceHostProcess::Start("/bin/true", log.Collect()).ok());
  EXPECT_FALSE(DeviceHostProcess::Start("/nonexistent", log.Collect()).ok());
  EXPECT_THAT(log.All<HostLost>(), IsEmpty());
}

TEST(DeviceHostProcess, AHostThatCannotLeaseSaysWhy) {
  const testing::TemporaryFolder folder;
  const std::string file = folder / "file";
  ASSERT_TRUE(WriteFileAtomically(file, "").ok());
  setenv("ATTUNE_LEASES", file.c_str(), 1);
  EventLogOfTest log;
  const auto host = DeviceHostProcess::Start("/proc/self/exe", log.Collect());
  unsetenv("ATTUNE_LEASES");
  ASSERT_FALSE(host.ok());
  EXPECT_THAT(host.status().message(), HasSubstr(file));
}

}  // namespace
}  // namespace attune
