#include "tune/records/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/random.h"
#include "tune/records/record_json.h"
#include "tune/records/records_for_test.h"

namespace attune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::SizeIs;

// The JSON line of a record with one part replaced.
std::string Line(const std::string& part, const std::string& replacement) {
  std::string line = ToJsonLine(SampleRecord("run", 1));
  const size_t at = line.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return line.replace(at, part.size(), replacement);
}

TEST(RecordJson, RecordsComeBack) {
  Record record = SampleRecord("2026-01-02.7f", 17);
  record.task = "graph @g(%\"zwei Wörter\": f32[1]) {\n\t\"\\\" }\n";
  record.config["offset"] = std::numeric_limits<int64_t>::min();
  record.timing = {1.0 / 3, 0.1 + 0.2, 1e8, 7};
  for (Record r : {record, FailedRecord("run", 3, TrialOutcome::kCrashed)}) {
    ASSERT_TRUE(Normalize(r).ok());
    const std::string line = ToJsonLine(r);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const auto parsed = ParseJsonLine(line);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    const Record& back = std::get<Record>(*parsed);
    EXPECT_EQ(ToJsonLine(back), line);
    EXPECT_EQ(RecordDigest(back), RecordDigest(r));
    EXPECT_EQ(back.task, r.task);
    EXPECT_EQ(back.config, r.config);
    EXPECT_EQ(back.timing.seconds, r.timing.seconds);
    EXPECT_EQ(back.reason, r.reason);
  }
}

TEST(RecordJson, RunsComeBack) {
  TuningRun run = SampleRun("r");
  run.state = RunState::kInterrupted;
  run.stage_seconds = " {\"search\": 1.5, \"build\": {\"b\": [1, 2], \"a\": null}} ";
  ASSERT_TRUE(Normalize(run).ok());
  EXPECT_EQ(run.stage_seconds, R"({"build":{"a":null,"b":[1,2]},"search":1.5})");
  const auto parsed = ParseJsonLine(ToJsonLine(run));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(ToJsonLine(std::get<TuningRun>(*parsed)), ToJsonLine(run));
}

TEST(RecordJson, FieldsOfLaterVersionsAreIgnored) {
  EXPECT_TRUE(ParseJsonLine(Line("{\"schema\":1", "{\"later\":[{}],\"schema\":1")).ok());
}

TEST(RecordJson, EveryFieldIsNeededAndOfItsType) {
  for (const std::string& line : {ToJsonLine(SampleRecord("run", 1)), ToJsonLine(SampleRun("r")),
                                  ToJsonLine(FailedRecord("run", 1, TrialOutcome::kRetry))}) {
    for (size_t at = line.find("\":"); at != std::string::npos; at = line.find("\":", at + 1)) {
      const size_t begin = line.rfind('"', at - 1) + 1;
      const std::string field = line.substr(begin, at - begin);
      if (field == "tile_c" || field == "tile_w" || field == "strategy" || field == "trials") continue;
      std::string missing = line, wrong = line;
      missing.replace(begin, field.size(), "other");
      wrong.replace(at + 2, 0, "[true],\"tail\":");
      for (const std::string& damaged : {missing, wrong}) {
        const auto parsed = ParseJsonLine(damaged);
        ASSERT_FALSE(parsed.ok()) << damaged;
        EXPECT_THAT(std::string(parsed.status().message()), HasSubstr("\"" + field + "\"")) << damaged;
      }
    }
  }
}

TEST(RecordJson, RefusesWhatIsNoRecord) {
  const struct {
    std::string line, error;
  } cases[] = {
      {"", "not JSON"},
      {"{", "not JSON"},
      {"[1]", "not a JSON object"},
      {"\xff\xfe", "not JSON"},
      {"{\"schema\":1}", "\"kind\" is missing"},
      {std::string(100, '['), "nested"},
      {"{\"a\":\"" + std::string(kMaxLineBytes, 'x') + "\"}", "longer"},
      {Line("\"schema\":1", "\"schema\":2"), "newer"},
      {Line("\"schema\":1", "\"schema\":0"), "schema"},
      {Line("\"schema\":1", "\"schema\":1.5"), "schema"},
      {Line("\"kind\":\"record\"", "\"kind\":\"recipe\""), "kind"},
      {Line("\"threads\":2", "\"threads\":0"), "threads"},
      {Line("\"threads\":2", "\"threads\":9223372036854775807"), "threads"},
      {Line("\"threads\":2", "\"threads\":18446744073709551615"), "threads"},
      {Line("\"threads\":2", "\"threads\":-1"), "threads"},
      {Line("\"tile_c\":4", "\"tile_c\":4.5"), "config"},
      {Line("\"tile_c\":4", "\"tile_c\":null"), "config"},
      {Line("\"tile_c\":4", "\"tile\\u0007c\":4"), "config"},
      {Line("\"outcome\":\"ok\"", "\"outcome\":\"perhaps\""), "outcome"},
      {Line("\"outcome\":\"ok\"", "\"outcome\":\"crashed\""), "reason"},
      {Line("\"cache\":\"warm\"", "\"cache\":\"hot\""), "cache"},
      {Line("\"low\":0.001", "\"low\":0.5"), "low"},
      {Line("\"seconds\":", "\"seconds\":0,\"was\":"), "seconds"},
      {Line("\"seconds\":", "\"seconds\":-1,\"was\":"), "seconds"},
      {Line("\"seconds\":", "\"seconds\":1e999,\"was\":"), "not JSON"},
      {Line("\"repetitions\":30", "\"repetitions\":0"), "repetitions"},
      {Line("\"run\":\"run\"", "\"run\":\"\""), "run"},
      {Line("\"run\":\"run\"", "\"run\":\"\\u001b[2J\""), "run"},
      {Line("\"device\":\"", "\"device\":\"" + std::string(kMaxNameBytes, 'd')), "device"},
      {Line("\"task\":\"", "\"task\":\"\\u0000"), "task"},
      {Line("\"task\":\"", "\"task\":\"" + std::string(kMaxTaskBytes, 't')), "task"},
      {Line("\"task\":\"", "\"task\":\"\",\"was\":\""), "task"},
      {Line("\"task\":\"", "\"task\":\"\xc3\x28"), "not JSON"},
  };
  for (const auto& c : cases) {
    const auto parsed = ParseJsonLine(c.line);
    ASSERT_FALSE(parsed.ok()) << c.line.substr(0, 200);
    EXPECT_THAT(std::string(parsed.status().message()), AllOf(HasSubstr(c.error), SizeIs(Le(600u))))
        << c.line.substr(0, 200);
  }
}

