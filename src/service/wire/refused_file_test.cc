#include <gtest/gtest.h>

#include "base/status.h"
#include "service/wire/job_files.h"

namespace attune {
namespace {

const absl::Status kFull = absl::ResourceExhaustedError("no room");

TEST(RefusedFileTest, TheMarkTravelsWithTheError) {
  const grpc::Status sent = ToRpc(RefusedFile(kFull));
  // A peer that does not know the mark sees the error as it is.
  EXPECT_EQ(sent.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(sent.error_message(), "no room");
  const absl::Status received = FromRpc(sent);
  EXPECT_TRUE(absl::IsResourceExhausted(received));
  EXPECT_EQ(received.message(), "no room");
  EXPECT_TRUE(IsRefusedFile(received));
  EXPECT_TRUE(IsRefusedFile(Annotate(received, "out/x")));
}

TEST(RefusedFileTest, OtherErrorsHaveNone) {
  EXPECT_EQ(ToRpc(kFull).error_details(), "");
  EXPECT_EQ(FromRpc(ToRpc(kFull)), kFull);
  EXPECT_FALSE(IsRefusedFile(FromRpc(ToRpc(kFull))));
  EXPECT_FALSE(IsRefusedFile(FromRpc({grpc::StatusCode::RESOURCE_EXHAUSTED, "no room", "another detail"})));
  EXPECT_FALSE(IsRefusedFile(absl::OkStatus()));
  EXPECT_FALSE(IsRefusedFile(RefusedFile(absl::OkStatus())));
  EXPECT_TRUE(ToRpc(RefusedFile(absl::OkStatus())).ok());
}

}  // namespace
}  // namespace attune
