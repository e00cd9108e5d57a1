#include "work/admission/job_admission.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

int64_t Two(const JobGroup& /*group*/) { return 2; }

TEST(JobAdmission, TakesSoManyOfEachGroupInTheirOrder) {
  JobAdmission admission;
  admission.Wait(1, {"a"}, 3);
  admission.Wait(2, {"a"}, 1);
  admission.Wait(3, {"a"}, 2);
  admission.Wait(4, {"b"}, 9);
  EXPECT_EQ(admission.Take(Two), 2);
  EXPECT_EQ(admission.Take(Two), 3);
  EXPECT_EQ(admission.Take(Two), 4);
  EXPECT_EQ(admission.Take(Two), std::nullopt);
  EXPECT_FALSE(admission.is_empty());
  admission.Forget(3);
  EXPECT_EQ(admission.Take(Two), 1);
  EXPECT_TRUE(admission.is_empty());
}

TEST(JobAdmission, OneThatIsRefusedLeavesRoomUnlessItIsInMemory) {
  JobAdmission admission;
  for (const size_t job : {1, 2, 3}) admission.Wait(job, {}, static_cast<double>(job));
  EXPECT_EQ(admission.Take(Two), 1);
  admission.Refuse(1, "no host", /*is_in_memory=*/false);
  EXPECT_EQ(admission.RefusalOf(1), "no host");
  EXPECT_EQ(admission.Take(Two), 2);
  admission.Refuse(2, "no device", /*is_in_memory=*/true);
  EXPECT_EQ(admission.Take(Two), 3);
  for (const size_t job : admission.TakeRefused()) admission.Wait(job, {}, 0);
  EXPECT_EQ(admission.RefusalOf(1), "");
  // The started job continues, and the other one waits for room.
  EXPECT_EQ(admission.Take(Two), 2);
  EXPECT_EQ(admission.Take(Two), std::nullopt);
  admission.Withdraw(1);
  EXPECT_TRUE(admission.is_empty());
}

TEST(JobAdmission, AllOfAGroupMayBeRefusedAndForgotten) {
  for (const bool is_forgotten : {true, false}) {
    JobAdmission admission;
    for (const size_t job : {1, 2, 3}) {
      admission.Wait(job, {"a"}, 0);
      EXPECT_EQ(admission.Take(Two), job);
      admission.Refuse(job, "no host", /*is_in_memory=*/false);
    }
    admission.Forget(1);
    if (is_forgotten) admission.Forget(2);
    admission.Withdraw(2);
    admission.Refuse(3, "no host still", /*is_in_memory=*/false);
    admission.Forget(3);
    EXPECT_EQ(admission.RefusalOf(3), "");
    EXPECT_TRUE(admission.is_empty());
  }
}

}  // namespace
}  // namespace attune
