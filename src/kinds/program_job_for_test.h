// The fixture of tests whose jobs are programs, which these tests write in Python.
#ifndef ATTUNE_KINDS_PROGRAM_JOB_FOR_TEST_H_
#define ATTUNE_KINDS_PROGRAM_JOB_FOR_TEST_H_

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "base/testing/await_that.h"
#include "base/testing/held_file.h"
#include "base/testing/temporary_folder.h"
#include "kinds/kind_functions.h"

namespace attune {

// The beginning of the programs of these tests.
inline constexpr char kPrelude[] = R"(
import fcntl, json, os, subprocess, sys, time
def hold(file):
    held = open(file, 'w')
    fcntl.flock(held, fcntl.LOCK_EX)
    os.set_inheritable(held.fileno(), True)
    return held
def say(file): open(file, 'w').write('x\n')
def send(message): print(json.dumps(message), flush=True)
def receive(): return json.loads(sys.stdin.readline() or '{}')
def stage(name, **more): send({'stage': {'name': name, **more}})
first = receive()
)";

class ProgramJobTest : public ::testing::Test {
 protected:
  ProgramJobTest() { std::filesystem::create_directory(place_.folder); }

  // Makes it the program of the job.
  void Write(const std::string& code) {
    std::ofstream(base_ / "program.py") << kPrelude << code;
    spec_.settings["command"] = {"python3", "program.py"};
  }
  absl::StatusOr<std::unique_ptr<Job>> Open() const { return OpenProgramJob(spec_, place_); }
  absl::Status OpenError() const { return Open().status(); }

  std::string Read(const std::string& file) const {
    std::ostringstream text;
    text << std::ifstream(base_ / file).rdbuf();
    return text.str();
  }
  // Waits for a program to have written a line there.
  std::string AwaitLine(const std::string& file) const {
    std::string text;
    testing::AwaitThat([&] { return (text = Read(file)).ends_with('\n'); });
    return text;
  }

  // Whether the program, or anything that it has started, still is there.
  bool IsAlive() const { return testing::IsHeld(base_ / "alive"); }

  const testing::TemporaryFolder base_;
  JobSpec spec_ = {.id = "one", .kind = "program", .base = base_.path()};
  JobPlace place_ = {
      .id = "one", .folder = base_ / "folder", .processors = 2, .devices = {"device/a", "device/b"}};
};

}  // namespace attune

#endif  // ATTUNE_KINDS_PROGRAM_JOB_FOR_TEST_H_
