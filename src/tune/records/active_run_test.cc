#include "tune/records/active_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tune/records/records_for_test.h"

namespace attune {
namespace {

class ActiveRunTest : public ::testing::Test {
 protected:
  // Adds a run that the database has as running, but that no process works on.
  void AddKilled(const TuningRun& run) { ASSERT_TRUE(records_->BeginRun(run).ok()); }

  static ActiveRun ResumeOrBegin(RecordDatabase& records, const TuningRun& wanted) {
    auto run = ActiveRun::ResumeOrBegin(records, wanted);
    EXPECT_TRUE(run.ok()) << run.status();
    return *std::move(run);
  }
  // Returns the id of the run that `wanted` resumes; "" if it begins a new one. No process works on the run
  // afterwards.
  std::string Resumed(const TuningRun& wanted) {
    const ActiveRun run = ResumeOrBegin(*records_, wanted);
    return run.is_resumed() ? run.run().id : "";
  }

  const RecordsFolder folder_;
  const std::string path_ = folder_ / "records.db";
  std::unique_ptr<RecordDatabase> records_ = MustOpen(path_);
};

// A process that works on a run until it is killed.
class Holder {
 public:
  Holder(const std::string& database, const TuningRun& wanted) {
    int pipe_ends[2];
    if (pipe(pipe_ends) != 0) std::abort();
    pid_ = Fork([&] {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      const std::unique_ptr<RecordDatabase> records = MustOpen(database);
      const auto run = ActiveRun::ResumeOrBegin(*records, wanted);
      std::array<char, 64> answer = {run.ok() && run->is_resumed() ? 'r' : 'b'};
      if (run.ok()) run->run().id.copy(answer.data() + 1, answer.size() - 2);
      if (write(pipe_ends[1], answer.data(), answer.size()) < 0) return 1;
      for (;;) pause();
    });
    close(pipe_ends[1]);
    answer_ = FileDescriptor(pipe_ends[0]);
  }
  ~Holder() { Kill(); }

  void Kill() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

  // Waits until it has a run, and returns "b" (begun) or "r" (resumed) and the id.
  std::string Answer() const {
    std::array<char, 64> answer = {};
    EXPECT_EQ(read(answer_.get(), answer.data(), answer.size()), static_cast<ssize_t>(answer.size()));
    return answer.data();
  }

 private:
  pid_t pid_ = -1;
  FileDescriptor answer_;
};

TEST_F(ActiveRunTest, BeginsWhereThereIsNone) {
  const ActiveRun run = ResumeOrBegin(*records_, SampleRun("mine"));
  EXPECT_FALSE(run.is_resumed());
  EXPECT_EQ(run.run().id, "mine");
  const auto runs = records_->Runs();
  ASSERT_TRUE(runs.ok()) << runs.status();
  ASSERT_EQ(runs->size(), 1);
  EXPECT_EQ(runs->at(0).id, "mine");
  EXPECT_EQ(runs->at(0).state, RunState::kRunning);
}

TEST_F(ActiveRunTest, GoesOnWithOneThatWasKilled) {
  TuningRun killed = SampleRun("killed");
  killed.options = R"({"trials":100,"strategy":"random"})";
  AddKilled(killed);
  TuningRun wanted = SampleRun("mine");
  wanted.start_ms += 1000;
  wanted.options = R"({ "trials": 100,
                        "strategy": "random" })";
  const ActiveRun run = ResumeOrBegin(*records_, wanted);
  EXPECT_TRUE(run.is_resumed());
  EXPECT_EQ(run.run().id, "killed");
  EXPECT_EQ(run.run().start_ms, killed.start_ms);
  const auto runs = records_->Runs();
  ASSERT_TRUE(runs.ok()) << runs.status();
  EXPECT_EQ(runs->size(), 1);
}

TEST_F(ActiveRunTest, OtherWorkIsNotGoneOnWith) {
  AddKilled(SampleRun("killed"));
  const std::pair<const char*, void (*)(TuningRun&)> changes[] = {
      {"model", [](TuningRun& run) { run.model = "vgg16.onnx"; }},
      {"digest", [](TuningRun& run) { run.model_digest = "efgh"; }},
      {"device", [](TuningRun& run) { run.device = "another"; }},
      {"threads", [](TuningRun& run) { run.threads = 1; }},
      {"options", [](TuningRun& run) { run.options = R"({"strategy":"random","trials":101})"; }},
  };
  for (const auto& [what, change] : changes) {
    TuningRun wanted = SampleRun(what);
    change(wanted);
    EXPECT_EQ(Resumed(wanted), "") << what;
  }
  EXPECT_EQ(Resumed(SampleRun("mine")), "killed");
}

