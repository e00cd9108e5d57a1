#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/testing/await_that.h"
#include "measure/local_service.h"
#include "target/products.h"
#include "tune/task/faults_for_test.h"
#include "tune/task/service_for_test.h"
#include "tune/task/tasks_for_test.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
using enum TrialOutcome;

class LocalServiceTest : public ::testing::Test {
 protected:
  BuiltKernel Build(const TuningTask& task, const Candidate& candidate) {
    BuildResult result = BuildOne(builder_, task, candidate);
    EXPECT_EQ(result.outcome, kOk) << result.reason;
    return std::move(result.kernel);
  }
  Measurement Measure(const TuningTask& task, const Candidate& candidate, const MeasureOptions& options) {
    return measurer_.Measure(task, Build(task, candidate), options);
  }

  LocalBuilder builder_{BuilderOptionsOfTest()};
  MeasurerOfTest measurer_;
};

TEST_F(LocalServiceTest, MeasuresGoodKernelsInEachMode) {
  const std::pair<const char*, std::set<int>> groups[] = {
      {kConvTask, {1, 2}}, {kMatMulTask, {1}}, {kSoftmaxTask, {}}, {kReluTask, {}}};
  for (const auto& [text, constants] : groups) {
    SCOPED_TRACE(text);
    const TuningTask task = MakeTask(InBlocksOfHost(text), constants);
    for (const CacheMode cache : {CacheMode::kWarm, CacheMode::kCold}) {
      for (const int threads : {1, 2}) {
        MeasureOptions options = QuickOptions();
        options.cache = cache;
        options.threads = threads;
        options.cold_bytes = int64_t{16} << 20;
        const Measurement measured = Measure(task, DefaultCandidate(task), options);
        ASSERT_EQ(measured.outcome, kOk) << measured.reason;
        EXPECT_GT(measured.timing.seconds, 1e-8);
        EXPECT_LE(measured.timing.low, measured.timing.seconds);
        EXPECT_GE(measured.timing.high, measured.timing.seconds);
        EXPECT_GE(measured.timing.repetitions, 1);
        EXPECT_GT(measured.seconds, 0);
        EXPECT_FALSE(measured.abandoned);
      }
    }
  }
}

// Tests each strategy that applies, so that Winograd's error bounds are tested too.
TEST_F(LocalServiceTest, EveryStrategysDefaultIsRight) {
  const Target host = HostOfTest();
  for (const char* text : {kConvTask, kMatMulTask}) {
    const TuningTask task =
        MakeTask(InBlocksOfHost(text), text == kConvTask ? std::set<int>{1, 2} : std::set<int>{1});
    const GroupIdentity identity = IdentifyGroup(*task.region, task.constant_inputs, host);
    const auto workload = AnalyzeGroup(*identity.region, identity.name);
    ASSERT_TRUE(workload.ok()) << workload.status();
    for (const Strategy& strategy : AllStrategies()) {
      if (!strategy.why_not(*workload, host).empty()) continue;
      SCOPED_TRACE(strategy.name);
      const Candidate candidate = {std::string(strategy.name), strategy.analytic_default(*workload, host)};
      const Measurement measured = Measure(task, candidate, QuickOptions());
      EXPECT_EQ(measured.outcome, kOk) << measured.reason;
    }
  }
}

