#include "process/backup/backup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/sqlite/sqlite.h"
#include "base/status.h"
#include "base/testing/temporary_folder.h"
#include "fleet/admission/restored_times.h"
#include "fleet/blobs/blob_store.h"
#include "fleet/identity/authority_files.h"
#include "fleet/store/fleet_store.h"
#include "process/backup/archive.h"
#include "process/backup/frozen_state.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::TemporaryFolder;

constexpr char kPassphrase[] = "a passphrase for tests";

// The files that a server's state starts with.
void MakeState(const std::string& folder) {
  ASSERT_TRUE(AuthorityFiles::OpenOrCreate(folder).ok());
  ASSERT_TRUE((*FleetStore::Open(folder + "/fleet.db"))->NextEpoch().ok());
}

TEST(IsArchivePath, LeadsBelowItsFolder) {
  for (const char* path : {"a", "a/b", "a/..b/c", ".a"}) EXPECT_TRUE(IsArchivePath(path)) << path;
  for (const char* path : {"", "/a", "..", "a/../b", "../a", "a/..", "./a", "a//../b", "a/"})
    EXPECT_FALSE(IsArchivePath(path)) << path;
}

TEST(Restore, GivesBackFilesAndTheirLinks) {
  const TemporaryFolder folder;
  const std::string state = folder / "state", restored = folder / "restored", backup = folder / "backup";
  MakeState(state);
  {
    auto blobs = *BlobStore::Open(state + "/uploads", {});
    const std::string digest = Sha256Hex("content");
    for (const char* owner : {"ann", "bob"}) {
      ASSERT_TRUE(blobs->Append(owner, digest, 0, "content").ok());
      ASSERT_TRUE(blobs->Finish(owner, digest).ok());
    }
    ASSERT_TRUE(blobs->Append("ann", Sha256Hex("more"), 0, "mo").ok());
  }
  const absl::StatusOr<BackupReport> written = BackUp({.folder = state}, backup, kPassphrase, "1.2.3");
  ASSERT_TRUE(written.ok()) << written.status();
  const absl::StatusOr<RestoreReport> report = Restore(backup, {.folder = restored}, kPassphrase);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->version, "1.2.3");
  EXPECT_EQ(report->backup.files, written->files);
  EXPECT_EQ(report->backup.bytes, written->bytes);
  auto blobs = *BlobStore::Open(restored + "/uploads", {});
  EXPECT_TRUE(blobs->Has("ann", Sha256Hex("content")));
  EXPECT_TRUE(blobs->Has("bob", Sha256Hex("content")));
  EXPECT_FALSE(blobs->Has("eve", Sha256Hex("content")));
  EXPECT_EQ(blobs->bytes(), 7);  // once
  EXPECT_EQ(*blobs->Sent("ann", Sha256Hex("more")), 2);
  EXPECT_TRUE(AuthorityFiles::OpenOrCreate(restored).ok());  // still private
  EXPECT_FALSE(std::filesystem::exists(state + "/.backup-files"));
}

TEST(Restore, TheFleetsBlobsAreNotKept) {
  const TemporaryFolder folder;
  const std::string state = folder / "state", restored = folder / "restored", backup = folder / "backup";
  MakeState(state);
  const std::string kernel = Sha256Hex("kernel"), content(1 << 20, 'x');
  {
    auto blobs = *BlobStore::Open(state + "/blobs", {});
    ASSERT_TRUE(blobs->Append("ann", kernel, 0, "kernel").ok());
    ASSERT_TRUE(blobs->Finish("ann", kernel).ok());
    ASSERT_TRUE(blobs->Append("ann", Sha256Hex(content), 0, content).ok());
  }
  const absl::StatusOr<BackupReport> written = BackUp({.folder = state}, backup, kPassphrase, "1");
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_LT(written->bytes, std::ssize(content));
  ASSERT_TRUE(Restore(backup, {.folder = restored}, kPassphrase).ok());
  EXPECT_FALSE(std::filesystem::exists(restored + "/blobs"));
  // It is sent again.
  auto blobs = *BlobStore::Open(restored + "/blobs", {});
  EXPECT_FALSE(blobs->Has("ann", kernel));
  ASSERT_TRUE(blobs->Append("ann", kernel, 0, "kernel").ok());
  EXPECT_TRUE(blobs->Finish("ann", kernel).ok());
}

TEST(Restore, RaisesTheEpochAndEndsLeases) {
  const TemporaryFolder folder;
  const std::string state = folder / "state", backup = folder / "backup";
  MakeState(state);
  auto store = *FleetStore::Open(state + "/fleet.db");
  ASSERT_TRUE(
      store->PutLease({.token = {.epoch = 1, .number = 5}, .device = "d", .owner = "o", .key = "k"}).ok());
  ASSERT_TRUE(store->AddInvitation({.digest = Sha256Hex("s"), .owner = "ann", .end_ms = INT64_MAX}).ok());
  ASSERT_TRUE(BackUp({.folder = state}, backup, kPassphrase, "1").ok());
  int64_t latest = 0;
  for (int i = 0; i < 100; ++i) latest = *store->NextEpoch();
  for (const char* name : {"once", "twice"}) {
    const absl::StatusOr<RestoreReport> report = Restore(backup, {.folder = folder / name}, kPassphrase);
    ASSERT_TRUE(report.ok()) << report.status();
    auto restored = *FleetStore::Open((folder / name) + "/fleet.db");
    EXPECT_THAT(*restored->Leases(), IsEmpty());
    EXPECT_EQ(*restored->TakeInvitation("s", 0), std::nullopt);
    const int64_t next = *restored->NextEpoch();
    EXPECT_GT(next, report->epoch);
    EXPECT_GT(next, latest);
    latest = next;
  }
}

