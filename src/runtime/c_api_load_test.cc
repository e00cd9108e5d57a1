// Loading through the C interface: what is refused with which error, and the cost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "artifact/testing/sample_artifact.h"
#include "attune/attune.h"
#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "runtime/session_for_test.h"

namespace attune {
namespace {

using namespace attune::testing;  // NOLINT: the sample's kernels and tensors
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A file for one test, which the destructor removes.
class TempFile {
 public:
  explicit TempFile(const std::string& content) { Write(content); }

  void Write(const std::string& content) const { std::ofstream(path_, std::ios::binary) << content; }
  const std::string& path() const { return path_; }

 private:
  TemporaryFolder folder_;
  std::string path_ = folder_ / "model.atn";
};

attune_error LoadError(const std::string& path, const attune_load_options* options = nullptr) {
  attune_model* model = nullptr;
  attune_error error{};
  EXPECT_NE(attune_load(path.c_str(), options, &model, &error), ATTUNE_OK);
  EXPECT_EQ(model, nullptr);
  return error;
}

TEST(LoadTest, RefusalsNameTheFile) {
  const std::string good = MakeSampleArtifact().Write();
  attune_error error = LoadError("no/such/file.atn");
  EXPECT_EQ(error.code, ATTUNE_CANNOT_READ);
  EXPECT_STREQ(error.message, "no/such/file.atn: cannot be read: No such file or directory");
  EXPECT_EQ(LoadError(TemporaryFolder().path()).code, ATTUNE_CANNOT_READ);

  const TempFile file("");
  EXPECT_EQ(LoadError(file.path()).code, ATTUNE_NOT_ARTIFACT);
  file.Write(good.substr(0, good.size() - 1));
  error = LoadError(file.path());
  EXPECT_EQ(error.code, ATTUNE_DAMAGED);
  EXPECT_THAT(error.message, StartsWith(file.path() + " is cut short: it has"));
  std::string other_version = good;
  other_version[8] = 9;
  file.Write(other_version);
  EXPECT_EQ(LoadError(file.path()).code, ATTUNE_WRONG_VERSION);
}

TEST(LoadTest, DoesNotWaitForAPipe) {
  const TempFile file("");
  unlink(file.path().c_str());
  ASSERT_EQ(mkfifo(file.path().c_str(), 0600), 0);
  EXPECT_THAT(LoadError(file.path()).message, HasSubstr("it is not a regular file"));
}

TEST(LoadTest, RefusesOtherProcessors) {
  SampleArtifact sample = MakeSampleArtifact();
  sample.variant().target.arch = "riscv64";
  attune_error error = LoadError(TempFile(sample.Write()).path());
  EXPECT_EQ(error.code, ATTUNE_WRONG_TARGET);
  EXPECT_THAT(error.message, HasSubstr("is compiled for riscv64, and this processor is"));

  sample = MakeSampleArtifact();
  sample.variant().target.features = {"warp_drive", "time\x1b_travel"};
  error = LoadError(TempFile(sample.Write()).path());
  EXPECT_EQ(error.code, ATTUNE_WRONG_TARGET);
  EXPECT_THAT(error.message,
              HasSubstr("needs a processor with warp_drive, time?_travel, which this one lacks"));
}

TEST(LoadTest, LongMessagesAreCutBetweenCharacters) {
  SampleArtifact sample = MakeSampleArtifact();
  sample.variant().target.features.assign(40, "€€€€€€€€");
  const attune_error error = LoadError(TempFile(sample.Write()).path());
  const std::string message = error.message;
  EXPECT_GT(message.size(), 500u);
  EXPECT_EQ(message.substr(message.rfind("\xE2")).size() % 3, 0u);
}

TEST(LoadTest, TheExpectedDigestIsHeldTo) {
  const std::string file = MakeSampleArtifact().Write();
  const TempFile temp(file);
  const std::string& path = temp.path();
  attune_load_options options = ATTUNE_LOAD_OPTIONS_INIT;
  const std::string digest = Sha256Hex(file);
  options.expected_sha256 = digest.c_str();
  attune_model* model = nullptr;
  attune_error error{};
  ASSERT_EQ(attune_load(path.c_str(), &options, &model, &error), ATTUNE_OK) << error.message;
  const SessionHandle session = NewSession(ModelHandle(model));
  RunAndCheck(session.get(), 3);

  const std::string wrong(64, '0');
  options.expected_sha256 = wrong.c_str();
  EXPECT_EQ(LoadError(path, &options).code, ATTUNE_NOT_TRUSTED);
  options.expected_sha256 = "abc";
  EXPECT_EQ(LoadError(path, &options).code, ATTUNE_INVALID_ARGUMENT);
  options = {};
  EXPECT_EQ(LoadError(path, &options).code, ATTUNE_INVALID_ARGUMENT);
}

TEST(LoadTest, DamagedConstantsAreFoundWhenAsked) {
  std::string file = MakeSampleArtifact().Write();
  file[file.size() - kReadAhead - 1] ^= 1;
  const TempFile temp(file);
  const ModelHandle model = LoadBytes(file);
  attune_error error{};
  EXPECT_EQ(attune_model_verify(model.get(), &error), ATTUNE_DAMAGED);
  EXPECT_THAT(error.message, HasSubstr("constants do not match"));
  attune_load_options options = ATTUNE_LOAD_OPTIONS_INIT;
  options.verify_constants = 1;
  EXPECT_EQ(LoadError(temp.path(), &options).code, ATTUNE_DAMAGED);
  EXPECT_EQ(attune_model_verify(LoadBytes(MakeSampleArtifact().Write()).get(), nullptr), ATTUNE_OK);
}

TEST(LoadTest, CompressedConstantsAreExpandedOnce) {
  const TempFile file(MakeCompressedSampleArtifact().Write());
  attune_model* loaded = nullptr;
  attune_error error{};
  ASSERT_EQ(attune_load(file.path().c_str(), nullptr, &loaded, &error), ATTUNE_OK) << error.message;
  const ModelHandle model(loaded);
  attune_memory_info memory{};
  ASSERT_EQ(attune_model_memory(model.get(), &memory, nullptr), ATTUNE_OK);
  EXPECT_EQ(memory.constant_bytes, kRows * kColumns * sizeof(float));
  EXPECT_EQ(attune_model_verify(model.get(), nullptr), ATTUNE_OK);
  const SessionHandle first = NewSession(model), second = NewSession(model, 3);
  for (int seed = 0; seed < 3; ++seed) {
    RunAndCheck(first.get(), seed);
    RunAndCheck(second.get(), seed);
  }
}

// Unlike mapped constants, compressed ones are checked without a request, since they are read anyway.
TEST(LoadTest, DamagedCompressedConstantsAreFound) {
  SampleArtifact sample = MakeCompressedSampleArtifact();
  std::string file = sample.Write();
  file[file.size() - kReadAhead - sample.constants.size()] ^= 1;
  const attune_error error = LoadError(TempFile(file).path());
  EXPECT_EQ(error.code, ATTUNE_DAMAGED);
  EXPECT_THAT(error.message, HasSubstr("constants do not match"));
}

// The number after a name in a file of /proc/self.
int64_t OfThisProcess(const std::string& file, const std::string& name) {
  std::ifstream lines("/proc/self/" + file);
  std::string word;
  while (lines >> word && word != name) continue;
  int64_t number = -1;
  lines >> number;
  EXPECT_GE(number, 0) << file << " has no " << name;
  return number;
}

// Mapped weights neither become resident in this process nor are copied through a buffer.
TEST(LoadTest, LargeWeightsAreMappedAndNotRead) {
  constexpr int64_t kWeightBytes = 100 << 20;
  SampleArtifact sample = MakeSampleArtifact();
  sample.constants.resize(kWeightBytes);
  const TempFile file(sample.Write());
  const int64_t resident_kib = OfThisProcess("status", "VmRSS:");
  const int64_t read_bytes = OfThisProcess("io", "rchar:");
  attune_model* model = nullptr;
  ASSERT_EQ(attune_load(file.path().c_str(), nullptr, &model, nullptr), ATTUNE_OK);
  EXPECT_LT((OfThisProcess("status", "VmRSS:") - resident_kib) * 1024, kWeightBytes / 10);
  EXPECT_LT(OfThisProcess("io", "rchar:") - read_bytes, kWeightBytes / 10);
  attune_model_free(model);
}

}  // namespace
}  // namespace attune
