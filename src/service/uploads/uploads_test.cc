#include "service/uploads/uploads.h"

#include <gmock/gmock.h>

#include <set>
#include <vector>

#include "base/file.h"
#include "base/testing/manual_clock.h"
#include "base/testing/temporary_folder.h"
#include "service/state/service_store.h"

namespace attune {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr double kDay = 86'400;

class UploadsTest : public ::testing::Test {
 protected:
  // Sends the first bytes of a text, and returns the digest of the whole.
  std::string Send(const std::string& tenant, const std::string& text, size_t bytes = std::string::npos) {
    const std::string digest = Sha256Hex(text);
    EXPECT_TRUE(uploads_.Begin(tenant, digest, std::ssize(text)).ok());
    EXPECT_TRUE(uploads_.Append(tenant, digest, 0, text.substr(0, bytes)).ok());
    return digest;
  }
  // Digests of those that are left.
  std::vector<std::string> Left(const std::string& tenant, const std::set<std::string>& needed = {}) {
    const absl::Status removed = uploads_.RemoveResting([&](const std::string&) { return needed; });
    EXPECT_TRUE(removed.ok()) << removed;
    std::vector<std::string> digests;
    const auto uploads = store_->Uploads(tenant);
    for (const KnownUpload& upload : *uploads) digests.push_back(upload.digest);
    return digests;
  }

  const testing::TemporaryFolder folder_;
  ManualClock clock_;
  const std::unique_ptr<ServiceStore> store_ = *ServiceStore::Open(SqlLocation(folder_.path()));
  const std::unique_ptr<BlobStore> blobs_ = *BlobStore::Open(folder_.path() + "/uploads", {});
  Uploads uploads_{*store_, *blobs_, {.rest_days = 7}, clock_};
};

TEST_F(UploadsTest, ThoseThatNobodyNeedsGoAfterAWhile) {
  const std::string used = Send("ann", "used"), rests = Send("ann", "rests"), of_model = Send("ann", "model");
  const std::string others = Send("bob", "rests");
  clock_.Advance(6 * kDay);
  EXPECT_TRUE(uploads_.Find("ann", used).ok());
  EXPECT_THAT(Left("ann"), UnorderedElementsAre(used, rests, of_model));
  clock_.Advance(2 * kDay);
  EXPECT_THAT(Left("ann", {of_model}), UnorderedElementsAre(used, of_model));
  EXPECT_THAT(*store_->Uploads("bob"), IsEmpty());
  EXPECT_FALSE(blobs_->Has("ann", rests));
  EXPECT_TRUE(blobs_->Has("ann", of_model));
  EXPECT_TRUE(absl::IsNotFound(uploads_.Find("ann", rests).status()));
}

TEST_F(UploadsTest, ThoseThatNobodyGoesOnWithGoEarlier) {
  const std::string part = Send("ann", "a part", 2), whole = Send("ann", "whole"),
                    slow = Send("ann", "slow", 1);
  clock_.Advance(1.5 * kDay);
  EXPECT_TRUE(uploads_.Append("ann", slow, 1, "l").ok());
  clock_.Advance(kDay);
  EXPECT_THAT(Left("ann"), UnorderedElementsAre(whole, slow));
}

TEST_F(UploadsTest, ThoseFromBeforeUsesWereKnownBeginToRestNow) {
  clock_.Advance(30 * kDay);
  ASSERT_TRUE(store_->AddUpload({.tenant = "ann", .digest = Sha256Hex("x"), .bytes = 1}, 100).ok());
  EXPECT_THAT(Left("ann"), UnorderedElementsAre(Sha256Hex("x")));
  clock_.Advance(3 * kDay);
  EXPECT_THAT(Left("ann"), IsEmpty());
}

}  // namespace
}  // namespace attune
