#include "service/records/job_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_split.h"
#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "tune/records/exchange.h"
#include "tune/records/record_json.h"
#include "tune/records/records_for_test.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class JobRecordsTest : public ::testing::Test {
 protected:
  // A job that has left this database.
  JobRecord JobWith(const std::string& database) {
    const std::string content = *ReadFile(database, 1 << 22), digest = Sha256Hex(content);
    if (!files_->Has("base", digest)) {
      EXPECT_TRUE(files_->Append("base", digest, 0, content).ok());
      EXPECT_TRUE(files_->Finish("base", digest).ok());
    }
    JobRecord job;
    job.spec.id = "job";
    job.spec.base = "base";
    job.spec.settings = {{"records", "out/result.db"}};
    job.files = {{.name = "out/result.db", .digest = digest, .bytes = std::ssize(content)}};
    return job;
  }
  std::string Write(const std::string& name, const std::string& content) {
    EXPECT_TRUE(WriteFileAtomically(folder_ / name, content).ok());
    return folder_ / name;
  }
  std::string ForOthers(const JobRecord& job, const std::string& device, int threads) {
    const auto records = JobRecords::Open(job, *files_, folder_ / "copy");
    EXPECT_TRUE(records.ok()) << records.status();
    return *(*records)->ForOthers(device, threads);
  }
  static std::vector<Record> RecordsIn(const std::string& lines) {
    std::vector<Record> records;
    for (const std::string_view line : absl::StrSplit(lines, '\n', absl::SkipEmpty()))
      records.push_back(std::get<Record>(*ParseJsonLine(line)));
    return records;
  }

  testing::TemporaryFolder folder_;
  std::unique_ptr<BlobStore> files_ = *BlobStore::Open(folder_ / "files", {});
};

TEST_F(JobRecordsTest, OthersGetTheBestKernelsAndNothingElse) {
  const std::string path = folder_ / "made.db";
  auto made = MustOpen(path);
  Record fast = SampleRecord("run of ann", 0);
  fast.search = kConfirmation;
  Record elsewhere = SampleRecord("run of ann", 1);
  elsewhere.device = "ann's secret board";
  Record wide = SampleRecord("run of ann", 2);
  wide.threads = 64;
  Record slow = SampleRecord("run of ann", 3);
  slow.task = "graph @detour {\n}\n";
  slow.config = fast.config;
  ASSERT_TRUE(made->Add(std::vector<Record>{fast, SampleRecord("run of ann", 4), elsewhere, wide, slow,
                                            FailedRecord("run of ann", 7, TrialOutcome::kCrashed)})
                  .ok());
  TuningRun run = SampleRun("run of ann");
  run.model = "ann's secret model.onnx";
  ASSERT_TRUE(made->BeginRun(run).ok());
  made.reset();
  const std::string lines = ForOthers(JobWith(path), fast.device, fast.threads);
  const std::vector<Record> records = RecordsIn(lines);
  ASSERT_EQ(records.size(), 2u) << lines;
  EXPECT_EQ(records[0].config, fast.config);
  EXPECT_EQ(records[0].search, kConfirmation);
  EXPECT_EQ(records[0].timing.seconds, fast.timing.seconds);
  EXPECT_EQ(records[1].task, slow.task);
  EXPECT_EQ(records[0].time_ms, 0);
  for (const char* secret : {"ann", "board", "secret model", "signal 11"})
    EXPECT_THAT(lines, Not(HasSubstr(secret)));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "copy"));
}

TEST_F(JobRecordsTest, WhatOthersGaveIsNotPassedOn) {
  const std::string first = folder_ / "first.db", second = folder_ / "second.db";
  const Record of_ann = SampleRecord("run of ann", 0);
  ASSERT_TRUE(MustOpen(first)->Add(of_ann).ok());
  const std::string given = ForOthers(JobWith(first), of_ann.device, of_ann.threads);
  // A job of bob starts with them, and finds a slower kernel.
  const std::string lines = Write("given.jsonl", given);
  auto database = MustOpen(second);
  const DatabaseSource to = [&]() -> absl::StatusOr<RecordDatabase*> { return database.get(); };
  ASSERT_EQ(ImportRecordFile(to, lines)->added, 1);
  Record of_bob = SampleRecord("run of bob", 1);
  of_bob.timing = {1, 1, 1, 30};
  ASSERT_TRUE(database->Add(of_bob).ok());
  database.reset();
  const std::vector<Record> passed = RecordsIn(ForOthers(JobWith(second), of_ann.device, of_ann.threads));
  ASSERT_EQ(passed.size(), 1u);
  EXPECT_EQ(passed[0].config, of_bob.config);
  const auto left = JobRecords::Open(JobWith(second), *files_, folder_ / "copy");
  EXPECT_EQ((*left)->database().Records({})->size(), 1u);
}

TEST_F(JobRecordsTest, DamageIsAnError) {
  const JobRecord damaged = JobWith(Write("damaged.db", "no database"));
  EXPECT_FALSE(JobRecords::Open(damaged, *files_, folder_ / "copy").ok());
  JobRecord without = damaged;
  without.files.clear();
  EXPECT_TRUE(absl::IsNotFound(JobRecords::Open(without, *files_, folder_ / "copy").status()));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "copy"));
}

}  // namespace
}  // namespace attune
