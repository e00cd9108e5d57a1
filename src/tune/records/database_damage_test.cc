// Files that are not a database of ours, are incomplete, or must not be written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "base/random.h"
#include "tune/records/database.h"
#include "tune/records/records_for_test.h"

namespace attune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(DatabaseDamage, ANewerDatabaseIsRefused) {
  const RecordsFolder folder;
  const std::string path = folder / "records.db";
  MustOpen(path);
  ASSERT_TRUE((*SqliteConnection::Open(path, {}))->Execute("PRAGMA user_version = 7").ok());
  const absl::Status status = RecordDatabase::Open(path).status();
  EXPECT_THAT(std::string(status.message()),
              AllOf(StartsWith(path), HasSubstr("newer"), HasSubstr("update attune")));
}

TEST(DatabaseDamage, OtherFilesAreRefused) {
  const RecordsFolder folder;
  WriteAll(folder / "text.db", std::string(5000, 'x'));
  WriteAll(folder / "empty.db", "");
  ASSERT_TRUE((*SqliteConnection::Open(folder / "other.db", {}))->Execute("CREATE TABLE t (x)").ok());
  const struct {
    std::string path, error;
    DatabaseAccess access;
  } cases[] = {
      {folder / "text.db", "move it away", DatabaseAccess::kCreate},
      {folder / "other.db", "another program's", DatabaseAccess::kCreate},
      {folder.path(), "is a folder", DatabaseAccess::kCreate},
      {"/dev/null", "is a device", DatabaseAccess::kCreate},
      {folder / "text.db/records.db", "cannot make the folder", DatabaseAccess::kCreate},
      {"", "no database file", DatabaseAccess::kCreate},
      {folder / "missing.db", "no such database", DatabaseAccess::kRead},
      {folder / "empty.db", "is empty", DatabaseAccess::kRead},
  };
  for (const auto& c : cases) {
    const auto database = RecordDatabase::Open(c.path, {.access = c.access});
    ASSERT_FALSE(database.ok()) << c.path;
    EXPECT_THAT(std::string(database.status().message()), HasSubstr(c.error));
  }
  EXPECT_EQ(ReadAll(folder / "text.db"), std::string(5000, 'x'));
  EXPECT_TRUE(RecordDatabase::Open(folder / "empty.db").ok());
}

TEST(DatabaseDamage, ADamagedFileIsAnErrorAndNoMore) {
  const RecordsFolder folder;
  const std::string path = folder / "records.db";
  {
    const auto database = MustOpen(path);
    std::vector<Record> records;
    for (int64_t trial = 0; trial < 300; ++trial) records.push_back(SampleRecord("run", trial));
    ASSERT_TRUE(database->Add(records).ok());
  }
  const std::string whole = ReadAll(path);
  Random random(3);
  int refused = 0;
  for (int round = 0; round < 200; ++round) {
    std::string damaged = whole;
    if (round % 4 == 0) {
      damaged.resize(static_cast<size_t>(random.Integer(1, static_cast<int64_t>(whole.size()) - 1)));
    } else {
      for (int64_t edits = random.Integer(1, 300); edits > 0; --edits) {
        damaged[static_cast<size_t>(random.Integer(0, static_cast<int64_t>(damaged.size()) - 1))] =
            static_cast<char>(random.Integer(0, 255));
      }
    }
    const std::string file = folder / "damaged.db";
    WriteAll(file, damaged);
    absl::Status status;
    const auto database = RecordDatabase::Open(file);
    status.Update(database.status());
    if (database.ok()) {
      status.Update((*database)->Records({}).status());
      status.Update((*database)->Best({}).status());
      status.Update((*database)->Tasks({}).status());
      status.Update((*database)->Add(SampleRecord("new", 1)).status());
      status.Update((*database)->Prune({.keep_best = 3}).status());
    }
    if (!status.ok()) {
      ++refused;
      EXPECT_THAT(std::string(status.message()), AllOf(StartsWith(file + ": "), HasSubstr("; ")));
    }
    for (const char* rest : {"", "-wal", "-shm"}) unlink((file + rest).c_str());
  }
  EXPECT_GT(refused, 100);
}

// Becomes the user `nobody`, for whom folders can be read-only; returns false if that is not possible.
bool DropPrivileges() { return geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0); }

TEST(DatabaseDamage, AReadOnlyFolderCanBeReadAlone) {
  const RecordsFolder folder;
  const std::string path = folder / "records.db";
  ASSERT_TRUE(MustOpen(path)->Add(SampleRecord("run", 1)).ok());
  for (const mode_t file_mode : {0444, 0666}) {
    ASSERT_EQ(chmod(path.c_str(), file_mode), 0);
    ASSERT_EQ(chmod(folder.path().c_str(), 0555), 0);
    const pid_t child = Fork([&] {
      if (!DropPrivileges()) return 0;
      const auto reader = RecordDatabase::Open(path, {.access = DatabaseAccess::kRead});
      if (!reader.ok() || Keys(**reader).size() != 1) return 1;
      const absl::Status added = (*reader)->Add(SampleRecord("run", 2)).status();
      if (added.code() != absl::StatusCode::kPermissionDenied) return 2;
      const absl::Status opened = RecordDatabase::Open(path).status();
      if (opened.ok() && (*RecordDatabase::Open(path))->Add(SampleRecord("run", 2)).ok()) return 3;
      const absl::Status made = RecordDatabase::Open(folder / "new.db").status();
      if (made.code() != absl::StatusCode::kPermissionDenied) return 4;
      if (made.message().find("read-only") == absl::string_view::npos &&
          made.message().find("cannot be opened") == absl::string_view::npos) {
        return 5;
      }
      return 0;
    });
    EXPECT_EQ(ExitCode(child), 0);
    ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
  }
}

TEST(DatabaseDamage, RowsOfAnotherMakeArePassedOver) {
  const RecordsFolder folder;
  const std::string path = folder / "records.db";
  const auto database = MustOpen(path);
  for (int64_t trial = 1; trial <= 3; ++trial) ASSERT_TRUE(database->Add(SampleRecord("run", trial)).ok());
  const auto raw = SqliteConnection::Open(path, {});
  ASSERT_TRUE((*raw)->Execute("UPDATE records SET outcome = 'melted' WHERE trial = 2").ok());
  ASSERT_TRUE((*raw)->Execute("UPDATE records SET config = '[[[', seconds = 1e-9 WHERE trial = 3").ok());
  int64_t unreadable = 0;
  EXPECT_TRUE(database->ForEachRecord({}, [](const Record&) { return absl::OkStatus(); }, &unreadable).ok());
  EXPECT_EQ(unreadable, 2);
  const auto best = database->Best({});
  ASSERT_TRUE(best.ok()) << best.status();
  ASSERT_EQ(best->size(), 1u);
  EXPECT_EQ((*best)[0].record.trial, 1);
}

}  // namespace
}  // namespace attune
