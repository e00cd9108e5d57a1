#include "work/driver/runner_processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <string>
#include <variant>
#include <vector>

#include "base/file_descriptor.h"
#include "base/process/message.h"
#include "base/process/worker_process.h"
#include "base/testing/temporary_folder.h"
#include "work/driver/runner_messages.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

// The message as it is on a socket.
std::string Framed(const std::string& payload) {
  int ends[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  FileDescriptor to(ends[0]);
  const FileDescriptor from(ends[1]);
  EXPECT_TRUE(SendMessage(to.get(), payload, After(10)).ok());
  to.Close();
  std::string bytes;
  std::array<char, 4096> some;
  for (ssize_t count = 0; (count = read(from.get(), some.data(), some.size())) > 0;)
    bytes.append(some.data(), static_cast<size_t>(count));
  return bytes;
}

class RunnerProcessesTest : public ::testing::Test {
 protected:
  // A program that says this, whatever it is told, and stays.
  std::string ProgramThatSays(const std::vector<RunnerReport>& reports) const {
    std::string said = Framed(WorkerGreeting());
    for (const RunnerReport& report : reports) said += Framed(Encode(report));
    std::ofstream(folder_ / "said") << said;
    std::string program = folder_ / "program";
    std::ofstream(program) << "#!/bin/sh\ncat " << folder_ / "said" << " >&3\nexec sleep 1000\n";
    chmod(program.c_str(), S_IRWXU);
    return program;
  }
  // The result of its stage, once it has been told to run it.
  static std::vector<RunnerEvent> Run(RunnerProcesses& processes, size_t events) {
    const auto runner = processes.Start(0);
    EXPECT_TRUE(runner.ok()) << runner.status();
    processes.Send(*runner, RunStage());
    std::vector<RunnerEvent> seen;
    while (seen.size() < events)
      for (RunnerEvent& event : processes.Await(1)) seen.push_back(std::move(event));
    return seen;
  }

  const testing::TemporaryFolder folder_;
};

TEST_F(RunnerProcessesTest, AStageThatWasBegunIsReportedOnce) {
  RunnerProcesses processes(
      ProgramThatSays({RunnerRegistered{{"mock"}}, RunnerStageEnded(), RunnerStageEnded()}));
  const std::vector<RunnerEvent> seen = Run(processes, 3);
  EXPECT_TRUE(std::holds_alternative<RunnerReport>(seen[1].what));
  const auto* lost = std::get_if<RunnerLost>(&seen[2].what);
  ASSERT_NE(lost, nullptr);
  EXPECT_THAT(lost->reason, HasSubstr("was not asked for"));
  EXPECT_TRUE(processes.Pids().empty());
}

TEST_F(RunnerProcessesTest, AProcessSaysOnceWhatItCanDo) {
  RunnerProcesses processes(ProgramThatSays({RunnerRegistered{{"mock"}}, RunnerRegistered{{"mock"}}}));
  const std::vector<RunnerEvent> seen = Run(processes, 2);
  EXPECT_TRUE(std::holds_alternative<RunnerLost>(seen[1].what));
}

}  // namespace
}  // namespace attune
