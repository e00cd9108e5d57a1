#include "tune/task/local_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <ranges>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/testing/await_that.h"
#include "base/testing/child_processes.h"
#include "compile/kernels.h"
#include "plan/kernel_cache.h"
#include "tune/records/records_for_test.h"
#include "tune/task/build_candidate.h"
#include "tune/task/faults_for_test.h"
#include "tune/task/tasks_for_test.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using enum TrialOutcome;

size_t OpenFiles() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

// Whether this process has children, running or not yet reaped.
bool HasChildren() { return waitpid(-1, nullptr, WNOHANG) >= 0; }

TEST(BuildCandidate, IsTheObjectThatIsDeployed) {
  const Target target = HostOfTest();
  const std::pair<const char*, std::set<int>> groups[] = {
      {kConvTask, {1, 2}}, {kMatMulTask, {1}}, {kSoftmaxTask, {}}, {kReluTask, {}}};
  for (const auto& [text, constants] : groups) {
    SCOPED_TRACE(text);
    const TuningTask task = MakeTask(InBlocksOfHost(text), constants);
    NetworkPlan plan;
    KernelCache cache(plan, target, AnalyticChooser());
    const auto index = cache.Get(*task.region, constants);
    ASSERT_TRUE(index.ok()) << index.status();
    const PlannedKernel& planned = plan.kernels[static_cast<size_t>(*index)];
    const auto compiled = CompileKernels({{&planned.nest, {.may_alias = planned.may_alias}}}, target, 1);
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    const auto built = BuildCandidate(task, DefaultCandidate(task), target);
    ASSERT_TRUE(built.ok()) << built.status();
    EXPECT_EQ(built->code_digest, Sha256Hex((*compiled)[0].object));
    EXPECT_EQ(built->prepackings.size(), plan.prepackings.size());
    EXPECT_EQ(built->code.params.size(), planned.nest.params.size());
  }
}

TEST(LocalBuilder, BuildsWhatThisProcessWouldBuild) {
  LocalBuilderOptions options = BuilderOptionsOfTest();
  options.processes = 2;
  LocalBuilder builder(options);
  const TuningTask conv = MakeTask(InBlocksOfHost(kConvTask), {1, 2}), gemm = MakeTask(kMatMulTask, {1}),
                   softmax = MakeTask(kSoftmaxTask);
  std::vector<BuildRequest> requests;
  for (const TuningTask* task : {&conv, &gemm, &softmax, &conv})
    requests.push_back({task, DefaultCandidate(*task)});
  requests.push_back({&conv, {"loops", {}}});
  const std::vector<BuildResult> results = builder.Build(requests);
  ASSERT_EQ(results.size(), requests.size());
  for (size_t i = 0; i < results.size(); ++i) {
    ASSERT_EQ(results[i].outcome, kOk) << results[i].reason;
    EXPECT_GT(results[i].seconds, 0);
    const auto own = BuildCandidate(*requests[i].task, requests[i].candidate, options.target);
    ASSERT_TRUE(own.ok()) << own.status();
    EXPECT_EQ(results[i].kernel.code_digest, own->code_digest);
    EXPECT_EQ(results[i].kernel.code.bytes, own->code.bytes);
  }
  EXPECT_NE(results[0].kernel.code_digest, results[4].kernel.code_digest);
  EXPECT_EQ(builder.WorkerPids().size(), 2U);
  EXPECT_TRUE(builder.Build({}).empty());
}

TEST(LocalBuilder, BuildsForTheTargetThatItIsGiven) {
  const TuningTask task = MakeTask(kSiluTask);
  for (const char* name : {"haswell", "znver4", "sapphirerapids"}) {
    LocalBuilderOptions options = BuilderOptionsOfTest();
    options.target = *TargetByName(name);
    LocalBuilder builder(options);
    const BuildResult result = BuildOne(builder, task, DefaultCandidate(task));
    ASSERT_EQ(result.outcome, kOk) << result.reason;
    const auto own = BuildCandidate(task, DefaultCandidate(task), options.target);
    ASSERT_TRUE(own.ok()) << own.status();
    EXPECT_EQ(result.kernel.code_digest, own->code_digest) << name;
  }
}

