#include "fleet/blobs/blob_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/status.h"
#include "base/sync.h"
#include "base/testing/temporary_folder.h"
#include "measure/blob.h"

namespace attune {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;

class BlobStoreTest : public ::testing::Test {
 protected:
  std::unique_ptr<BlobStore> Open(const BlobStoreOptions& options = {}) {
    absl::StatusOr<std::unique_ptr<BlobStore>> store = BlobStore::Open(folder_ / "blobs", options);
    EXPECT_TRUE(store.ok()) << store.status();
    return *std::move(store);
  }
  static absl::Status Upload(BlobStore& store, const std::string& owner, const std::string& bytes) {
    const std::string digest = Sha256Hex(bytes);
    const absl::Status status = store.Append(owner, digest, 0, bytes);
    return status.ok() ? store.Finish(owner, digest) : status;
  }
  static std::string Content(BlobStore& store, const std::string& owner, const std::string& digest) {
    const auto file = store.Read(owner, digest);
    return file.ok() ? std::string(MappedFile::Map(file->first.get())->text()) : "";
  }

  const testing::TemporaryFolder folder_;
};

TEST_F(BlobStoreTest, UploadsGoOnWhereTheyBrokeOff) {
  const std::string bytes(100000, 'x'), digest = Sha256Hex(bytes);
  EXPECT_TRUE(Open()->Append("ann", digest, 0, bytes.substr(0, 60000)).ok());
  const auto store = Open();  // after a kill
  EXPECT_EQ(*store->Sent("ann", digest), 60000);
  EXPECT_TRUE(absl::IsOutOfRange(store->Append("ann", digest, 0, bytes.substr(0, 60000))));  // it comes twice
  EXPECT_TRUE(absl::IsOutOfRange(store->Append("ann", digest, 60001, "y")));
  EXPECT_TRUE(store->Append("ann", digest, 60000, bytes.substr(60000)).ok());
  EXPECT_FALSE(store->Has("ann", digest));
  EXPECT_TRUE(store->Finish("ann", digest).ok());
  EXPECT_TRUE(store->Finish("ann", digest).ok());
  EXPECT_EQ(*store->Sent("ann", digest), 100000);
  EXPECT_EQ(Content(*store, "ann", digest), bytes);
  EXPECT_EQ(Open()->bytes(), 100000);
}

TEST_F(BlobStoreTest, AnOwnerMayShareAndForgetsForHimselfAlone) {
  const auto store = Open();
  const std::string bytes = "a model for two jobs", digest = Sha256Hex(bytes);
  EXPECT_TRUE(absl::IsNotFound(store->Share("one", "two", digest)));
  ASSERT_TRUE(Upload(*store, "one", bytes).ok());
  EXPECT_TRUE(store->Share("one", "two", digest).ok());
  EXPECT_TRUE(store->Share("one", "two", digest).ok());  // it comes twice
  EXPECT_TRUE(store->Forget("one", digest).ok());
  EXPECT_FALSE(store->Has("one", digest));
  EXPECT_EQ(Content(*store, "two", digest), bytes);
  EXPECT_TRUE(store->Forget("two", digest).ok());
  EXPECT_EQ(store->bytes(), 0);
}

TEST_F(BlobStoreTest, AnOwnerForgetsAllButAFew) {
  const auto store = Open();
  for (const char* bytes : {"kept", "left", "shared"}) ASSERT_TRUE(Upload(*store, "ann", bytes).ok());
  ASSERT_TRUE(Upload(*store, "bob", "shared").ok());
  for (const char* owner : {"ann", "bob"}) ASSERT_TRUE(store->Append(owner, Sha256Hex("part"), 0, "p").ok());
  const std::string checked =
      folder_ / "blobs/partial/" + Sha256Hex("ann").substr(0, 32) + "-" + Sha256Hex("late") + ".checked";
  std::ofstream(checked) << "late";  // as if another thread were reading it
  ASSERT_TRUE(store->ForgetAllBut("ann", {Sha256Hex("kept"), Sha256Hex("never sent")}).ok());
  EXPECT_EQ(Content(*store, "ann", Sha256Hex("kept")), "kept");
  EXPECT_FALSE(store->Has("ann", Sha256Hex("left")));
  EXPECT_FALSE(store->Has("ann", Sha256Hex("shared")));
  EXPECT_EQ(*store->Sent("ann", Sha256Hex("part")), 0);
  EXPECT_EQ(*store->Sent("ann", Sha256Hex("late")), 0);
  // Others have theirs.
  EXPECT_EQ(Content(*store, "bob", Sha256Hex("shared")), "shared");
  EXPECT_EQ(*store->Sent("bob", Sha256Hex("part")), 1);
  EXPECT_EQ(store->bytes(), 10);
  ASSERT_TRUE(store->ForgetAllBut("ann", {}).ok());
  ASSERT_TRUE(store->ForgetAllBut("nobody", {}).ok());
  EXPECT_EQ(store->bytes(), 6);
  ASSERT_TRUE(Upload(*store, "ann", "again").ok());
}

TEST_F(BlobStoreTest, ADigestGivesNoAccessAndShowsNothing) {
  const auto store = Open();
  const std::string bytes = "a model that took a year", digest = Sha256Hex(bytes);
  ASSERT_TRUE(Upload(*store, "ann", bytes).ok());
  EXPECT_FALSE(store->Has("eve", digest));
  EXPECT_TRUE(absl::IsNotFound(store->Read("eve", digest).status()));
  // As if no owner had it.
  EXPECT_EQ(*store->Sent("eve", digest), 0);
  EXPECT_TRUE(absl::IsNotFound(store->Finish("eve", digest)));
  ASSERT_TRUE(store->Append("eve", digest, 0, "something else").ok());
  EXPECT_TRUE(absl::IsDataLoss(store->Finish("eve", digest)));
  EXPECT_FALSE(store->Has("eve", digest));
  EXPECT_EQ(Content(*store, "ann", digest), bytes);
  // Who really has it may read it, and it is kept once.
  ASSERT_TRUE(Upload(*store, "eve", bytes).ok());
  EXPECT_EQ(store->bytes(), std::ssize(bytes));
  EXPECT_TRUE(store->Forget("ann", digest).ok());
  EXPECT_FALSE(store->Has("ann", digest));
  EXPECT_EQ(Content(*store, "eve", digest), bytes);
  EXPECT_TRUE(store->Forget("eve", digest).ok());
  EXPECT_EQ(store->bytes(), 0);
}

TEST_F(BlobStoreTest, TheLeastRecentlyUsedAreEvicted) {
  const auto store = Open({.most_bytes = 1000});
  std::vector<std::string> digests;
  for (const char c : {'a', 'b', 'c'}) {
    const std::string bytes(300, c);
    ASSERT_TRUE(Upload(*store, "ann", bytes).ok());
    ASSERT_TRUE(Upload(*store, "eve", bytes).ok());
    digests.push_back(Sha256Hex(bytes));
    // Clocks of file systems are coarse.
    std::filesystem::last_write_time(
        folder_ / "blobs/content/" + digests.back(),
        std::filesystem::file_time_type::clock::now() - std::chrono::seconds(10 - c + 'a'));
  }
  EXPECT_TRUE(store->Has("ann", digests[0]));
  const auto open = store->Read("eve", digests[1]);
  std::filesystem::last_write_time(folder_ / "blobs/content/" + digests[1],
                                   std::filesystem::file_time_type::clock::now() - std::chrono::seconds(99));
  ASSERT_TRUE(Upload(*store, "ann", std::string(300, 'd')).ok());
  EXPECT_TRUE(store->Has("ann", digests[0]));
  EXPECT_FALSE(store->Has("ann", digests[1]));
  EXPECT_FALSE(store->Has("eve", digests[1]));
  EXPECT_EQ(MappedFile::Map(open->first.get())->text(), std::string(300, 'b'));
  EXPECT_EQ(store->bytes(), 900);
}

TEST_F(BlobStoreTest, IsBounded) {
  const auto store = Open({.most_blob_bytes = 10});
  const std::string digest = Sha256Hex("12345678901");
  EXPECT_TRUE(store->Append("ann", digest, 0, "1234567890").ok());
  EXPECT_TRUE(absl::IsResourceExhausted(store->Append("ann", digest, 10, "1")));
  EXPECT_EQ(*store->Sent("ann", digest), 0);
}

TEST_F(BlobStoreTest, UploadsOfAnOwnerAreBounded) {
  const auto store = Open({.most_partial_bytes = 10});
  EXPECT_TRUE(store->Append("ann", Sha256Hex("a"), 0, "123456").ok());
  EXPECT_TRUE(absl::IsResourceExhausted(store->Append("ann", Sha256Hex("b"), 0, "12345")));
  EXPECT_TRUE(store->Append("eve", Sha256Hex("b"), 0, "12345").ok());
  EXPECT_TRUE(store->Forget("ann", Sha256Hex("a")).ok());
  EXPECT_TRUE(store->Append("ann", Sha256Hex("b"), 0, "12345").ok());
}

TEST_F(BlobStoreTest, AnOwnerHasSoManyUploadsAtATime) {
  const auto store = Open({.most_partials = 2});
  for (const char* blob : {"a", "b"}) EXPECT_TRUE(store->Append("ann", Sha256Hex(blob), 0, "").ok());
  EXPECT_TRUE(absl::IsResourceExhausted(store->Append("ann", Sha256Hex("c"), 0, "c")));
  EXPECT_TRUE(store->Append("ann", Sha256Hex("b"), 0, "b").ok());
  EXPECT_TRUE(store->Append("eve", Sha256Hex("c"), 0, "c").ok());
  EXPECT_TRUE(store->Finish("ann", Sha256Hex("b")).ok());
  EXPECT_TRUE(store->Append("ann", Sha256Hex("c"), 0, "c").ok());
}

TEST_F(BlobStoreTest, NothingChangesWhatIsBeingChecked) {
  const std::string digest = Sha256Hex("bytes");
  const std::string checked =
      folder_ / "blobs/partial/" + Sha256Hex("ann").substr(0, 32) + "-" + digest + ".checked";
  const auto store = Open();
  std::ofstream(checked) << "bytes";  // as if another thread were reading it
  EXPECT_EQ(*store->Sent("ann", digest), 5);
  const absl::Status refused = store->Append("ann", digest, 5, "more");
  EXPECT_TRUE(absl::IsUnavailable(refused));
  EXPECT_TRUE(IsPassing(Annotate(refused, "an upload")));
  EXPECT_TRUE(absl::IsUnavailable(store->Finish("ann", digest)));
  // After a kill, it can be finished.
  EXPECT_TRUE(Open()->Finish("ann", digest).ok());
  EXPECT_EQ(Content(*store, "ann", digest), "bytes");
}

TEST_F(BlobStoreTest, WhatCannotBeKeptNowIsFinishedLater) {
  const std::string digest = Sha256Hex("bytes"), owners = folder_ / "blobs/owners";
  const auto store = Open();
  ASSERT_TRUE(store->Append("ann", digest, 0, "bytes").ok());
  std::filesystem::remove(owners);
  std::ofstream(owners) << "no folder";
  EXPECT_FALSE(store->Finish("ann", digest).ok());
  EXPECT_EQ(*store->Sent("ann", digest), 5);
  std::filesystem::remove(owners);
  std::filesystem::create_directory(owners);
  EXPECT_TRUE(store->Finish("ann", digest).ok());
  EXPECT_EQ(Content(*store, "ann", digest), "bytes");
}

TEST_F(BlobStoreTest, RefusesWhatIsNoDigest) {
  const auto store = Open();
  for (const std::string& bad : {std::string(), std::string("../../etc/passwd"), std::string(64, 'G'),
                                 std::string(63, '0'), std::string(63, '0') + "/"}) {
    EXPECT_FALSE(store->Append("ann", bad, 0, "x").ok()) << bad;
    EXPECT_FALSE(store->Finish("ann", bad).ok());
    EXPECT_FALSE(store->Has("ann", bad));
    EXPECT_FALSE(store->Sent("ann", bad).ok());
  }
  // An owner's name is never a path.
  ASSERT_TRUE(Upload(*store, "../../ann", "bytes").ok());
  EXPECT_TRUE(store->Has("../../ann", Sha256Hex("bytes")));
}

TEST_F(BlobStoreTest, ABlobMayBeEmpty) {
  const auto store = Open();
  ASSERT_TRUE(Upload(*store, "ann", "").ok());
  EXPECT_TRUE(store->Has("ann", Sha256Hex("")));
}

TEST_F(BlobStoreTest, OpeningRemovesWhatNobodyNeeds) {
  const std::string digest = Sha256Hex("bytes"), other = Sha256Hex("other");
  {
    const auto store = Open();
    ASSERT_TRUE(Upload(*store, "ann", "bytes").ok());
    ASSERT_TRUE(store->Append("ann", other, 0, "oth").ok());
  }
  std::ofstream(folder_ / "blobs/content/" + Sha256Hex("unowned")) << "unowned";
  const auto store = Open({.partial_seconds = -1});
  EXPECT_EQ(store->bytes(), 5);
  EXPECT_EQ(*store->Sent("ann", other), 0);
  EXPECT_TRUE(store->Has("ann", digest));
}

std::vector<std::string> synced;

TEST_F(BlobStoreTest, WhatIsToLastIsOnTheDiskBeforeItIsKept) {
  SetSyncWatch([](std::string_view path) { synced.emplace_back(path); });
  const auto cache = Open();
  ASSERT_TRUE(Upload(*cache, "ann", "cached").ok());
  EXPECT_THAT(synced, IsEmpty());
  const auto store = Open({.is_lasting = true});
  ASSERT_TRUE(Upload(*store, "bob", "bytes").ok());
  // Its bytes, its owner's folder, its name and its name there.
  EXPECT_THAT(synced, ElementsAre(EndsWith(".checked"), EndsWith("/owners"), EndsWith("/content"),
                                  ContainsRegex("/owners/[0-9a-f]+$")));
  synced.clear();
  ASSERT_TRUE(store->Share("bob", "cid", Sha256Hex("bytes")).ok());
  EXPECT_THAT(synced, ElementsAre(EndsWith("/owners"), ContainsRegex("/owners/[0-9a-f]+$")));
  SetSyncWatch(nullptr);
}

}  // namespace
}  // namespace attune