TEST(RecordJson, SurvivesDamagedLines) {
  Random random(1);
  const std::string good = ToJsonLine(SampleRecord("run", 1));
  for (int i = 0; i < 20000; ++i) {
    std::string line = good;
    for (int64_t edits = random.Integer(1, 4); edits > 0; --edits) {
      const auto at = static_cast<size_t>(random.Integer(0, static_cast<int64_t>(line.size()) - 1));
      switch (random.Integer(0, 3)) {
        case 0:
          line[at] = static_cast<char>(random.Integer(0, 255));
          break;
        case 1:
          line.erase(at, static_cast<size_t>(random.Integer(1, 9)));
          break;
        case 2:
          line.insert(at, good.substr(static_cast<size_t>(random.Integer(0, 300)), 20));
          break;
        default:
          line[at] = "{}[]\",:0-.eE\\"[random.Integer(0, 12)];
      }
      if (line.empty()) line = " ";
    }
    const auto parsed = ParseJsonLine(line);
    if (!parsed.ok()) continue;
    // Accepted records are complete: they can be written and read again.
    const auto again = ParseJsonLine(ToJsonLine(std::get<Record>(*parsed)));
    EXPECT_TRUE(again.ok()) << again.status() << "\n" << line;
  }
}

TEST(RecordJson, ALineIsAsLongAsItMayBe) {
  Record record = FailedRecord("run", 1, TrialOutcome::kRetry);
  record.task = std::string(kMaxTaskBytes, '\n');
  record.reason = std::string(10 * kMaxReasonBytes, '\n');
  for (size_t i = 0; record.config.size() < kMaxConfigNumbers; ++i) {
    record.config[std::string(kMaxNameBytes - 8, '"') + std::to_string(i)] = INT64_MIN;
  }
  ASSERT_TRUE(Normalize(record).ok());
  EXPECT_TRUE(ParseJsonLine(ToJsonLine(record)).ok());
}

TEST(RecordNormalize, TakesAnyReason) {
  Record record = FailedRecord("run", 1, TrialOutcome::kBuildFailed);
  for (const std::string& reason : {std::string("a\0b\x1b[2J\xff", 8), std::string(100000, '\xc3'),
                                    std::string(kMaxReasonBytes, '\xff'), std::string()}) {
    record.reason = reason;
    ASSERT_TRUE(Normalize(record).ok());
    EXPECT_LE(record.reason.size(), kMaxReasonBytes);
    Record again = record;
    ASSERT_TRUE(Normalize(again).ok());
    EXPECT_EQ(again.reason, record.reason);
    EXPECT_TRUE(ParseJsonLine(ToJsonLine(record)).ok());
  }
}

TEST(RecordNormalize, RefusesNumbersThatAreNone) {
  for (double seconds :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -1.0, 0.0}) {
    Record record = SampleRecord("run", 1);
    record.timing.seconds = seconds;
    EXPECT_FALSE(Normalize(record).ok()) << seconds;
  }
}

TEST(RecordDigest, TellsMeasurementsApart) {
  const Record record = SampleRecord("run", 1);
  Record other = record;
  other.flops = 0;
  EXPECT_EQ(RecordDigest(other), RecordDigest(record));  // belongs to the task, not to the measurement
  other.task += " ";
  EXPECT_NE(RecordDigest(other), RecordDigest(record));
  EXPECT_NE(RecordDigest(SampleRecord("run", 2)), RecordDigest(record));
  EXPECT_NE(RecordDigest(SampleRecord("ruN", 1)), RecordDigest(record));
}

TEST(DescribeTask, NamesOperatorsAndShapes) {
  const std::string graph =
      "graph @conv(%x: f32[1,64,56,56], %\"two words\": f32[64,64,3,3]) {\n"
      "  %c = constant() {value = f32[1]<1>} : f32[1]\n"
      "  %0 = conv(%x, %w) {pads = [1, 1, 1, 1]} @\"a/b\" : f32[1,64,56,56]\n"
      "  %1 = relu(%0) : f32[1,64,56,56]{c1/16}\n  return \"\": %1\n}\n";
  EXPECT_EQ(DescribeTask(graph, 100), "conv+relu f32[1,64,56,56] f32[64,64,3,3] -> f32[1,64,56,56]{c1/16}");
  EXPECT_EQ(DescribeTask(graph, 12), "conv+relu…");
  EXPECT_EQ(DescribeTask("gemm 64 64\x1b[2J\nmore", 40), "gemm 64 64?[2J");
  EXPECT_EQ(DescribeTask("äääää", 7), "ää…");
  for (const char* odd : {"", "\n", "graph{", "graph {\n = (\n", "graph @x) {\n%y = (: \n: "}) {
    EXPECT_LE(DescribeTask(odd, 20).size(), 20u);
  }
}

}  // namespace
}  // namespace attune
