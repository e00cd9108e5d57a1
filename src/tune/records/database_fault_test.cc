// The database under faults: other processes, sudden ends, disks that are full or fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <set>
#include <thread>

#include "base/log.h"
#include "base/random.h"
#include "tune/records/database.h"
#include "tune/records/exchange.h"
#include "tune/records/record_json.h"
#include "tune/records/records_for_test.h"

namespace attune {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

int AddOneByOne(const std::string& path, const std::string& run, int64_t records) {
  const auto database = RecordDatabase::Open(path);
  if (!database.ok()) {
    std::fprintf(stderr, "%s\n", database.status().ToString().c_str());
    return 1;
  }
  for (int64_t trial = 0; trial < records; ++trial) {
    const auto added = (*database)->Add(SampleRecord(run, trial));
    if (!added.ok()) {
      std::fprintf(stderr, "%s\n", added.status().ToString().c_str());
      return 2;
    }
  }
  return 0;
}

TEST(DatabaseFaults, ManyProcessesLoseAndDoubleNothing) {
  const RecordsFolder folder;
  const std::string path = folder / "records.db";
  constexpr int64_t kRecords = 500;
  // Some of the imported records are the same as those that a tuner adds at the same time.
  std::string lines;
  for (int64_t trial = 0; trial < kRecords; ++trial) {
    lines += ToJsonLine(SampleRecord(trial % 2 == 0 ? "import" : "one", trial)) + "\n";
  }
  WriteAll(folder / "lines.jsonl", lines);
  const std::vector<pid_t> children = {
      Fork([&] { return AddOneByOne(path, "one", kRecords); }),
      Fork([&] { return AddOneByOne(path, "two", kRecords); }),
      Fork([&] {
        const auto database = RecordDatabase::Open(path);
        const DatabaseSource source = [&] { return database->get(); };
        return database.ok() && ImportRecordFile(source, folder / "lines.jsonl").ok() ? 0 : 1;
      }),
      Fork([&] {
        const auto database = RecordDatabase::Open(path);
        if (!database.ok()) return 1;
        for (int i = 0; i < 20; ++i) {
          if (!(*database)->Best({}).ok()) return 2;
        }
        return 0;
      }),
  };
  for (pid_t child : children) EXPECT_EQ(ExitCode(child), 0);
  std::multiset<std::pair<std::string, int64_t>> expected;
  for (int64_t trial = 0; trial < kRecords; ++trial) {
    expected.emplace("one", trial);
    expected.emplace("two", trial);
    if (trial % 2 == 0) expected.emplace("import", trial);
  }
  EXPECT_EQ(Keys(*MustOpen(path)), expected);
}

TEST(DatabaseFaults, ManyProcessesMakeItAtOnce) {
  const RecordsFolder folder;
  for (int round = 0; round < 10; ++round) {
    const std::string path = folder / std::to_string(round) + "/records.db";
    std::vector<pid_t> children;
    for (int i = 0; i < 6; ++i) {
      children.push_back(Fork([&] { return AddOneByOne(path, std::to_string(i), 2); }));
    }
    for (pid_t child : children) EXPECT_EQ(ExitCode(child), 0);
    EXPECT_EQ(Keys(*MustOpen(path)).size(), 12u);
  }
}

TEST(DatabaseFaults, ManyThreadsShareOne) {
  const RecordsFolder folder;
  const auto database = MustOpen(folder / "records.db");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int64_t trial = 0; trial < 50; ++trial) {
        EXPECT_TRUE(database->Add(SampleRecord(std::to_string(i), trial)).ok());
        EXPECT_TRUE(database->Best({}).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Keys(*database).size(), 200u);
}

TEST(DatabaseFaults, ASuddenEndLosesTheRecordInFlightAtMost) {
  const RecordsFolder folder;
  const std::string path = folder / "records.db";
  Random random(7);
  int64_t acknowledged = 0;
  for (int round = 0; round < 20; ++round) {
    std::array<int, 2> pipe_ends;
    ASSERT_EQ(pipe(pipe_ends.data()), 0);
    const std::string run = std::to_string(round);
    const pid_t child = Fork([&] {
      const auto database = RecordDatabase::Open(path);
      if (!database.ok()) return 1;
      for (int64_t trial = 0;; ++trial) {
        if (!(*database)->Add(SampleRecord(run, trial)).ok()) return 2;
        if (write(pipe_ends[1], &trial, sizeof(trial)) != sizeof(trial)) return 3;
      }
    });
    close(pipe_ends[1]);
    int64_t last = -1, trial = 0;
    for (int64_t wanted = random.Integer(0, 20); last + 1 < wanted; last = trial)
      ASSERT_EQ(read(pipe_ends[0], &trial, sizeof(trial)), static_cast<ssize_t>(sizeof(trial)));
    std::this_thread::sleep_for(std::chrono::microseconds(random.Integer(0, 3000)));  // into a record
    ASSERT_EQ(kill(child, SIGKILL), 0);
    EXPECT_EQ(ExitCode(child), -1);
    while (read(pipe_ends[0], &trial, sizeof(trial)) == sizeof(trial)) last = trial;
    close(pipe_ends[0]);
    const auto database = MustOpen(path);
    ASSERT_NE(database, nullptr);
    const auto records = database->Records({.run = run});
    ASSERT_TRUE(records.ok()) << records.status();
    const auto known = static_cast<int64_t>(records->size());
    EXPECT_GE(known, last + 1);
    EXPECT_LE(known, last + 2);
    for (int64_t i = 0; i < known; ++i) EXPECT_EQ((*records)[static_cast<size_t>(i)].trial, i);
    acknowledged += last + 1;
  }
  EXPECT_GT(acknowledged, 0);
}

// The system's VFS, but after a number of writes, every further write fails, as on a dying disk.
class DyingDisk {
 public:
  static constexpr const char* kName = "dying_disk";
  explicit DyingDisk(int64_t writes) {
    writes_left_ = writes;
    system_ = sqlite3_vfs_find(nullptr);
    vfs_ = *system_;
    vfs_.zName = kName;
    vfs_.xOpen = &DyingDisk::Open;
    sqlite3_vfs_register(&vfs_, 0);
  }
  ~DyingDisk() { sqlite3_vfs_unregister(&vfs_); }
  DyingDisk(const DyingDisk&) = delete;
  DyingDisk& operator=(const DyingDisk&) = delete;

