#include "tune/records/exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "tune/records/record_json.h"
#include "tune/records/records_for_test.h"

namespace attune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Lines(const std::string& run, int64_t records) {
  std::string lines;
  for (int64_t trial = 0; trial < records; ++trial) lines += ToJsonLine(SampleRecord(run, trial)) + "\n";
  return lines;
}

DatabaseSource Into(RecordDatabase& database) {
  return [&database] { return &database; };
}

class ExchangeTest : public ::testing::Test {
 protected:
  absl::StatusOr<ImportReport> Import(const std::string& lines, const RecordImportOptions& options = {}) {
    std::istringstream in(lines);
    return ImportRecords(Into(*database_), in, "file.jsonl", options);
  }
  size_t Size() { return database_->Records({})->size(); }

  RecordsFolder folder_;
  std::unique_ptr<RecordDatabase> database_ = MustOpen(folder_ / "records.db");
};

TEST_F(ExchangeTest, ImportingTwiceChangesNothing) {
  const std::string lines = ToJsonLine(SampleRun("a")) + "\n" + Lines("a", 600) + "\n\r\n" + Lines("b", 3);
  for (int64_t added : {603, 0}) {
    const auto report = Import(lines);
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(report->records, 603);
    EXPECT_EQ(report->added, added);
    EXPECT_EQ(report->runs_added, added > 0 ? 1 : 0);
    EXPECT_EQ(Size(), 603u);
  }
}

TEST_F(ExchangeTest, ExportIsImportsReverse) {
  ASSERT_TRUE(Import(Lines("a", 20) + ToJsonLine(SampleRun("a")) + "\n" +
                     ToJsonLine(FailedRecord("a", 99, TrialOutcome::kOutOfMemory)))
                  .ok());
  const auto report = ExportRecordFile(*database_, {}, folder_ / "out.jsonl");
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->records, 21);
  EXPECT_EQ(report->runs, 1);
  const auto copy = MustOpen(folder_ / "copy.db");
  ASSERT_TRUE(ImportRecordFile(Into(*copy), folder_ / "out.jsonl").ok());
  ASSERT_TRUE(ExportRecordFile(*copy, {}, folder_ / "again.jsonl").ok());
  const auto read = [&](const std::string& name) {
    std::ifstream file(folder_ / name);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  EXPECT_EQ(read("again.jsonl"), read("out.jsonl"));
  // Its own export adds nothing new.
  EXPECT_EQ(ImportRecordFile(Into(*database_), folder_ / "out.jsonl")->added, 0);
  const auto one = ExportRecordFile(*database_, {.run = "b"}, folder_ / "none.jsonl");
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one->records + one->runs, 0);
  EXPECT_EQ(read("none.jsonl"), "");
}

TEST_F(ExchangeTest, ADamagedLineIsNamed) {
  const std::string lines = Lines("a", 3) + "{\"schema\":1\n" + Lines("b", 2);
  const auto report = Import(lines);
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(std::string(report.status().message()),
              AllOf(StartsWith("file.jsonl:4: the line is not JSON"), HasSubstr("--skip-damaged")));
  EXPECT_EQ(Size(), 3u);
  const auto skipped = Import(lines, {.skip_damaged = true});
  ASSERT_TRUE(skipped.ok()) << skipped.status();
  EXPECT_EQ(skipped->added, 2);
  EXPECT_EQ(skipped->skipped, 1);
  EXPECT_THAT(skipped->first_skipped, StartsWith("file.jsonl:4: "));
}

TEST_F(ExchangeTest, ALongLineIsPassedOver) {
  const std::string line = ToJsonLine(SampleRecord("a", 1));
  for (const size_t length : {kMaxLineBytes + 1, kMaxLineBytes + 2, kMaxLineBytes + 3, 5 * kMaxLineBytes}) {
    for (const char* end : {"\n", ""}) {
      const auto report = Import(line + "\n" + std::string(length, 'x') + end, {.skip_damaged = true});
      ASSERT_TRUE(report.ok()) << report.status();
      EXPECT_EQ(report->skipped, 1);
      EXPECT_EQ(report->records, 1);
      EXPECT_THAT(report->first_skipped, HasSubstr("file.jsonl:2: the line is longer"));
    }
  }
  // As long as allowed.
  const auto report = Import(std::string(kMaxLineBytes - line.size(), ' ') + line + "\n" + line, {});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->records, 2);
}

TEST_F(ExchangeTest, MergesDatabases) {
  {
    const auto other = MustOpen(folder_ / "other.db");
    ASSERT_TRUE(other->BeginRun(SampleRun("b")).ok());
    for (int64_t trial = 0; trial < 300; ++trial) {
      ASSERT_TRUE(other->Add(SampleRecord(trial % 2 == 0 ? "a" : "b", trial)).ok());
    }
  }
  ASSERT_TRUE(database_->Add(SampleRecord("a", 0)).ok());
  for (int64_t added : {299, 0}) {
    const auto report =
        MergeRecords(*database_, *MustOpen(folder_ / "other.db", {.access = DatabaseAccess::kRead}));
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(report->records, 300);
    EXPECT_EQ(report->added, added);
  }
  EXPECT_EQ(Size(), 300u);
  EXPECT_EQ(database_->Runs()->size(), 1u);
  EXPECT_FALSE(MergeRecords(*database_, *MustOpen(folder_ / "records.db")).ok());
}

TEST_F(ExchangeTest, TheDatabaseIsAskedForLate) {
  int asked = 0;
  const DatabaseSource source = [&] {
    ++asked;
    return database_.get();
  };
  const auto import = [&](const std::string& lines) {
    std::istringstream in(lines);
    return ImportRecords(source, in, "file.jsonl").ok();
  };
  EXPECT_FALSE(import("no record\n"));
  EXPECT_FALSE(ImportRecordFile(source, folder_ / "missing").ok());
  EXPECT_EQ(asked, 0);
  EXPECT_FALSE(import(Lines("a", 2) + "no record\n"));
  EXPECT_EQ(Size(), 2u);
  asked = 0;
  EXPECT_TRUE(import(""));
  EXPECT_EQ(asked, 1);
}

TEST_F(ExchangeTest, FilesThatCannotBe) {
  EXPECT_EQ(ImportRecordFile(Into(*database_), folder_ / "missing").status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_FALSE(ImportRecordFile(Into(*database_), folder_.path()).ok());
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(std::string(ImportRecordFile(Into(*database_), folder_ / "pipe").status().message()),
              HasSubstr("is a pipe, not a file; name it -"));
  EXPECT_FALSE(ExportRecordFile(*database_, {}, folder_ / "missing/out.jsonl").ok());
  // The receiver's error ends the export.
  ASSERT_TRUE(database_->Add(SampleRecord("a", 0)).ok());
  const auto report =
      ExportRecords(*database_, {}, [](std::string_view) { return absl::UnavailableError("enough"); });
  EXPECT_EQ(report.status().message(), "enough");
}

}  // namespace
}  // namespace attune