TEST(Restore, OverwritesNothing) {
  const TemporaryFolder folder;
  const std::string state = folder / "state", backup = folder / "backup";
  EXPECT_THAT(std::string(BackUp({.folder = folder / "none"}, backup, kPassphrase, "1").status().message()),
              HasSubstr("is not a state of a server"));
  MakeState(state);
  EXPECT_THAT(std::string(BackUp({.folder = state}, backup, "short", "1").status().message()),
              HasSubstr("shorter than"));
  EXPECT_FALSE(std::filesystem::exists(backup));
  ASSERT_TRUE(BackUp({.folder = state}, backup, kPassphrase, "1").ok());
  EXPECT_THAT(std::string(Restore(backup, {.folder = state}, kPassphrase).status().message()),
              HasSubstr("is there already"));
  EXPECT_TRUE(absl::IsDataLoss(Restore(backup, {.folder = folder / "new"}, "another passphrase").status()));
  EXPECT_FALSE(std::filesystem::exists(folder / "new"));
}

// Rows refer to rows of another database and to files, which come before them and go after them.
TEST(FrozenState, IsOfOneMoment) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "files");
  const auto open = [&](const char* name) {
    auto connection = *SqliteConnection::Open(folder / name, {});
    EXPECT_TRUE(connection->Execute("PRAGMA journal_mode = WAL").ok());
    EXPECT_TRUE(connection->Execute("CREATE TABLE IF NOT EXISTS latest (number INTEGER)").ok());
    EXPECT_TRUE(connection->Execute("INSERT INTO latest VALUES (0)").ok());
    return connection;
  };
  const auto file_of = [&](int64_t number) { return absl::StrCat(folder / "files", "/", number); };
  ASSERT_TRUE(WriteFileAtomically(file_of(0), "0").ok());
  std::atomic<bool> has_begun = false, is_over = false;
  std::thread writer([&] {
    auto first = open("first.db"), second = open("second.db");
    has_begun = true;
    for (int64_t number = 1; !is_over; ++number) {
      EXPECT_TRUE(WriteFileAtomically(file_of(number), absl::StrCat(number)).ok());
      const std::string sql = absl::StrCat("UPDATE latest SET number = ", number);
      EXPECT_TRUE(first->Execute(sql).ok());
      EXPECT_TRUE(second->Execute(sql).ok());
      std::filesystem::remove(file_of(number - 1));
    }
  });
  while (!has_begun) std::this_thread::yield();
  for (int i = 0; i < 20; ++i) {
    const absl::StatusOr<FrozenState> state = FrozenState::Of(folder.path());
    ASSERT_TRUE(state.ok()) << state.status();
    std::map<std::string, int64_t> numbers;
    std::set<std::string> files;
    for (const FrozenFile& file : state->files()) {
      if (absl::EndsWith(file.path, ".db")) {
        auto copy = *SqliteConnection::Open(file.source, {});
        numbers[file.path] = copy->Integer("SELECT number FROM latest").value_or(0);
      } else {
        files.insert(file.path);
        EXPECT_EQ(absl::StrCat("files/", *ReadFile(file.source, 100)), file.path);
      }
    }
    EXPECT_GE(numbers["first.db"], numbers["second.db"]);
    EXPECT_LE(numbers["first.db"], numbers["second.db"] + 1);
    EXPECT_TRUE(files.contains(absl::StrCat("files/", numbers["second.db"])));
  }
  is_over = true;
  writer.join();
}

TEST(RestoredTimes, TellWhatIsForgotten) {
  const TemporaryFolder folder;
  EXPECT_THAT(*ReadRestoredTimes(folder.path()), IsEmpty());
  ASSERT_TRUE(AddRestoredTime(folder.path(), {.backup_ms = 10'000, .restored_ms = 20'000}).ok());
  ASSERT_TRUE(AddRestoredTime(folder.path(), {.backup_ms = 50'000, .restored_ms = 60'000}).ok());
  const std::vector<RestoredTime> times = *ReadRestoredTimes(folder.path());
  ASSERT_EQ(times.size(), 2u);
  for (const int64_t forgotten : {10'000, 15'000, 20'000, 55'000}) EXPECT_TRUE(IsForgotten(times, forgotten));
  for (const int64_t known : {5'000, 20'001, 49'000, 60'001}) EXPECT_FALSE(IsForgotten(times, known));
}

}  // namespace
}  // namespace attune
