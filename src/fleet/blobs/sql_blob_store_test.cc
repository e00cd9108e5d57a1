#include "fleet/blobs/sql_blob_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/sql/testing/database_for_test.h"
#include "measure/blob.h"

namespace attune {
namespace {

class SqlBlobStoreTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { SKIP_WITHOUT_DATABASE(location_); }

  // Each with a cache of its own, as servers have.
  std::unique_ptr<BlobStore> Open(const std::string& space = "jobs", const BlobStoreOptions& options = {}) {
    cache_ = location_.folder() / ("cache" + std::to_string(++opened_));
    auto store = SqlBlobStore::Open(*location_, space, cache_, options);
    EXPECT_TRUE(store.ok()) << store.status();
    return *std::move(store);
  }
  static absl::Status Upload(BlobStore& store, const std::string& owner, const std::string& bytes) {
    const absl::Status status = store.Append(owner, Sha256Hex(bytes), 0, bytes);
    return status.ok() ? store.Finish(owner, Sha256Hex(bytes)) : status;
  }
  static std::string Content(BlobStore& store, const std::string& owner, const std::string& bytes) {
    const auto file = store.Read(owner, Sha256Hex(bytes));
    return file.ok() ? std::string(MappedFile::Map(file->first.get())->text()) : "";
  }

