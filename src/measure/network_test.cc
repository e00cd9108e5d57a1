// Networks are timed and profiled, each in its own process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "artifact/testing/sample_artifact.h"
#include "base/sanitized.h"
#include "measure/local_service.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
using enum TrialOutcome;

class NetworkTest : public ::testing::Test {
 protected:
  std::string Put(const std::string& bytes) {
    const absl::StatusOr<Blob> blob = Blob::Of(bytes);
    EXPECT_TRUE(blob.ok() && PutMissing(service_, *blob).ok());
    return blob->digest();
  }
  Measurement Measure(MeasureItem::Kind kind, const std::string& artifact, const std::string& baseline) {
    MeasureItem item;
    item.kind = kind;
    item.subject = Put(artifact);
    item.data = Put(std::string(sizeof(float) * testing::kRows * testing::kColumns, '\0'));
    if (!baseline.empty()) item.baseline = Put(baseline);
    item.options.seconds_limit = 0.05;
    item.options.worst_precision = 100;
    item.options.abandon_ratio = 0;
    const std::unique_ptr<MeasureBatch> batch = service_.Submit({item});
    const auto result = batch->Next(kNoDeadline);
    EXPECT_TRUE(result.has_value());
    return result.has_value() ? result->second : Measurement();
  }
  // An artifact whose first kernel executes an invalid instruction.
  static std::string Crashing() {
    testing::SampleArtifact sample = testing::MakeSampleArtifact();
    const uint64_t offset = sample.variant().kernels[testing::kAdd].interface.code_offset;
    std::memcpy(sample.code.data() + offset, "\x0F\x0B", 2);
    return sample.Write();
  }

  LocalMeasuringService service_{DeviceInfo(), {}};
  const std::string good_ = testing::MakeSampleArtifact().Write();
  const std::string other_ = testing::MakeCompressedSampleArtifact().Write();  // computes the same
};

TEST_F(NetworkTest, RunsAndHandsOverItsOutputs) {
  const Measurement m = Measure(MeasureItem::Kind::kRunNetwork, good_, "");
  ASSERT_EQ(m.outcome, kOk) << m.reason;
  EXPECT_GE(m.run_seconds.size(), 3);
  ASSERT_EQ(m.outputs.size(), testing::MakeSampleArtifact().program().outputs.size());
  const OutputValue& output = m.outputs.front();
  int64_t elements = 1;
  for (const int64_t size : output.shape) elements *= size;
  EXPECT_EQ(output.bytes.size(), static_cast<size_t>(elements) * sizeof(float));
  EXPECT_EQ(Measure(MeasureItem::Kind::kRunNetwork, other_, "").outputs, m.outputs);
}

TEST_F(NetworkTest, IsTimedInterleavedWithItsBaseline) {
  const Measurement alone = Measure(MeasureItem::Kind::kTimeNetwork, good_, "");
  ASSERT_EQ(alone.outcome, kOk) << alone.reason;
  EXPECT_GT(alone.timing.seconds, 0);
  EXPECT_EQ(alone.ratio, 0);
  const Measurement both = Measure(MeasureItem::Kind::kTimeNetwork, good_, other_);
  ASSERT_EQ(both.outcome, kOk) << both.reason;
  EXPECT_GT(both.baseline_seconds, 0);
}

TEST_F(NetworkTest, AProfileHasTheTimesOfItsKernels) {
  const Measurement m = Measure(MeasureItem::Kind::kProfileNetwork, good_, other_);
  ASSERT_EQ(m.outcome, kOk) << m.reason;
  EXPECT_FALSE(m.profile.empty());
  EXPECT_EQ(m.profile.size(), m.baseline_profile.size());
  for (const auto& [digest, seconds] : m.profile) EXPECT_GE(seconds.size(), 16) << digest;
}

TEST_F(NetworkTest, OneThatCrashesIsOneFailedMeasurement) {
  for (const auto kind : {MeasureItem::Kind::kTimeNetwork, MeasureItem::Kind::kProfileNetwork}) {
    const Measurement crashed = Measure(kind, Crashing(), good_);
    EXPECT_EQ(crashed.outcome, kCrashed);
    EXPECT_THAT(crashed.reason, HasSubstr("signal"));
    const std::vector<pid_t> workers = service_.WorkerPids();
    EXPECT_EQ(Measure(kind, good_, other_).outcome, kOk);
    EXPECT_EQ(service_.WorkerPids(), workers) << "the measuring process died";
  }
}

TEST_F(NetworkTest, ItsWeightsArePrepackedBehindTheFences) {
  if (kIsSanitized) GTEST_SKIP() << "sanitizers have no filter while a network is set up";
  testing::SampleArtifact sample = testing::MakeSampleArtifactOfVariants();
  for (const Variant& variant : sample.manifest.variants) {
    for (const Prepacking& prepacking : variant.prepackings) {
      const uint64_t offset = variant.kernels[prepacking.kernel].interface.code_offset;
      constexpr char kFork[] = "\xB8\x39\0\0\0\x0F\x05";  // mov eax, 57; syscall
      std::memcpy(sample.code.data() + offset, kFork, sizeof(kFork) - 1);
    }
  }
  const Measurement measured = Measure(MeasureItem::Kind::kTimeNetwork, sample.Write(), good_);
  EXPECT_EQ(measured.outcome, kCrashed);
  EXPECT_THAT(measured.reason, HasSubstr("made system call 57"));
}

TEST_F(NetworkTest, WhatTheRuntimeRefusesIsSaidToBe) {
  const Measurement refused = Measure(MeasureItem::Kind::kTimeNetwork, "no artifact", good_);
  EXPECT_EQ(refused.outcome, kCrashed);
  EXPECT_THAT(refused.reason, HasSubstr("refuses the network"));
}

}  // namespace
}  // namespace attune
