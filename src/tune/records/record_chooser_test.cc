#include "tune/records/record_chooser.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "plan/program.h"
#include "tune/records/records_for_test.h"
#include "tune/task/tasks_for_test.h"

namespace attune {
namespace {

Target TestTarget() { return *TargetByName("znver4"); }

KernelChoice Choose(const RecordChooser& chooser, const TuningTask& task) {
  const auto workload = task.Analyze();
  EXPECT_TRUE(workload.ok()) << workload.status();
  const auto choice = chooser.Choose(*workload, task.text, TestTarget());
  EXPECT_TRUE(choice.ok()) << choice.status();
  return *choice;
}

TEST(RecordChooserTest, TakesWhatFitsAndElseTheDefault) {
  const TuningTask task = MakeTask(kWideConvTask, {1, 2});
  const Config config = {{"tile_w", 4}, {"tile_c", 2}, {"unroll_c", 2}, {"rows_first", 0}, {"prefetch", 0}};
  const KernelChoice known = Choose(RecordChooser({{task.text, {"conv_direct", config}}}), task);
  EXPECT_EQ(known.by, ChosenBy::kRecords);
  EXPECT_EQ(known.strategy->name, "conv_direct");
  EXPECT_EQ(known.config, config);

  const KernelChoice analytic = Choose(RecordChooser({}), task);
  EXPECT_EQ(analytic.by, ChosenBy::kModel);
  const Candidate misfits[] = {
      {"conv_gone", config},
      {"gemm", {}},
      {"conv_direct", {{"tile_w", 4}}},
      {"conv_direct", {{"tile_w", 4}, {"tile_c", 3}, {"unroll_c", 2}, {"rows_first", 0}, {"prefetch", 0}}}};
  for (const Candidate& misfit : misfits) {
    const KernelChoice choice = Choose(RecordChooser({{task.text, misfit}}), task);
    EXPECT_EQ(choice.by, ChosenBy::kModel);
    EXPECT_EQ(choice.strategy, analytic.strategy);
    EXPECT_EQ(choice.config, analytic.config);
  }
}

TEST(RecordChooserTest, PrefersRecordsByAsManyThreads) {
  const RecordsFolder folder;
  const auto database = RecordDatabase::Open(folder / "records.db");
  ASSERT_TRUE(database.ok()) << database.status();
  const TuningTask task = MakeTask(kWideConvTask, {1, 2});
  const auto add = [&](int threads, int64_t tile_w, double seconds, int version_offset) {
    Record record = SampleRecord("run", threads);
    record.task = task.text;
    record.strategy_version = FindStrategy("conv_direct")->version + version_offset;
    record.config = {{"tile_w", tile_w}, {"tile_c", 2}, {"unroll_c", 1}, {"rows_first", 0}, {"prefetch", 0}};
    record.threads = threads;
    record.timing = {seconds, seconds, seconds, 10};
    EXPECT_TRUE((*database)->Add(record).ok());
  };
  add(1, 4, 1e-3, 0);
  add(2, 7, 2e-3, 0);
  add(2, 14, 1e-3, 1);  // another version, which says nothing about this one
  for (const auto& [threads, tile_w] : {std::pair(1, 4), std::pair(2, 7)}) {
    const auto chooser = RecordChooser::Load(**database, SampleRecord("run", 0).device, threads);
    ASSERT_TRUE(chooser.ok()) << chooser.status();
    const KernelChoice choice = Choose(*chooser, task);
    EXPECT_EQ(choice.config.at("tile_w"), tile_w);
    EXPECT_EQ(choice.code_digest, "0123abcd");
    const auto records = (*database)->Records({.threads = threads});
    ASSERT_TRUE(records.ok()) << records.status();
    EXPECT_EQ(choice.record, RecordDigest(records->front()));
  }
  const auto elsewhere = RecordChooser::Load(**database, "another-device", 1);
  ASSERT_TRUE(elsewhere.ok()) << elsewhere.status();
  EXPECT_EQ(elsewhere->size(), 0u);
}

TEST(RecordChooserTest, NamesTheRecordsOfARunThatItsConfigsWereFoundBy) {
  const RecordsFolder folder;
  const auto database = RecordDatabase::Open(folder / "records.db");
  ASSERT_TRUE(database.ok()) << database.status();
  const TuningTask task = MakeTask(kWideConvTask, {1, 2});
  const auto add = [&](const char* run, int trial, int64_t tile_w) {
    Record record = SampleRecord(run, trial);
    record.task = task.text;
    record.config = {{"tile_w", tile_w}, {"tile_c", 2}, {"unroll_c", 1}, {"rows_first", 0}, {"prefetch", 0}};
    record.time_ms = trial;
    EXPECT_TRUE((*database)->Add(record).ok());
    return record;
  };
  add("run", 1, 4);
  const Record latest = add("run", 2, 4);
  add("run", 3, 7);    // another config
  add("other", 4, 4);  // another run
  RecordChooser chooser({{task.text, {latest.strategy, latest.config}}});
  EXPECT_EQ(Choose(chooser, task).record, "");
  ASSERT_TRUE(chooser.NameRecords(**database, "run").ok());
  EXPECT_EQ(Choose(chooser, task).record, RecordDigest(latest));
  EXPECT_EQ(Choose(chooser, task).config, latest.config);
}

TEST(RecordChooserTest, ATaskWithoutRecordsTakesTheConfirmedConfigOfOneLikeIt) {
  const RecordsFolder folder;
  const auto database = RecordDatabase::Open(folder / "records.db");
  ASSERT_TRUE(database.ok()) << database.status();
  const TuningTask task = MakeTask(kWideConvTask, {1, 2});
  std::string larger = task.text, twice = task.text;
  for (size_t at; (at = larger.find("28,28")) != std::string::npos;) larger.replace(at, 5, "32,32");
  for (size_t at; (at = twice.find("28,28")) != std::string::npos;) twice.replace(at, 5, "56,56");
  ASSERT_NE(larger, task.text);
  Record record = SampleRecord("run", 1);
  record.task = task.text;
  record.strategy_version = FindStrategy("conv_direct")->version;
  record.config = {{"tile_w", 7}, {"tile_c", 2}, {"unroll_c", 1}, {"rows_first", 1}, {"prefetch", 1}};
  record.threads = 1;
  const auto choose = [&](const std::string& text) {
    const auto chooser = RecordChooser::Load(**database, record.device, 1);
    EXPECT_TRUE(chooser.ok()) << chooser.status();
    const auto similar = ParseTask(text);
    EXPECT_TRUE(similar.ok()) << similar.status();
    return Choose(*chooser, *similar);
  };
  ASSERT_TRUE((*database)->Add(record).ok());
  EXPECT_EQ(choose(task.text).by, ChosenBy::kRecords);
  EXPECT_EQ(choose(larger).by, ChosenBy::kModel);  // selection bias: a single time
  record.search = kConfirmation;
  ++record.time_ms;
  ASSERT_TRUE((*database)->Add(record).ok());
  EXPECT_EQ(choose(larger).by, ChosenBy::kSimilarRecords);
  EXPECT_EQ(choose(larger).config, record.config);
  EXPECT_EQ(choose(twice).by, ChosenBy::kModel);  // not similar enough
}

TEST(ExtractTasksTest, EqualGroupsAreOneTask) {
  const std::string group = R"({ graph(%x: f32[4,8]) { %y = exp(%x) : f32[4,8] return "": %y } } : f32[4,8])";
  const auto graph =
      ParseGraph("graph @g(%x: f32[4,8]) {\n%a = fused(%x) " + group + "\n%b = fused(%a) " + group + R"(
    %c = fused(%b) { graph(%x: f32[4,8]) { %y = neg(%x) : f32[4,8] return "": %y } } : f32[4,8]
    return "": %c
  })");
  ASSERT_TRUE(graph.ok()) << graph.status();
  const auto tasks = ExtractTasks(**graph, TestTarget());
  ASSERT_TRUE(tasks.ok()) << tasks.status();
  ASSERT_EQ(tasks->size(), 2u);
  EXPECT_EQ(tasks->at(0).uses, 2);
  EXPECT_EQ(tasks->at(1).uses, 1);
  EXPECT_EQ(tasks->at(0).digest, TaskDigest(tasks->at(0).text));
}

}  // namespace
}  // namespace attune
