#include "device/shared_core.h"

#include <gtest/gtest.h>

#include "device/topology.h"

namespace attune {
namespace {

TEST(SpeedBeside, IsAShare) {
  const std::vector<int> allowed = AllowedProcessors();
  ASSERT_FALSE(allowed.empty());
  const double speed = SpeedBeside(allowed.front(), std::span(allowed).subspan(1));
  EXPECT_GT(speed, 0);
  EXPECT_LE(speed, 1);
}

}  // namespace
}  // namespace attune