  const testing::LocationForTest location_{GetParam()};
  std::string cache_;
  int opened_ = 0;
};

TEST_P(SqlBlobStoreTest, UploadsGoOnWhereTheyBrokeOff) {
  std::string bytes(3'000'000, 'x');
  bytes[2'000'000] = '\0';
  const std::string digest = Sha256Hex(bytes);
  EXPECT_TRUE(Open()->Append("ann", digest, 0, bytes.substr(0, 2'500'000)).ok());
  const auto store = Open();  // at another server
  EXPECT_EQ(*store->Sent("ann", digest), 2'500'000);
  EXPECT_TRUE(absl::IsOutOfRange(store->Append("ann", digest, 0, "x")));  // it comes twice
  EXPECT_TRUE(store->Append("ann", digest, 2'500'000, bytes.substr(2'500'000)).ok());
  EXPECT_FALSE(store->Has("ann", digest));
  EXPECT_TRUE(store->Finish("ann", digest).ok());
  EXPECT_TRUE(store->Finish("ann", digest).ok());
  EXPECT_EQ(*store->Sent("ann", digest), 3'000'000);
  EXPECT_EQ(Content(*store, "ann", bytes), bytes);
  EXPECT_EQ(Content(*Open(), "ann", bytes), bytes);
  EXPECT_FALSE(store->Has("bob", digest));
  EXPECT_TRUE(absl::IsNotFound(store->Read("bob", digest).status()));
}

TEST_P(SqlBlobStoreTest, ABlobIsThereOnce) {
  const auto uploads = Open("uploads"), jobs = Open("jobs");
  ASSERT_TRUE(Upload(*uploads, "ann", "model").ok());
  ASSERT_TRUE(Upload(*uploads, "bob", "model").ok());
  const std::string digest = Sha256Hex("model");
  EXPECT_FALSE(jobs->Has("ann", digest));
  EXPECT_TRUE(absl::IsNotFound(jobs->Take(*uploads, "cid", "job", digest)));
  ASSERT_TRUE(jobs->Take(*uploads, "ann", "job", digest).ok());
  ASSERT_TRUE(jobs->Take(*uploads, "ann", "job", digest).ok());
  ASSERT_TRUE(jobs->Share("job", "another", digest).ok());
  EXPECT_EQ(jobs->bytes(), 5);
  for (const char* owner : {"ann", "bob"}) ASSERT_TRUE(uploads->Forget(owner, digest).ok());
  EXPECT_EQ(Content(*jobs, "job", "model"), "model");
  ASSERT_TRUE(jobs->Forget("job", digest).ok());
  EXPECT_EQ(Content(*jobs, "another", "model"), "model");
  ASSERT_TRUE(jobs->Forget("another", digest).ok());
  ASSERT_TRUE(jobs->Forget("another", digest).ok());
  EXPECT_FALSE(jobs->Has("another", digest));
  EXPECT_EQ(jobs->bytes(), 0);
}

TEST_P(SqlBlobStoreTest, AnOwnerForgetsAllButAFew) {
  const auto store = Open();
  for (const char* bytes : {"kept", "left", "shared"}) ASSERT_TRUE(Upload(*store, "ann", bytes).ok());
  ASSERT_TRUE(Upload(*store, "bob", "shared").ok());
  for (const char* owner : {"ann", "bob"}) ASSERT_TRUE(store->Append(owner, Sha256Hex("part"), 0, "p").ok());
  for (int i = 0; i < 2; ++i)
    ASSERT_TRUE(store->ForgetAllBut("ann", {Sha256Hex("kept"), Sha256Hex("never sent")}).ok());
  EXPECT_EQ(Content(*store, "ann", "kept"), "kept");
  EXPECT_FALSE(store->Has("ann", Sha256Hex("left")));
  EXPECT_FALSE(store->Has("ann", Sha256Hex("shared")));
  EXPECT_EQ(*store->Sent("ann", Sha256Hex("part")), 0);
  EXPECT_EQ(Content(*store, "bob", "shared"), "shared");
  EXPECT_EQ(*store->Sent("bob", Sha256Hex("part")), 1);
  ASSERT_TRUE(store->ForgetAllBut("ann", {}).ok());
  EXPECT_EQ(store->bytes(), 6);
}

TEST_P(SqlBlobStoreTest, WhatHasAnotherDigestIsForgotten) {
  const auto store = Open();
  const std::string digest = Sha256Hex("right");
  ASSERT_TRUE(store->Append("ann", digest, 0, "wrong").ok());
  EXPECT_TRUE(absl::IsDataLoss(store->Finish("ann", digest)));
  EXPECT_EQ(*store->Sent("ann", digest), 0);
  EXPECT_TRUE(Upload(*store, "ann", "right").ok());
  EXPECT_TRUE(absl::IsInvalidArgument(store->Append("ann", "../x", 0, "x")));
}

TEST_P(SqlBlobStoreTest, AnEmptyFileIsABlob) {
  const auto store = Open();
  ASSERT_TRUE(Upload(*store, "ann", "").ok());
  EXPECT_TRUE(store->Has("ann", Sha256Hex("")));
  EXPECT_EQ(store->Read("ann", Sha256Hex(""))->second, 0);
}

TEST_P(SqlBlobStoreTest, UploadsAreBounded) {
  const auto store = Open("jobs", {.most_blob_bytes = 10, .most_partial_bytes = 15});
  EXPECT_TRUE(absl::IsResourceExhausted(store->Append("ann", Sha256Hex("a"), 0, "12345678901")));
  ASSERT_TRUE(store->Append("ann", Sha256Hex("b"), 0, "1234567890").ok());
  EXPECT_TRUE(absl::IsResourceExhausted(store->Append("ann", Sha256Hex("c"), 0, "123456")));
  EXPECT_TRUE(store->Append("bob", Sha256Hex("c"), 0, "123456").ok());
  const auto few = Open("few", {.most_partials = 1});
  ASSERT_TRUE(few->Append("ann", Sha256Hex("a"), 0, "a").ok());
  EXPECT_TRUE(absl::IsResourceExhausted(few->Append("ann", Sha256Hex("b"), 0, "b")));
  EXPECT_TRUE(few->Append("bob", Sha256Hex("b"), 0, "b").ok());
  Open("jobs", {.partial_seconds = -1});  // all are old
  EXPECT_EQ(*store->Sent("bob", Sha256Hex("c")), 0);
}

TEST_P(SqlBlobStoreTest, TheCacheIsBoundedAndNeverBelieved) {
  const auto store = Open("jobs", {.most_bytes = 10});
  for (const char* bytes : {"12345678", "abcdefgh"}) {
    ASSERT_TRUE(Upload(*store, "ann", bytes).ok());
    EXPECT_EQ(Content(*store, "ann", bytes), bytes);
  }
  EXPECT_FALSE(std::filesystem::exists(cache_ + "/" + Sha256Hex("12345678")));
  EXPECT_EQ(Content(*store, "ann", "12345678"), "12345678");
  // As a write that a full disk has cut short leaves it.
  std::ofstream(cache_ + "/" + Sha256Hex("12345678")) << "123";
  EXPECT_EQ(Content(*store, "ann", "12345678"), "12345678");
}

INSTANTIATE_TEST_SUITE_P(EveryDatabase, SqlBlobStoreTest, testing::EveryDatabase(), testing::DatabaseOf);

}  // namespace
}  // namespace attune
