#include "tune/job/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "tune/records/records_for_test.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

Measurement SampleMeasurement() {
  Measurement m;
  m.outcome = TrialOutcome::kOk;
  m.timing = {2e-3, 1.9e-3, 2.1e-3, 12};
  m.seconds = 0.5;
  m.baseline_seconds = 4e-3;
  m.ratio = 0.5;
  m.ratio_low = 0.4;
  m.ratio_high = 0.6;
  m.is_significant = true;
  m.normalized_seconds = 2.5e-3;
  return m;
}

TEST(RecordingTest, MeasurementsSurviveJson) {
  Measurement crashed;
  crashed.outcome = TrialOutcome::kCrashed;
  crashed.reason = "signal 11";
  crashed.seconds = 0.25;
  Measurement abandoned = SampleMeasurement();
  abandoned.abandoned = true;
  Measurement alone = SampleMeasurement();
  alone.ratio = 0;
  for (const Measurement& m : {SampleMeasurement(), crashed, abandoned, alone}) {
    const auto read = MeasurementOfJson(ToJson(m));
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(ToJson(*read), ToJson(m));
  }
}

class RecordingFileTest : public ::testing::Test {
 protected:
  void Write(const std::string& text) { ASSERT_TRUE(WriteFileAtomically(path_, text).ok()); }
  static std::string Line(const std::string& job, const std::string& event, nlohmann::json fields) {
    fields["job"] = job;
    fields["event"] = event;
    return fields.dump() + "\n";
  }
  static std::string Measured(const std::string& job, const std::string& candidate, double seconds) {
    Measurement m = SampleMeasurement();
    m.timing.seconds = seconds;
    nlohmann::json fields = ToJson(m);
    fields["task"] = "t";
    fields["candidate"] = candidate;
    return Line(job, "measurement", std::move(fields));
  }

  const RecordsFolder folder_;
  const std::string path_ = folder_ / "events.jsonl";
};

TEST_F(RecordingFileTest, TellsInOrderWhatTheLastJobMeasured) {
  Write(Measured("first", "a", 9) + Measured("last", "a", 1) + Measured("last", "b", 2) +
        Line("last", "compare", {{"task", "t"}, {"candidate", "b"}, {"ratio", 0.9}}) +
        Line("last", "network", {{"tuned_seconds", 3}}) + Measured("last", "a", 4));
  const auto recording = Recording::Load(path_);
  ASSERT_TRUE(recording.ok()) << recording.status();
  EXPECT_EQ((*recording)->NextMeasurement("t", "a")->timing.seconds, 1);
  EXPECT_EQ((*recording)->NextMeasurement("t", "a")->timing.seconds, 4);
  EXPECT_FALSE((*recording)->NextMeasurement("t", "a").has_value());
  EXPECT_FALSE((*recording)->NextMeasurement("other", "b").has_value());
  EXPECT_EQ((*recording)->Next("compare", "t b")->at("ratio"), 0.9);
  EXPECT_EQ((*recording)->Next("network", "")->at("tuned_seconds"), 3);
  EXPECT_FALSE((*recording)->Next("layout", "0").has_value());
  EXPECT_EQ((*recording)->asked(), 7);
  EXPECT_EQ((*recording)->missing(), 3);
}

TEST_F(RecordingFileTest, NamesTheLineThatIsNoEvent) {
  const std::string good = Measured("job", "a", 1);
  for (const std::string bad :
       {"{", "[]", "{\"job\":\"job\"}", "{\"job\":1,\"event\":\"x\"}",
        "{\"job\":\"job\",\"event\":\"measurement\",\"task\":\"t\",\"candidate\":\"a\",\"outcome\":\"ok\"}",
        "{\"job\":\"job\",\"event\":\"layout\",\"class\":\"one\"}"}) {
    Write(good + bad + "\n");
    const auto recording = Recording::Load(path_);
    ASSERT_FALSE(recording.ok()) << bad;
    EXPECT_THAT(std::string(recording.status().message()), HasSubstr("events.jsonl, line 2")) << bad;
  }
  Write("\n");
  EXPECT_THAT(std::string(Recording::Load(path_).status().message()), HasSubstr("no measurements"));
}

}  // namespace
}  // namespace attune
