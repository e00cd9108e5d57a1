#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fleet/serving/made_up_devices_for_test.h"
#include "service/agreement/job_forecast.h"
#include "service/agreement/promises_of_job.h"

namespace attune {
namespace {

namespace proto = jobs_service_proto;

class JobsAheadTest : public ::testing::Test {
 protected:
  JobsAheadTest() {
    devices_.Add("desk/cpu", "desk");
    devices_.Add("attic/cpu", "attic");
  }

  static proto::Job On(const std::string& key, double remaining_seconds = 0) {
    proto::Job job;
    job.set_owner("bob");
    job.set_on(key);
    job.set_remaining_seconds(remaining_seconds);
    return job;
  }
  std::vector<double> Remaining(const std::vector<proto::Job>& unfinished) {
    std::vector<double> remaining;
    for (const JobAhead& job : JobsAheadOf("ann", "desk", unfinished, devices_))
      remaining.push_back(job.remaining_seconds);
    return remaining;
  }

  MadeUpDevices devices_;
};

TEST_F(JobsAheadTest, ThoseOnTheSameDevicesAreAhead) {
  EXPECT_EQ(Remaining({On("desk", 7), On("attic", 8), On("", 9), On("desk", 10)}),
            (std::vector<double>{7, 10}));
}

TEST_F(JobsAheadTest, BeforeItsFirstStageTheAgreementTells) {
  proto::Job agreed = On("desk");
  agreed.set_agreement(KeptAgreement{.finish_seconds = 12}.ToText());
  proto::Job unknown = On("desk");
  EXPECT_EQ(Remaining({agreed, unknown}), (std::vector<double>{12, 30}));
  // A job's own forecast may be lower by now.
  agreed.set_remaining_seconds(5);
  EXPECT_EQ(Remaining({agreed}), (std::vector<double>{5}));
}

}  // namespace
}  // namespace attune
