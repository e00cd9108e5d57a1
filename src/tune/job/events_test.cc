#include "tune/job/events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/testing/manual_clock.h"
#include "tune/records/records_for_test.h"

namespace attune {
namespace {

TEST(EventLogTest, WritesALineAnEventAndAppends) {
  const RecordsFolder folder;
  const std::string path = folder / "events.jsonl";
  ManualClock clock;
  for (int run = 0; run < 2; ++run) {
    const auto log = EventLog::Open(path, "run", clock);
    ASSERT_TRUE(log.ok()) << log.status();
    clock.Advance(1.5);
    EXPECT_TRUE((*log)->Write("trial", {{"task", "\xff"}, {"seconds_measured", 0.5}}).ok());
  }
  const auto text = ReadFile(path, 1 << 20);
  ASSERT_TRUE(text.ok()) << text.status();
  const std::string line =
      "{\"event\":\"trial\",\"job\":\"run\",\"seconds\":1.5,\"seconds_measured\":0.5,\"task\":"
      "\"\xEF\xBF\xBD\"}\n";
  EXPECT_EQ(*text, line + line);
}

TEST(EventLogTest, SaysWhereItCannotWrite) {
  EXPECT_TRUE(EventLog::Open("", "run", SystemClock()).ok());
  const auto nowhere = EventLog::Open("/nonexistent/events.jsonl", "run", SystemClock());
  EXPECT_THAT(std::string(nowhere.status().message()), ::testing::HasSubstr("/nonexistent/events.jsonl"));
  const auto full = EventLog::Open("/dev/full", "run", SystemClock());
  ASSERT_TRUE(full.ok()) << full.status();
  EXPECT_TRUE(absl::IsResourceExhausted((*full)->Write("trial", nlohmann::json::object())));
}

}  // namespace
}  // namespace attune
