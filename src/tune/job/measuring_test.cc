#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "measure/local_measurer.h"
#include "target/products.h"
#include "tune/task/faults_for_test.h"
#include "tune/task/tasks_for_test.h"

namespace attune {
namespace {

using testing::HasSubstr;
using enum TrialOutcome;

class LocalMeasurerTest : public testing::Test {
 protected:
  BuiltKernel Build(const TuningTask& task, const Candidate& candidate) {
    BuildResult result = BuildOne(builder_, task, candidate);
    EXPECT_EQ(result.outcome, kOk) << result.reason;
    return std::move(result.kernel);
  }
  Measurement Measure(const TuningTask& task, const Candidate& candidate, const MeasureOptions& options) {
    return measurer_.Measure(task, Build(task, candidate), options, nullptr);
  }

  LocalBuilder builder_{BuilderOptionsOfTest()};
  LocalMeasurer measurer_{LocalMeasurerOptions()};
};

TEST_F(LocalMeasurerTest, MeasuresGoodKernelsInEachMode) {
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

// Each strategy that applies, so that Winograd's bounds are met too.
TEST_F(LocalMeasurerTest, EveryStrategysDefaultIsRight) {
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

TEST_F(LocalMeasurerTest, TasksOfOtherTypesAndShapes) {
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

TEST_F(LocalMeasurerTest, TheIncumbentRunsInTurns) {
  const TuningTask task = MakeTask(InBlocksOfHost(kConvTask), {1, 2});
  const BuiltKernel fast = Build(task, DefaultCandidate(task)), slow = Build(task, {"loops", {}});
  MeasureOptions options = QuickOptions();
  options.abandon_ratio = 0;
  const Incumbent incumbent = {&fast, 1e-5};
  const Measurement same = measurer_.Measure(task, fast, options, &incumbent);
  ASSERT_EQ(same.outcome, kOk) << same.reason;
  EXPECT_GT(same.ratio, 0.5);
  EXPECT_LT(same.ratio, 2);
  EXPECT_GT(same.incumbent_seconds, 0);
  EXPECT_DOUBLE_EQ(same.normalized_seconds, same.ratio * 1e-5);

  const Measurement worse = measurer_.Measure(task, slow, options, &incumbent);
  ASSERT_EQ(worse.outcome, kOk) << worse.reason;
  EXPECT_GT(worse.ratio, 2);
  options.abandon_ratio = 1.3;
  EXPECT_TRUE(measurer_.Measure(task, slow, options, &incumbent).abandoned);
}

TEST_F(LocalMeasurerTest, ARunnerThatIsKilledIsReplaced) {
  const TuningTask task = MakeTask(kReluTask);
  const BuiltKernel kernel = Build(task, DefaultCandidate(task));
  ASSERT_EQ(measurer_.Measure(task, kernel, QuickOptions(), nullptr).outcome, kOk);
  const pid_t before = measurer_.RunnerPid();
  kill(before, SIGKILL);
  const Measurement again = measurer_.Measure(task, kernel, QuickOptions(), nullptr);
  EXPECT_EQ(again.outcome, kOk) << again.reason;
  EXPECT_NE(measurer_.RunnerPid(), before);
}

TEST_F(LocalMeasurerTest, WhatIsTooLargeIsSaidToBe) {
  const TuningTask task = MakeTask(kReluTask);
  MeasureOptions options = QuickOptions();
  options.memory_bytes_limit = 1 << 10;
  const BuiltKernel kernel = Build(task, DefaultCandidate(task));
  const Measurement measured = measurer_.Measure(task, kernel, options, nullptr);
  EXPECT_EQ(measured.outcome, kOutOfMemory);
  EXPECT_THAT(measured.reason, HasSubstr("limit"));
}

TEST_F(LocalMeasurerTest, AKernelOfAnotherTaskIsRefused) {
  const TuningTask relu = MakeTask(kReluTask), softmax = MakeTask(kSoftmaxTask);
  const BuiltKernel kernel = Build(softmax, DefaultCandidate(softmax));
  const Measurement measured = measurer_.Measure(relu, kernel, QuickOptions(), nullptr);
  EXPECT_EQ(measured.outcome, kRetry);
  EXPECT_THAT(measured.reason, HasSubstr("not for this task"));
}

TEST_F(LocalMeasurerTest, BadPreparationsAreTheCandidatesFault) {
  const TuningTask task = MakeTask(InBlocksOfHost(kConvTask), {1, 2});
  BuiltKernel kernel = Build(task, DefaultCandidate(task));
  ASSERT_FALSE(kernel.preparations.empty());
  const std::string good = kernel.preparations[0].bytes;
  const auto replace = [&](std::string_view code) {
    kernel.preparations[0].bytes.replace(static_cast<size_t>(kernel.preparations[0].phases[0].offset),
                                         code.size(), code);
    return measurer_.Measure(task, kernel, QuickOptions(), nullptr);
  };
  const Measurement crashed = replace({"\x0F\x0B", 2});
  EXPECT_EQ(crashed.outcome, kCrashed);
  EXPECT_THAT(crashed.reason, HasSubstr("preparation 0"));
  EXPECT_EQ(replace({"\x31\xC0\xC3", 3}).outcome, kWrongResult);  // leaves it unwritten
  kernel.preparations[0].bytes = good;
  EXPECT_EQ(measurer_.Measure(task, kernel, QuickOptions(), nullptr).outcome, kOk);
}

// The processes of kernels may use them, and in time: no system call is left to a kernel that asks itself.
TEST_F(LocalMeasurerTest, KernelsMayUseTiles) {
  if (!HasProducts(kMatrixInstructions, HostOfTest())) GTEST_SKIP() << "this processor has no tiles";
  const TuningTask task = MakeTask(kReluTask);
  BuiltKernel kernel = Build(task, DefaultCandidate(task));
  // One tile of 16 rows of 64 bytes: ldtilecfg, tilezero, tilerelease; then 0 is returned.
  constexpr std::string_view kCode(
      "\xC5\xF9\xEF\xC0\xC5\xFE\x7F\x44\x24\xC0\xC5\xFE\x7F\x44\x24\xE0\xC6\x44\x24\xC0\x01"
      "\xC6\x44\x24\xD0\x40\xC6\x44\x24\xF0\x10\xC4\xE2\x78\x49\x44\x24\xC0"
      "\xC4\xE2\x7B\x49\xC0\xC4\xE2\x78\x49\xC0\x31\xC0\xC3",
      51);
  kernel.code.bytes.replace(static_cast<size_t>(kernel.code.phases[0].offset), kCode.size(), kCode);
  const Measurement measured = measurer_.Measure(task, kernel, QuickOptions(), nullptr);
  EXPECT_EQ(measured.outcome, kWrongResult) << measured.reason;  // and no crash
}

// Who computes and who measures at the same time is machine_use_test.cc's.
TEST_F(LocalMeasurerTest, BuilderAndMeasurerShareTheirCores) {
  const auto use = std::make_shared<MachineUse>();
  LocalBuilderOptions builder_options = BuilderOptionsOfTest();
  builder_options.use = use;
  LocalBuilder builder(builder_options);
  LocalMeasurer measurer({.worker_program = "", .use = use});
  const TuningTask task = MakeTask(kReluTask);
  const BuiltKernel kernel = Build(task, DefaultCandidate(task));
  std::thread other([&] {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(BuildOne(builder, task, DefaultCandidate(task)).outcome, kOk);
  });
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(measurer.Measure(task, kernel, QuickOptions(), nullptr).outcome, kOk);
  }
  other.join();
}

// Every one is caught, and what comes after it is not disturbed.
TEST_F(LocalMeasurerTest, BadKernelsAreCaught) {
  const TuningTask task = MakeTask(kReluTask);
  const Candidate good = DefaultCandidate(task);
  const BuiltKernel good_kernel = Build(task, good);
  MeasureOptions options = QuickOptions();
  options.threads = 2;
  options.execution_seconds_limit = 0.3;
  options.seconds_limit = 0.02;
  int64_t caught = 0;
  pid_t runner = -1;
  for (size_t i = 0; i < KernelFaults().size(); ++i) {
    const KernelFault& fault = KernelFaults()[i];
    SCOPED_TRACE(fault.name);
    const BuiltKernel kernel = Build(task, WithFault(good, static_cast<int64_t>(i)));
    const Measurement measured = measurer_.Measure(task, kernel, options, nullptr);
    EXPECT_TRUE(fault.outcomes.contains(measured.outcome))
        << Name(measured.outcome) << " " << measured.reason;
    caught += measured.outcome != kOk;
    if (measured.outcome != kOk) {
      EXPECT_FALSE(measured.reason.empty());
      EXPECT_EQ(measured.timing.seconds, 0);
    }
    RecordProperty(std::string("fault_") + std::to_string(i), measured.reason);
    if (runner < 0) runner = measurer_.RunnerPid();
    EXPECT_EQ(measurer_.RunnerPid(), runner) << "the runner died";
    const Measurement next = measurer_.Measure(task, good_kernel, options, nullptr);
    ASSERT_EQ(next.outcome, kOk) << next.reason;
  }
  EXPECT_GE(caught, 50);
}

// The processes that `pid` and their like have started, found while they run.
std::vector<pid_t> Descendants(pid_t pid) {
  std::vector<pid_t> found;
  std::error_code error;
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks, error)) {
    std::ifstream children(task.path() / "children");
    for (pid_t child; children >> child;) {
      found.push_back(child);
      for (const pid_t further : Descendants(child)) found.push_back(further);
    }
  }
  return found;
}

// Whether the process is there and no zombie, for which whoever adopted it may not have waited.
bool IsRunning(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string number, name, state;
  return (file >> number >> name >> state) && state != "Z";
}

TEST(LocalMeasurer, NothingOutlivesATunerThatIsKilled) {
  const pid_t tuner = fork();
  if (tuner == 0) {
    LocalBuilderOptions builder_options = BuilderOptionsOfTest();
    builder_options.seconds_limit = 60;
    LocalBuilder builder(builder_options), other(builder_options);
    LocalMeasurer measurer{LocalMeasurerOptions()};
    const TuningTask task = MakeTask(kReluTask);
    const auto endless =
        std::find_if(KernelFaults().begin(), KernelFaults().end(),
                     [](const KernelFault& fault) { return fault.name == "an endless loop"; });
    const BuildResult built =
        BuildOne(builder, task, WithFault(DefaultCandidate(task), endless - KernelFaults().begin()));
    std::thread([&] { BuildOne(other, task, WithFault(DefaultCandidate(task), kHang)); }).detach();
    MeasureOptions options = QuickOptions();
    options.execution_seconds_limit = 60;
    measurer.Measure(task, built.kernel, options, nullptr);
    _exit(0);
  }
  constexpr size_t kProcesses = 4;  // two builders, a runner and its kernel
  std::vector<pid_t> workers;
  for (int i = 0; i < 1000 && workers.size() < kProcesses; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    workers = Descendants(tuner);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // until the kernel is what runs there
  kill(tuner, SIGKILL);
  waitpid(tuner, nullptr, 0);
  ASSERT_EQ(workers.size(), kProcesses);
  const auto any_is_running = [&] { return std::any_of(workers.begin(), workers.end(), IsRunning); };
  for (int i = 0; i < 1000 && any_is_running(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(any_is_running());
}

TEST(LocalMeasurer, LeavesNoProcessesAndNoFiles) {
  const auto files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                         std::filesystem::directory_iterator());
  };
  const auto before = files();
  {
    LocalBuilder builder(BuilderOptionsOfTest());
    LocalMeasurer measurer{LocalMeasurerOptions()};
    for (const char* text : {kReluTask, kSoftmaxTask}) {
      const TuningTask task = MakeTask(text);
      const BuildResult built = BuildOne(builder, task, DefaultCandidate(task));
      EXPECT_EQ(measurer.Measure(task, built.kernel, QuickOptions(), nullptr).outcome, kOk);
    }
  }
  EXPECT_EQ(files(), before);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
}

}  // namespace
}  // namespace attune
