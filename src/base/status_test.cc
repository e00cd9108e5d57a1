#include "base/status.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

TEST(AnnotateTest, KeepsWhatIsKnownOfTheError) {
  const absl::Status error = Annotate(Passing(absl::UnavailableError("is busy")), "file");
  EXPECT_EQ(error.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(error.message(), "file: is busy");
  EXPECT_TRUE(IsPassing(error));
  EXPECT_FALSE(IsPassing(Annotate(absl::UnavailableError("is away"), "file")));
}

TEST(AnnotateTest, OkStaysOk) { EXPECT_TRUE(Annotate(absl::OkStatus(), "file").ok()); }

}  // namespace
}  // namespace attune