TEST(LocalBuilder, WhatCannotBeBuiltSaysWhy) {
  LocalBuilder builder(BuilderOptionsOfTest());
  const TuningTask task = MakeTask(kSoftmaxTask);
  const BuildResult unknown = BuildOne(builder, task, {"no_such_strategy", {}});
  EXPECT_EQ(unknown.outcome, kBuildFailed);
  EXPECT_THAT(unknown.reason, HasSubstr("no_such_strategy"));
  const BuildResult unfit = BuildOne(builder, task, {"conv_direct", {}});
  EXPECT_EQ(unfit.outcome, kBuildFailed);
  EXPECT_THAT(unfit.reason, HasSubstr("does not apply"));
  const TuningTask conv = MakeTask(InBlocksOfHost(kConvTask), {1, 2});
  const BuildResult without_knobs = BuildOne(builder, conv, {"conv_direct", {}});
  EXPECT_EQ(without_knobs.outcome, kBuildFailed) << without_knobs.reason;
}

TEST(LocalBuilder, AWorkerThatFailsCostsItsCandidateAlone) {
  LocalBuilderOptions options = BuilderOptionsOfTest();
  options.processes = 2;
  options.address_space_bytes = int64_t{3} << 30;
  const TuningTask task = MakeTask(kReluTask);
  const Candidate good = DefaultCandidate(task);
  const std::tuple<int64_t, TrialOutcome, const char*> faults[] = {
      {kAbort, kCrashed, "something is badly wrong"},
      {kSegmentationFault, kCrashed, "Segmentation fault"},
      {kExit, kCrashed, "exit status 3"},
      {kHang, kTimedOut, "building took longer than"},
      {kMemory, kOutOfMemory, "out of memory"},
      {kChatter, kCrashed, "exit status 4"}};
  std::vector<BuildRequest> requests;
  for (const auto& fault : faults) {
    requests.push_back({&task, WithFault(good, std::get<0>(fault))});
    requests.push_back({&task, good});
  }
  // Valid candidates are built in time where there is enough of it, which depends on the machine.
  std::vector<BuildResult> results;
  const auto has_ended_late = [&](size_t i) {
    return requests[i].candidate.config != WithFault(good, kHang).config && results[i].outcome == kTimedOut;
  };
  for (options.seconds_limit = 0.5;; options.seconds_limit *= 2) {
    results = LocalBuilder(options).Build(requests);
    if (std::ranges::none_of(std::views::iota(size_t{0}, results.size()), has_ended_late)) break;
  }
  for (size_t i = 0; i < std::size(faults); ++i) {
    EXPECT_EQ(results[2 * i].outcome, std::get<1>(faults[i])) << results[2 * i].reason;
    EXPECT_THAT(results[2 * i].reason, HasSubstr(std::get<2>(faults[i])));
    EXPECT_EQ(results[2 * i + 1].outcome, kOk) << results[2 * i + 1].reason;
  }
}

TEST(LocalBuilder, AWorkerThatIsKilledIsReplacedAndItsCandidateBuiltAgain) {
  LocalBuilder builder(BuilderOptionsOfTest());
  const TuningTask task = MakeTask(kReluTask);
  const Candidate good = DefaultCandidate(task);
  ASSERT_EQ(BuildOne(builder, task, good).outcome, kOk);
  const std::vector<pid_t> before = builder.WorkerPids();
  ASSERT_EQ(before.size(), 1U);
  std::thread killer([&] {
    testing::AwaitThat([&] { return testing::IsStopped(before[0]); });
    kill(before[0], SIGKILL);
    // The one in its place stops, too.
    testing::AwaitThat([&] {
      for (const pid_t child : testing::ChildrenOf(getpid()))
        if (child != before[0] && testing::IsStopped(child)) return kill(child, SIGCONT) == 0;
      return false;
    });
  });
  const BuildResult result = BuildOne(builder, task, WithFault(good, kStops));
  killer.join();
  EXPECT_EQ(result.outcome, kOk) << result.reason;
  EXPECT_NE(builder.WorkerPids(), before);

  kill(builder.WorkerPids().at(0), SIGKILL);  // while it is idle
  EXPECT_EQ(BuildOne(builder, task, good).outcome, kOk);
}