TEST_F(ActiveRunTest, WhatHasEndedIsNotGoneOnWith) {
  for (const RunState state : {RunState::kFinished, RunState::kInterrupted}) {
    TuningRun run = SampleRun(std::string(Name(state)));
    AddKilled(run);
    run.state = state;
    run.end_ms = run.start_ms + 1;
    ASSERT_TRUE(records_->FinishRun(run).ok());
  }
  EXPECT_EQ(Resumed(SampleRun("mine")), "");
}

TEST_F(ActiveRunTest, TheNewestComesFirst) {
  for (const int age : {2, 1, 3}) {
    TuningRun run = SampleRun(absl::StrCat("age", age));
    run.start_ms -= age;
    AddKilled(run);
  }
  const ActiveRun first = ResumeOrBegin(*records_, SampleRun("mine"));
  EXPECT_EQ(first.run().id, "age1");
  const ActiveRun second = ResumeOrBegin(*records_, SampleRun("mine"));
  EXPECT_EQ(second.run().id, "age2");
}

TEST_F(ActiveRunTest, OneThatIsWorkedOnIsNotGoneOnWith) {
  {
    const ActiveRun first = ResumeOrBegin(*records_, SampleRun("first"));
    ActiveRun second = ResumeOrBegin(*records_, SampleRun("second"));
    EXPECT_FALSE(second.is_resumed());
    const ActiveRun moved = std::move(second);
    EXPECT_EQ(Resumed(SampleRun("third")), "");
  }
  const ActiveRun again = ResumeOrBegin(*records_, SampleRun("fourth"));
  EXPECT_TRUE(again.is_resumed());
}

TEST_F(ActiveRunTest, WhatAnotherProcessWorksOnIsItsOwnUntilThatIsKilled) {
  records_ = nullptr;  // do not share it with forks
  Holder holder(path_, SampleRun("other"));
  EXPECT_EQ(holder.Answer(), "bother");
  records_ = MustOpen(path_);
  const ActiveRun mine = ResumeOrBegin(*records_, SampleRun("mine"));
  EXPECT_FALSE(mine.is_resumed());
  holder.Kill();
  EXPECT_EQ(Resumed(SampleRun("next")), "other");
}

TEST_F(ActiveRunTest, NoTwoProcessesGetTheSameRun) {
  constexpr size_t kKilled = 3, kProcesses = 8;
  for (size_t i = 0; i < kKilled; ++i) AddKilled(SampleRun(absl::StrCat("killed", i)));
  records_ = nullptr;
  std::vector<std::unique_ptr<Holder>> holders;
  for (size_t i = 0; i < kProcesses; ++i) {
    holders.push_back(std::make_unique<Holder>(path_, SampleRun(absl::StrCat("own", i))));
  }
  std::set<std::string> answers;
  for (const auto& holder : holders) answers.insert(holder->Answer());
  EXPECT_EQ(answers.size(), kProcesses);
  for (size_t i = 0; i < kKilled; ++i) EXPECT_EQ(answers.count(absl::StrCat("rkilled", i)), 1);
  EXPECT_EQ(std::ranges::count_if(answers, [](const std::string& a) { return a.starts_with("bown"); }),
            kProcesses - kKilled);
}

TEST_F(ActiveRunTest, SaysWhereItCannotMarkARun) {
  const std::string marks = path_ + "-runs";
  const auto expect_refused = [&] {
    const auto run = ActiveRun::ResumeOrBegin(*records_, SampleRun("mine"));
    EXPECT_THAT(std::string(run.status().message()), ::testing::HasSubstr(marks));
  };
  ASSERT_EQ(mkdir(marks.c_str(), 0700), 0);
  expect_refused();
  ASSERT_EQ(rmdir(marks.c_str()), 0);
  ASSERT_EQ(symlink((path_ + "-missing").c_str(), marks.c_str()), 0);
  expect_refused();
  EXPECT_NE(access((path_ + "-missing").c_str(), F_OK), 0);
  ASSERT_EQ(unlink(marks.c_str()), 0);
  ASSERT_EQ(mkfifo(marks.c_str(), 0600), 0);
  expect_refused();
}

}  // namespace
}  // namespace attune