TEST_F(LocalServiceTest, TasksOfOtherTypesAndShapes) {
  const std::pair<const char*, std::set<int>> groups[] = {
      {R"(graph @bf16(%x: bf16[1,32,14,14]{c1/16}, %w: bf16[32,32,3,3]) {
         %c = conv(%x, %w) {pads = [1, 1, 1, 1]} : bf16[1,32,14,14]{c1/16}
         %y = relu(%c) : bf16[1,32,14,14]{c1/16}
         return "": %y
       })",
       {1}},
      {R"(graph @chain(%x: f32[1,16,28,28]{c1/16}, %w: f32[32,16,1,1], %v: f32[32,1,3,3]) {
         %y = conv(%x, %w) : f32[1,32,28,28]{c1/16}
         %z = relu(%y) : f32[1,32,28,28]{c1/16}
         %c = conv(%z, %v) {group = 32, pads = [1, 1, 1, 1]} : f32[1,32,28,28]{c1/16}
         return "": %c
       })",
       {1, 2}},
      {R"(graph @odd(%x: f32[1,5,7,7]) {
         %y = layout_transform(%x) {block = 16, blocked_axis = 1} : f32[1,5,7,7]{c1/16}
         return "": %y
       })",
       {}},
      {R"(graph @argmax(%x: f32[8,100]) {
         %y = arg_max(%x) {axis = 1} : i64[8,1]
         return "": %y
       })",
       {}},
      {R"(graph @counted_before(%x: f32[n<=40,8], %i: i64[]) {
         %y = relu(%x) : f32[n<=40,8]
         %z = gather(%y, %i) {axis = 1} : f32[n<=40]
         return "": %z
       })",
       {}},
      {R"(graph @dynamic(%x: bool[4,6]) {
         %y = non_zero(%x) : i64[2,n<=24]
         return "": %y
       })",
       {}},
  };
  for (const auto& [text, constants] : groups) {
    SCOPED_TRACE(text);
    if (!ParseGraph(text).ok()) {
      ADD_FAILURE() << ParseGraph(text).status();
      continue;
    }
    const TuningTask task = MakeTask(InBlocksOfHost(text), constants);
    const Measurement measured = Measure(task, DefaultCandidate(task), QuickOptions());
    EXPECT_EQ(measured.outcome, kOk) << measured.reason;
  }
}

TEST_F(LocalServiceTest, TheBaselineIsInterleaved) {
  const TuningTask task = MakeTask(InBlocksOfHost(kConvTask), {1, 2});
  const BuiltKernel fast = Build(task, DefaultCandidate(task)), slow = Build(task, {"loops", {}});
  MeasureOptions options = QuickOptions();
  options.abandon_ratio = 0;
  BuiltKernel like_fast = fast;
  like_fast.code_digest.clear();  // another blob with the same code
  const Measurement same = measurer_.Measure(task, like_fast, options, &fast, 1e-5);
  ASSERT_EQ(same.outcome, kOk) << same.reason;
  EXPECT_GT(same.ratio, 0);
  EXPECT_GT(same.baseline_seconds, 0);
  EXPECT_DOUBLE_EQ(same.normalized_seconds, same.ratio * 1e-5);

  // Other work on the machine may disturb a measurement, but not each.
  testing::AwaitThat([&] {
    const Measurement worse = measurer_.Measure(task, slow, options, &fast, 1e-5);
    EXPECT_EQ(worse.outcome, kOk) << worse.reason;
    return worse.outcome != kOk || worse.ratio > 1;
  });
  options.abandon_ratio = 1.3;
  testing::AwaitThat([&] { return measurer_.Measure(task, slow, options, &fast, 1e-5).abandoned; });
}

TEST_F(LocalServiceTest, AProcessThatIsKilledIsReplaced) {
  const TuningTask task = MakeTask(kReluTask);
  const BuiltKernel kernel = Build(task, DefaultCandidate(task));
  ASSERT_EQ(measurer_.Measure(task, kernel, QuickOptions()).outcome, kOk);
  const std::vector<pid_t> before = measurer_.service().WorkerPids();
  ASSERT_EQ(before.size(), 1);
  kill(before[0], SIGKILL);
  const Measurement again = measurer_.Measure(task, kernel, QuickOptions());
  EXPECT_EQ(again.outcome, kOk) << again.reason;
  EXPECT_NE(measurer_.service().WorkerPids(), before);
}