TEST(LocalBuilder, LeavesNoProcessesAndNoFiles) {
  const size_t files = OpenFiles();
  {
    LocalBuilderOptions options = BuilderOptionsOfTest();
    options.processes = 3;
    options.seconds_limit = 1;
    LocalBuilder builder(options);
    const TuningTask task = MakeTask(kReluTask);
    std::vector<BuildRequest> requests(6, {&task, DefaultCandidate(task)});
    requests[1].candidate = WithFault(requests[1].candidate, kHang);
    requests[2].candidate = WithFault(requests[2].candidate, kAbort);
    builder.Build(requests);
    EXPECT_GT(OpenFiles(), files);
  }
  EXPECT_EQ(OpenFiles(), files);
  EXPECT_FALSE(HasChildren());
}

TEST(LocalBuilder, AProgramThatIsNoWorkerIsAnErrorOfTheBuilder) {
  LocalBuilderOptions options = BuilderOptionsOfTest();
  const TuningTask task = MakeTask(kReluTask);
  for (const char* program : {"/nonexistent/program", "/bin/true"}) {
    options.worker_program = program;
    LocalBuilder builder(options);
    const BuildResult result = BuildOne(builder, task, DefaultCandidate(task));
    EXPECT_EQ(result.outcome, kRetry);
    EXPECT_THAT(result.reason, HasSubstr(program));
  }
  options.worker_program = "/bin/cat";
  options.start_seconds_limit = 0.2;
  LocalBuilder builder(options);
  EXPECT_EQ(BuildOne(builder, task, DefaultCandidate(task)).outcome, kRetry);
  EXPECT_FALSE(HasChildren());
}

TEST(LocalBuilder, AWorkerSeesLittleOfTheEnvironment) {
  const RecordsFolder folder;
  const std::string program = folder / "worker", seen = folder / "seen";
  WriteAll(program, "#!/bin/sh\nenv > " + seen + "\n");
  ASSERT_EQ(chmod(program.c_str(), 0755), 0);
  ASSERT_EQ(setenv("ATTUNE_TEST_SECRET", "secret", 1), 0);
  ASSERT_EQ(setenv("UBSAN_OPTIONS", "print_stacktrace=1", 0), 0);
  LocalBuilderOptions options = BuilderOptionsOfTest();
  options.worker_program = program;
  LocalBuilder builder(options);
  const TuningTask task = MakeTask(kReluTask);
  EXPECT_EQ(BuildOne(builder, task, DefaultCandidate(task)).outcome, kRetry);
  unsetenv("ATTUNE_TEST_SECRET");
  const std::string environment = *ReadFile(seen, 1 << 20);
  EXPECT_THAT(environment, HasSubstr("UBSAN_OPTIONS="));
  EXPECT_THAT(environment, Not(HasSubstr("secret")));
}

TEST(LocalBuilder, TooFewDescriptorsAreSaid) {
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few = {16, before.rlim_max};
  LocalBuilder builder(BuilderOptionsOfTest());
  const TuningTask task = MakeTask(kReluTask);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  const BuildResult result = BuildOne(builder, task, DefaultCandidate(task));
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(result.outcome, kRetry);
  EXPECT_THAT(result.reason, HasSubstr("ulimit -n"));
}

}  // namespace
}  // namespace attune
