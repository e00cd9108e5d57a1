// Runners within one process, for tests.
#ifndef ATTUNE_SERVICE_RUNNER_RUNNER_FOR_TEST_H_
#define ATTUNE_SERVICE_RUNNER_RUNNER_FOR_TEST_H_

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <utility>

#include "service/runner/job_runner.h"

namespace attune {

// A runner that runs until it is destroyed.
class RunnerOfTest {
 public:
  explicit RunnerOfTest(JobRunnerOptions options) {
    auto created = JobRunner::Create(std::move(options));
    EXPECT_TRUE(created.ok()) << created.status();
    runner_ = *std::move(created);
    thread_ = std::thread([this] { ended_ = runner_->Run(); });
  }
  ~RunnerOfTest() {
    runner_->Stop();
    if (thread_.joinable()) thread_.join();
  }

  // Waits until it ends by itself.
  absl::Status AwaitEnd() {
    thread_.join();
    return ended_;
  }

 private:
  std::unique_ptr<JobRunner> runner_;
  absl::Status ended_;
  std::thread thread_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_RUNNER_RUNNER_FOR_TEST_H_
