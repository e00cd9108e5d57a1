#include "service/queue/artifact_signer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "artifact/reader.h"
#include "artifact/testing/sample_artifact.h"
#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "measure/blob.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using testing::MakeSampleArtifact;
using testing::TemporaryFolder;

constexpr char kJob[] = "files of a job";

JobFile Keep(BlobStore& store, const std::string& name, const std::string& content) {
  const JobFile file = {.name = name, .digest = Sha256Hex(content), .bytes = std::ssize(content)};
  EXPECT_TRUE(store.Append(kJob, file.digest, 0, content).ok());
  EXPECT_TRUE(store.Finish(kJob, file.digest).ok());
  return file;
}

std::string ContentOf(BlobStore& store, const JobFile& file) {
  const auto blob = store.Read(kJob, file.digest);
  EXPECT_TRUE(blob.ok()) << blob.status();
  EXPECT_EQ(blob->second, file.bytes);
  return std::string(MappedFile::Map(blob->first.get())->text());
}

std::vector<Ed25519Key> SignersOf(const std::string& file) {
  ArtifactView view;
  EXPECT_TRUE(ParseArtifact(std::as_bytes(std::span(file)), &view).ok());
  std::vector<Ed25519Key> keys;
  for (const ArtifactSignature& one : view.signatures) keys.push_back(one.key);
  return keys;
}

TEST(ArtifactSigner, SignsWhatItIsAskedTo) {
  const TemporaryFolder folder;
  auto store = *BlobStore::Open(folder / "files", {});
  const ArtifactSigner signer = *ArtifactSigner::OpenOrCreate(folder.path());
  const std::string artifact = MakeSampleArtifact().Write();
  std::vector<JobFile> files = {Keep(*store, "out/net.atn", artifact), Keep(*store, "out/log.txt", "text"),
                                Keep(*store, "out/none.atn", "no artifact")};
  const std::vector<JobFile> before = files;
  for (const char* name : {"out/net.atn", "out/none.atn", "out/absent.atn"})
    ASSERT_TRUE(signer.SignFile("ann", name, kJob, *store, files).ok());
  EXPECT_THAT(SignersOf(ContentOf(*store, files[0])),
              ElementsAre(signer.KeysOf("ann")->front().public_key()));
  EXPECT_EQ(files[1], before[1]);
  EXPECT_EQ(files[2], before[2]);
  EXPECT_TRUE(store->Has(kJob, before[0].digest));  // until the job has another file
  // A server that was killed does it again.
  const std::vector<JobFile> once = files;
  ASSERT_TRUE(signer.SignFile("ann", "out/net.atn", kJob, *store, files).ok());
  EXPECT_EQ(files, once);
}

TEST(ArtifactSigner, HasAKeyForEachTenantThatLasts) {
  const TemporaryFolder folder;
  const ArtifactSigner signer = *ArtifactSigner::OpenOrCreate(folder.path());
  const Ed25519Key ann = signer.KeysOf("ann")->front().public_key();
  EXPECT_NE(ann, signer.KeysOf("bob")->front().public_key());
  EXPECT_EQ(ArtifactSigner::OpenOrCreate(folder.path())->KeysOf("ann")->front().public_key(), ann);
  ASSERT_TRUE(signer.Rotate().ok());
  const std::vector<SigningKey> keys = *signer.KeysOf("ann");
  ASSERT_EQ(keys.size(), 2u);
  EXPECT_NE(keys[0].public_key(), ann);
  EXPECT_EQ(keys[1].public_key(), ann);
}

}  // namespace
}  // namespace attune