// Each item of a batch has its result, whichever process is killed meanwhile.
TEST_F(LocalServiceTest, KillingTheProcessInTheMiddleOfABatchLosesNothing) {
  const TuningTask task = MakeTask(kReluTask);
  const BuiltKernel kernel = Build(task, DefaultCandidate(task));
  MeasureOptions options = QuickOptions();
  options.seconds_limit = 0.1;
  options.precision = 0;
  const MeasureItem item{.kind = MeasureItem::Kind::kTimeKernel,
                         .options = options,
                         .subject = measurer_.Put(Blob::Of(EncodeKernel(kernel))),
                         .data = measurer_.DataOf(task)};
  constexpr size_t kItems = 12;
  const std::unique_ptr<MeasureBatch> batch =
      measurer_.service().Submit(std::vector<MeasureItem>(kItems, item));
  std::vector<int> results(kItems, 0);
  while (!batch->is_over()) {
    const auto result = batch->Next(kNoDeadline);
    ASSERT_TRUE(result.has_value());
    EXPECT_EQ(result->second.outcome, kOk) << result->second.reason;
    ++results[result->first];
    if (result->first % 3 == 1) {
      for (const pid_t pid : measurer_.service().WorkerPids()) kill(pid, SIGKILL);
    }
  }
  EXPECT_EQ(results, std::vector<int>(kItems, 1));
}

TEST_F(LocalServiceTest, ABatchThatIsCancelledEndsSoon) {
  const TuningTask task = MakeTask(kReluTask);
  const BuiltKernel kernel = Build(task, DefaultCandidate(task));
  const MeasureItem item{.kind = MeasureItem::Kind::kTimeKernel,
                         .options = QuickOptions(),
                         .subject = measurer_.Put(Blob::Of(EncodeKernel(kernel))),
                         .data = measurer_.DataOf(task)};
  constexpr int kItems = 3000;  // which take longer than the test waits anywhere
  const Stopwatch since_submission;
  const std::unique_ptr<MeasureBatch> batch =
      measurer_.service().Submit(std::vector<MeasureItem>(kItems, item));
  const double since_heartbeat = batch->SecondsSinceHeartbeat();
  EXPECT_LE(since_heartbeat, since_submission.Seconds());
  ASSERT_TRUE(batch->Next(kNoDeadline).has_value());
  batch->Cancel();
  int measured = 1, dropped = 0;
  while (!batch->is_over()) {
    const auto result = batch->Next(kNoDeadline);
    ASSERT_TRUE(result.has_value());
    ++(result->second.outcome == kRetry ? dropped : measured);
  }
  EXPECT_EQ(measured + dropped, kItems);
  EXPECT_GT(dropped, 0);
}

TEST_F(LocalServiceTest, ABlobThatWasNeverSentIsMissing) {
  const TuningTask task = MakeTask(kReluTask);
  const Measurement m = measurer_.One({.kind = MeasureItem::Kind::kCheckKernel,
                                       .options = QuickOptions(),
                                       .subject = Sha256Hex("never sent"),
                                       .data = measurer_.DataOf(task)});
  EXPECT_EQ(m.outcome, kRetry);
  EXPECT_THAT(m.reason, HasSubstr("missing"));
}

TEST_F(LocalServiceTest, PeaksAreTheDevices) {
  const Measurement m = measurer_.One({.kind = MeasureItem::Kind::kMeasurePeaks, .options = QuickOptions()});
  ASSERT_EQ(m.outcome, kOk) << m.reason;
  EXPECT_GT(m.peaks.gflops_per_core, 0);
  EXPECT_GT(m.peaks.memory_gb_per_s, 0);
}

TEST_F(LocalServiceTest, WhatIsTooLargeIsSaidToBe) {
  const TuningTask task = MakeTask(kReluTask);
  MeasureOptions options = QuickOptions();
  options.memory_bytes_limit = 1 << 10;
  const BuiltKernel kernel = Build(task, DefaultCandidate(task));
  const Measurement measured = measurer_.Measure(task, kernel, options);
  EXPECT_EQ(measured.outcome, kOutOfMemory);
  EXPECT_THAT(measured.reason, HasSubstr("limit"));
}

TEST_F(LocalServiceTest, AKernelOfAnotherTaskIsRefused) {
  const TuningTask relu = MakeTask(kReluTask), softmax = MakeTask(kSoftmaxTask);
  const BuiltKernel kernel = Build(softmax, DefaultCandidate(softmax));
  const Measurement measured = measurer_.Measure(relu, kernel, QuickOptions());
  EXPECT_EQ(measured.outcome, kRetry);
  EXPECT_THAT(measured.reason, HasSubstr("not for this task"));
}

