// Shared by the tests of tune/: records, a temporary folder, and other processes.
#ifndef ATTUNE_TUNE_RECORDS_RECORDS_FOR_TEST_H_
#define ATTUNE_TUNE_RECORDS_RECORDS_FOR_TEST_H_

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "tune/records/database.h"
#include "tune/records/record.h"

namespace attune {

// A folder that is removed together with its contents.
class RecordsFolder {
 public:
  RecordsFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "attune_tune_XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  ~RecordsFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  RecordsFolder(const RecordsFolder&) = delete;
  RecordsFolder& operator=(const RecordsFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// A valid record; different runs or trials give different records.
inline Record SampleRecord(const std::string& run, int64_t trial) {
  Record record;
  record.task = "graph @conv(%x: f32[1,64,56,56], %w: f32[64,64,3,3]) {\n  …\n}\n";
  record.flops = 2e8;
  record.strategy = "conv_direct";
  record.strategy_version = 3;
  record.config = {{"tile_c", 4}, {"tile_w", 7 + trial % 5}};
  record.device = "some-processor/znver4/l1-32k";
  record.threads = 2;
  record.timing = {1e-3 + 1e-6 * static_cast<double>(trial), 1e-3, 2e-3, 30};
  record.run = run;
  record.trial = trial;
  record.search = "random";
  record.compiler_version = "0.1.0";
  record.code_digest = "0123abcd";
  record.cache = CacheMode::kWarm;
  record.time_ms = 1'700'000'000'000 + trial;
  record.build_seconds = 0.03;
  record.measure_seconds = 0.1;
  return record;
}

inline Record FailedRecord(const std::string& run, int64_t trial, TrialOutcome outcome) {
  Record record = SampleRecord(run, trial);
  record.outcome = outcome;
  record.timing = {};
  record.reason = "signal 11";
  return record;
}

inline TuningRun SampleRun(const std::string& id) {
  TuningRun run;
  run.id = id;
  run.model = "resnet50.onnx";
  run.model_digest = "abcd";
  run.device = "some-processor/znver4/l1-32k";
  run.threads = 2;
  run.options = R"({"strategy":"random","trials":100})";
  run.start_ms = 1'700'000'000'000;
  return run;
}

// The database at `path`, which must open.
inline std::unique_ptr<RecordDatabase> MustOpen(const std::string& path, const SqliteOptions& options = {}) {
  auto database = RecordDatabase::Open(path, options);
  EXPECT_TRUE(database.ok()) << database.status();
  return database.ok() ? *std::move(database) : nullptr;
}

inline void WriteAll(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// The run and trial of every record.
inline std::multiset<std::pair<std::string, int64_t>> Keys(RecordDatabase& database) {
  std::multiset<std::pair<std::string, int64_t>> keys;
  const absl::Status status = database.ForEachRecord({}, [&](const Record& record) {
    keys.emplace(record.run, record.trial);
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status;
  return keys;
}

// Runs `work` in a child process; it returns the exit code.
inline pid_t Fork(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  return child;
}

inline int ExitCode(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace attune

#endif  // ATTUNE_TUNE_RECORDS_RECORDS_FOR_TEST_H_
