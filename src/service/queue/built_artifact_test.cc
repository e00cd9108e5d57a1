#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "artifact/testing/sample_artifact.h"
#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "service/queue/artifact_for_test.h"
#include "service/queue/report_check.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class BuiltArtifactTest : public ::testing::Test {
 protected:
  JobFile Keep(const std::string& name, const std::string& content) {
    const JobFile file = {.name = name, .digest = Sha256Hex(content), .bytes = std::ssize(content)};
    if (store_->Has("job", file.digest)) return file;
    EXPECT_TRUE(store_->Append("job", file.digest, 0, content).ok());
    EXPECT_TRUE(store_->Finish("job", file.digest).ok());
    return file;
  }
  // Returns the result of a job that has built `built`, when its runner hands in `artifact`.
  absl::Status HandIn(const std::string& artifact, const std::string& built,
                      const std::vector<JobFile>& besides = {}) {
    return HandInAs(artifact, ResultOfBuilt(built).dump(), besides);
  }
  absl::Status HandInAs(const std::string& artifact, const std::string& result,
                        const std::vector<JobFile>& besides = {}) {
    std::vector<JobFile> files = {Keep("in/net.onnx", "a model"), Keep("out/net.atn", artifact),
                                  Keep("out/net.db", "records")};
    files.insert(files.end(), besides.begin(), besides.end());
    return CheckBuiltArtifact(spec_, files, result, "job", *store_);
  }

  const testing::TemporaryFolder folder_;
  std::unique_ptr<BlobStore> store_ = *BlobStore::Open(folder_.path(), {});
  JobSpec spec_ = {
      .id = "job",
      .kind = "tuning",
      .settings = {{"model", "in/net.onnx"}, {"output", "out/net.atn"}, {"records", "out/net.db"}}};
  const std::string built_ = ArtifactOfModel("a model");
};

TEST_F(BuiltArtifactTest, WhatWasBuiltPasses) {
  EXPECT_EQ(HandIn(built_, built_), absl::OkStatus());
  nlohmann::json judged = ResultOfBuilt(built_);
  judged.erase("judged");  // no device has run it
  EXPECT_EQ(HandInAs(built_, judged.dump()), absl::OkStatus());
  EXPECT_EQ(ArtifactNameOf(spec_), "out/net.atn");
}

TEST_F(BuiltArtifactTest, AnotherFileIsRefused) {
  testing::SampleArtifact weights = testing::MakeSampleArtifact();
  weights.manifest.provenance.model_sha256 = Sha256Hex("a model");
  weights.constants[0] ^= std::byte{1};
  std::string flipped = built_;
  flipped[flipped.size() / 2] ^= 1;
  for (const std::string& other : {ArtifactOfModel("another model"), weights.Write(), flipped,
                                   built_ + "more", std::string("no artifact")}) {
    const absl::Status refused = HandIn(other, built_);
    EXPECT_THAT(std::string(refused.message()),
                StartsWith("out/net.atn: is not the artifact that the job has built: "));
  }
}

// A runner that lies in the result as well.
TEST_F(BuiltArtifactTest, AnotherNetworkIsRefusedWhateverTheResultSays) {
  const auto refusal = [&](const std::string& artifact, const nlohmann::json& result) {
    return std::string(HandInAs(artifact, result.dump()).message());
  };
  const std::string other = ArtifactOfModel("another model");
  EXPECT_EQ(refusal(other, ResultOfBuilt(other)),
            "out/net.atn: is the artifact of another model than the job's");
  nlohmann::json result = ResultOfBuilt(built_);
  for (const char* where : {"artifact", "judged"})
    result[where]["interface"] = "input x f32[1,1]\noutput y f32[1,1]\n";
  EXPECT_EQ(refusal(built_, result),
            "out/net.atn: has other inputs and outputs than the network that the job has built");
  result = ResultOfBuilt(built_);
  for (const char* field : {"network", "interface", "artifact_bytes"}) {
    nlohmann::json lie = result;
    lie["judged"][field] = "other";
    EXPECT_EQ(refusal(built_, lie), "out/net.atn: the job has built another network than it has judged");
  }
  for (const char* lie : {"", "[]", "{}", R"({"artifact": 1})", R"({"artifact": {"sha256": 3}})"})
    EXPECT_THAT(std::string(HandInAs(built_, lie).message()), StartsWith("out/net.atn: "));
  EXPECT_THAT(refusal("no artifact", ResultOfBuilt("no artifact")), HasSubstr("out/net.atn: "));
}

TEST_F(BuiltArtifactTest, ThereIsOneArtifact) {
  EXPECT_EQ(HandIn(built_, built_, {Keep("out/more/another.atn", built_)}).message(),
            "out/more/another.atn: is not a file that the job makes");
  EXPECT_EQ(HandIn(built_, built_, {Keep("in/another.atn", built_)}), absl::OkStatus());
}

// Settings that are null are not there, as for those who run the job.
TEST_F(BuiltArtifactTest, ASettingOfAnotherTypeIsNone) {
  for (const nlohmann::json& value : {nlohmann::json(nullptr), nlohmann::json(7), nlohmann::json::array()}) {
    spec_.settings["output"] = value;
    EXPECT_EQ(ArtifactNameOf(spec_), std::nullopt);
    EXPECT_FALSE(HandIn(built_, built_).ok());
    spec_.settings["output"] = "out/net.atn";
    spec_.settings["model"] = value;
    EXPECT_THAT(std::string(HandIn(built_, built_).message()), HasSubstr("another model"));
    spec_.settings["model"] = "in/net.onnx";
  }
}

TEST_F(BuiltArtifactTest, OtherJobsMakeNone) {
  spec_.part = 2;
  EXPECT_EQ(ArtifactNameOf(spec_), std::nullopt);
  spec_.part = 0;
  spec_.kind = "program";
  EXPECT_EQ(ArtifactNameOf(spec_), std::nullopt);
  EXPECT_EQ(HandInAs("anything", ""), absl::OkStatus());
}

}  // namespace
}  // namespace attune