TEST_F(LocalServiceTest, BadPrepackingsAreTheCandidatesFault) {
  const TuningTask task = MakeTask(InBlocksOfHost(kConvTask), {1, 2});
  BuiltKernel kernel = Build(task, DefaultCandidate(task));
  ASSERT_FALSE(kernel.prepackings.empty());
  const std::string good = kernel.prepackings[0].bytes;
  const auto replace = [&](std::string_view code) {
    kernel.prepackings[0].bytes.replace(static_cast<size_t>(kernel.prepackings[0].phases[0].offset),
                                        code.size(), code);
    return measurer_.Measure(task, kernel, QuickOptions());
  };
  const Measurement crashed = replace({"\x0F\x0B", 2});
  EXPECT_EQ(crashed.outcome, kCrashed);
  EXPECT_THAT(crashed.reason, HasSubstr("prepacking 0"));
  EXPECT_EQ(replace({"\x31\xC0\xC3", 3}).outcome, kWrongResult);  // leaves the output unwritten
  kernel.prepackings[0].bytes = good;
  EXPECT_EQ(measurer_.Measure(task, kernel, QuickOptions()).outcome, kOk);
}

// Kernel processes request tiles early enough: a kernel itself can make no system call to ask for them.
TEST_F(LocalServiceTest, KernelsMayUseTiles) {
  if (!HasProducts(kMatrixInstructions, HostOfTest())) GTEST_SKIP() << "this processor has no tiles";
  const TuningTask task = MakeTask(kReluTask);
  BuiltKernel kernel = Build(task, DefaultCandidate(task));
  // Sets up one tile of 16 rows of 64 bytes (ldtilecfg, tilezero, tilerelease), then returns 0.
  constexpr std::string_view kCode(
      "\xC5\xF9\xEF\xC0\xC5\xFE\x7F\x44\x24\xC0\xC5\xFE\x7F\x44\x24\xE0\xC6\x44\x24\xC0\x01"
      "\xC6\x44\x24\xD0\x40\xC6\x44\x24\xF0\x10\xC4\xE2\x78\x49\x44\x24\xC0"
      "\xC4\xE2\x7B\x49\xC0\xC4\xE2\x78\x49\xC0\x31\xC0\xC3",
      51);
  kernel.code.bytes.replace(static_cast<size_t>(kernel.code.phases[0].offset), kCode.size(), kCode);
  const Measurement measured = measurer_.Measure(task, kernel, QuickOptions());
  EXPECT_EQ(measured.outcome, kWrongResult) << measured.reason;  // but no crash
}

// Every bad kernel is caught, and the next measurement is not affected.
TEST_F(LocalServiceTest, BadKernelsAreCaught) {
  const TuningTask task = MakeTask(kReluTask);
  const Candidate good = DefaultCandidate(task);
  const BuiltKernel good_kernel = Build(task, good);
  MeasureOptions options = QuickOptions();
  options.threads = 2;
  options.seconds_limit = 0.02;
  int64_t caught = 0;
  std::vector<pid_t> workers;
  for (size_t i = 0; i < KernelFaults().size(); ++i) {
    const KernelFault& fault = KernelFaults()[i];
    SCOPED_TRACE(fault.name);
    const BuiltKernel kernel = Build(task, WithFault(good, static_cast<int64_t>(i)));
    MeasureOptions limited = options;
    if (fault.outcomes.contains(kTimedOut)) limited.execution_seconds_limit = 0.3;
    const Measurement measured = measurer_.Measure(task, kernel, limited);
    EXPECT_TRUE(fault.outcomes.contains(measured.outcome))
        << Name(measured.outcome) << " " << measured.reason;
    caught += measured.outcome != kOk;
    if (measured.outcome != kOk) {
      EXPECT_FALSE(measured.reason.empty());
      EXPECT_EQ(measured.timing.seconds, 0);
    }
    RecordProperty(std::string("fault_") + std::to_string(i), measured.reason);
    if (workers.empty()) workers = measurer_.service().WorkerPids();
    EXPECT_EQ(measurer_.service().WorkerPids(), workers) << "the measuring process died";
    const Measurement next = measurer_.Measure(task, good_kernel, options);
    ASSERT_EQ(next.outcome, kOk) << next.reason;
  }
  EXPECT_GE(caught, 50);
}

}  // namespace
}  // namespace attune