 private:
  static int Open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
    const int code = system_->xOpen(system_, name, file, flags, out_flags);
    if (code != SQLITE_OK) return code;
    // SQLite uses different method tables for a database and for its log, which needs no locks.
    sqlite3_io_methods& methods = methods_[(flags & SQLITE_OPEN_MAIN_DB) != 0 ? 0 : 1];
    methods = *file->pMethods;
    write_ = methods.xWrite;
    methods.xWrite = &DyingDisk::Write;
    file->pMethods = &methods;
    return code;
  }
  static int Write(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
    if (writes_left_-- <= 0) return SQLITE_IOERR_WRITE;
    return write_(file, data, size, offset);
  }

  static inline int64_t writes_left_ = 0;
  static inline sqlite3_vfs* system_ = nullptr;
  static inline std::array<sqlite3_io_methods, 2> methods_ = {};
  static inline decltype(sqlite3_io_methods::xWrite) write_ = nullptr;
  sqlite3_vfs vfs_;
};

TEST(DatabaseFaults, ADyingDiskTakesNothingThatWasAdded) {
  const RecordsFolder folder;
  int64_t most = 0;
  for (int64_t writes = 0; writes < 160; writes += writes < 24 ? 2 : 11) {
    const std::string path = folder / std::to_string(writes) + ".db";
    int64_t added = 0;
    {
      const DyingDisk disk(writes);
      const auto database = RecordDatabase::Open(path, {.vfs = DyingDisk::kName});
      if (database.ok()) {
        for (int64_t trial = 0; trial < 40; ++trial) {
          const auto result = (*database)->Add(SampleRecord("run", trial));
          if (!result.ok()) {
            EXPECT_THAT(std::string(result.status().message()),
                        StartsWith(path + ": cannot be read or written"));
            break;
          }
          ++added;
        }
      }
    }
    const auto database = MustOpen(path);
    ASSERT_NE(database, nullptr);
    const auto known = static_cast<int64_t>(Keys(*database).size());
    EXPECT_GE(known, added) << writes;
    EXPECT_LE(known, added + 1) << writes;
    most = std::max(most, added);
  }
  EXPECT_GT(most, 5);
}

TEST(DatabaseFaults, AFullDiskIsAnErrorThatPasses) {
  const RecordsFolder folder;
  const std::string path = folder / "records.db";
  int64_t added = 0;
  {
    const auto database = MustOpen(path, {.max_pages = 24});
    ASSERT_NE(database, nullptr);
    absl::StatusOr<int64_t> result = 1;
    while (result.ok() && added < 1000) {
      result = database->Add(SampleRecord("run", added));
      if (result.ok()) ++added;
    }
    EXPECT_EQ(result.status().code(), absl::StatusCode::kResourceExhausted);
    EXPECT_THAT(std::string(result.status().message()), AllOf(StartsWith(path), HasSubstr("disk is full")));
    EXPECT_EQ(static_cast<int64_t>(Keys(*database).size()), added);
  }
  const auto database = MustOpen(path);
  EXPECT_TRUE(database->Add(SampleRecord("run", added)).ok());
  EXPECT_EQ(static_cast<int64_t>(Keys(*database).size()), added + 1);
}

std::vector<std::string> log_lines;

TEST(DatabaseFaults, ALockThatStaysIsSaidAndThenAnError) {
  const RecordsFolder folder;
  const std::string path = folder / "records.db";
  using std::chrono::milliseconds;
  const auto database = MustOpen(path, {.patience = milliseconds(200), .notice = milliseconds(0)});
  const auto other = SqliteConnection::Open(path, {});
  ASSERT_TRUE(other.ok());
  ASSERT_TRUE((*other)->Execute("BEGIN IMMEDIATE").ok());
  EXPECT_TRUE(database->Records({}).ok());  // reading still works
  log_lines.clear();
  const LogSink before = SetLogSink([](LogLevel, std::string_view line) { log_lines.emplace_back(line); });
  const absl::Status status = database->Add(SampleRecord("run", 1)).status();
  SetLogSink(before);
  EXPECT_THAT(log_lines, ElementsAre(AllOf(StartsWith("waiting"), HasSubstr("file=" + path))));
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("locked"));
  ASSERT_TRUE((*other)->Execute("COMMIT").ok());
  EXPECT_TRUE(database->Add(SampleRecord("run", 1)).ok());
}

}  // namespace
}  // namespace attune
