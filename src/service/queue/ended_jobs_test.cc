#include "service/queue/ended_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace attune {
namespace {

using ::testing::ElementsAre;

TEST(EndedJobsTest, OneListensAtATime) {
  EndedJobs jobs;
  jobs.Tell("before");
  std::vector<std::string> first, second;
  jobs.Listen([&](const std::string& job) { first.push_back(job); });
  jobs.Tell("a");
  jobs.Listen([&](const std::string& job) { second.push_back(job); });
  jobs.Tell("b");
  jobs.Listen(nullptr);
  jobs.Tell("after");
  EXPECT_THAT(first, ElementsAre("a"));
  EXPECT_THAT(second, ElementsAre("b"));
}

}  // namespace
}  // namespace attune
