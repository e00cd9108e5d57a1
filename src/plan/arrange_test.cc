#include "plan/arrange.h"

#include <gtest/gtest.h>

#include "plan/timed_chooser_for_test.h"

namespace attune {
namespace {

class ChooseLayoutOverridesTest : public TimedKernelsTest {
 protected:
  LayoutOverrides Chosen() {
    const absl::StatusOr<LayoutOverrides> overrides = ChooseLayoutOverrides(*graph_, target_, chooser_);
    EXPECT_TRUE(overrides.ok()) << overrides.status();
    return *overrides;
  }
};

TEST_F(ChooseLayoutOverridesTest, TakesWhatIsFaster) {
  Know({}, 2e-3);
  Know({0}, 1e-3);
  EXPECT_EQ(Chosen(), LayoutOverrides{0});
}

TEST_F(ChooseLayoutOverridesTest, KeepsWhatIsFaster) {
  Know({}, 1e-3);
  Know({0}, 2e-3);
  EXPECT_EQ(Chosen(), LayoutOverrides{});
}

TEST_F(ChooseLayoutOverridesTest, KeepsWhatIsPredictedWhereNotAllIsKnown) {
  EXPECT_EQ(Chosen(), LayoutOverrides{});
  Know({0}, 1e-3);
  EXPECT_EQ(Chosen(), LayoutOverrides{});
}

}  // namespace
}  // namespace attune
