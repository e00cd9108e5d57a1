// A server of jobs beside a FleetOfTest.
#ifndef ATTUNE_PROCESS_SERVER_JOB_SERVER_FOR_TEST_H_
#define ATTUNE_PROCESS_SERVER_JOB_SERVER_FOR_TEST_H_

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "fleet/server/fleet_for_test.h"
#include "service/queue/job_server.h"

namespace attune {

class JobServerOfTest final : public ServiceOfTest {
 public:
  JobServerOfTest(const JobScheduleOptions& options, const FleetParts& parts) {
    auto made = MakeJobServer(options, parts);
    EXPECT_TRUE(made.ok()) << made.status();
    jobs_ = *std::move(made);
  }

  JobServer& jobs() { return *jobs_; }

  ServiceForMembers ForMembers() override {
    return {.service = &jobs_->service(),
            .add_metrics = [this](MetricsText& text) { jobs_->AddMetrics(text); },
            .close = [this](const MemberRefusal& refusal) { jobs_->Close(refusal); }};
  }
  absl::Status Begin() override { return jobs_->Begin(); }
  void Stop() override { jobs_->Stop(); }

 private:
  std::unique_ptr<JobServer> jobs_;
};

}  // namespace attune

#endif  // ATTUNE_PROCESS_SERVER_JOB_SERVER_FOR_TEST_H_
