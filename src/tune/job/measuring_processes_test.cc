// No processes remain after building and measuring.
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

#include "base/testing/await_that.h"
#include "base/testing/child_processes.h"
#include "tune/task/faults_for_test.h"
#include "tune/task/service_for_test.h"
#include "tune/task/tasks_for_test.h"

namespace attune {
namespace {

// All processes started by `pid`, directly or indirectly, that are running now.
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

TEST(LocalService, NothingOutlivesATunerThatIsKilled) {
  const pid_t tuner = fork();
  if (tuner == 0) {
    LocalBuilderOptions builder_options = BuilderOptionsOfTest();
    builder_options.seconds_limit = 60;
    LocalBuilder builder(builder_options), other(builder_options);
    MeasurerOfTest measurer;
    const TuningTask task = MakeTask(kReluTask);
    const auto endless =
        std::find_if(KernelFaults().begin(), KernelFaults().end(),
                     [](const KernelFault& fault) { return fault.name == "an endless loop"; });
    const BuildResult built =
        BuildOne(builder, task, WithFault(DefaultCandidate(task), endless - KernelFaults().begin()));
    std::thread([&] { BuildOne(other, task, WithFault(DefaultCandidate(task), kHang)); }).detach();
    MeasureOptions options = QuickOptions();
    options.execution_seconds_limit = 60;
    measurer.Measure(task, built.kernel, options);
    _exit(0);
  }
  constexpr size_t kProcesses = 4;  // two builders, a measuring process and its kernel
  std::vector<pid_t> workers;
  testing::AwaitThat([&] { return (workers = Descendants(tuner)).size() >= kProcesses; });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // until the kernel is running
  kill(tuner, SIGKILL);
  waitpid(tuner, nullptr, 0);
  ASSERT_EQ(workers.size(), kProcesses);
  testing::AwaitThat([&] { return std::ranges::all_of(workers, testing::HasEnded); });
}

TEST(LocalService, LeavesNoProcessesAndNoFiles) {
  const auto files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                         std::filesystem::directory_iterator());
  };
  const auto before = files();
  {
    LocalBuilder builder(BuilderOptionsOfTest());
    MeasurerOfTest measurer;
    for (const char* text : {kReluTask, kSoftmaxTask}) {
      const TuningTask task = MakeTask(text);
      const BuildResult built = BuildOne(builder, task, DefaultCandidate(task));
      EXPECT_EQ(measurer.Measure(task, built.kernel, QuickOptions()).outcome, TrialOutcome::kOk);
    }
  }
  EXPECT_EQ(files(), before);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
}

}  // namespace
}  // namespace attune
