#include "service/access/problems.h"

#include <gtest/gtest.h>

#include "base/status.h"

namespace attune {
namespace {

TEST(ServiceProblemTest, WhatPassesIsToBeAskedAgain) {
  const absl::Status busy = Passing(absl::UnavailableError("blob 12: is being checked"));
  const HttpResponse problem = ServiceProblem(Annotate(busy, "/inputs/1"));
  EXPECT_EQ(problem.status, 429);
  EXPECT_EQ(problem.headers.at("Retry-After"), "1");
  EXPECT_EQ(ServiceProblem(absl::UnavailableError("the server is ending")).status, 503);
}

}  // namespace
}  // namespace attune
