// Backups of servers with PostgreSQL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/sql/sql_database.h"
#include "base/sql/testing/database_for_test.h"
#include "base/status.h"
#include "base/testing/temporary_folder.h"
#include "fleet/admission/restored_times.h"
#include "fleet/blobs/blob_store.h"
#include "fleet/blobs/sql_blob_store.h"
#include "fleet/identity/authority_files.h"
#include "fleet/store/fleet_store.h"
#include "process/backup/backup.h"
#include "process/server/server_lease.h"
#include "service/identity/local_tokens.h"
#include "service/state/service_store.h"
#include "work/store/sql_job_store.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kPassphrase[] = "a passphrase for tests";

class DatabaseBackupTest : public ::testing::Test {
 protected:
  void SetUp() override { SKIP_WITHOUT_DATABASE(from_); }

  ServerState From() const { return {.folder = folder_ / "state", .database = *from_}; }
  ServerState To() const { return {.folder = folder_ / "restored", .database = *to_}; }

  // A server's keys and caches in its folder, and in the database what it begins with.
  void MakeState() const {
    for (const char* path : {"jobs/signing-secrets", "uploads/cached", "jobs/files/cached"}) {
      const std::filesystem::path file = From().folder + "/" + path;
      std::filesystem::create_directories(file.parent_path());
      ASSERT_TRUE(WriteFileAtomically(file, path).ok());
    }
    auto store = *FleetStore::Open(*from_);
    ASSERT_TRUE(store->SaveAuthorities("authorities").ok());
    ASSERT_TRUE(store->NextEpoch().ok());
    ASSERT_TRUE((*from_).Open(ServerLeaseSchema()).ok());
  }
  static int64_t IntegerOf(const SqlLocation& location, const SqlSchema& schema, const std::string& query) {
    const auto database = *location.Open(schema);
    const auto read = database->Read([&](SqlSession& session) { return ReadInteger(session, query); });
    EXPECT_TRUE(read.ok()) << read.status();
    return read.value_or(-1);
  }
  static std::string MessageOf(const absl::Status& status) { return std::string(status.message()); }

  const testing::TemporaryFolder folder_;
  const std::string backup_ = folder_ / "backup";
  const testing::LocationForTest from_{testing::kPostgres}, to_{testing::kPostgres};
};

TEST_F(DatabaseBackupTest, RowsAndKeysComeBackAndCachesDoNot) {
  MakeState();
  std::string content(size_t{5} << 20, 'x');
  content += "end";
  const std::string digest = Sha256Hex(content);
  auto blobs = *SqlBlobStore::Open(*from_, "uploads", folder_ / "cache", {});
  ASSERT_TRUE(blobs->Append("ann", digest, 0, content).ok());
  ASSERT_TRUE(blobs->Finish("ann", digest).ok());
  const absl::StatusOr<BackupReport> written = BackUp(From(), backup_, kPassphrase, "1.2.3");
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_GT(written->rows, 8);  // the blob has 6 pieces
  const absl::StatusOr<RestoreReport> report = Restore(backup_, To(), kPassphrase);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->version, "1.2.3");
  EXPECT_EQ(report->backup.rows, written->rows);
  EXPECT_EQ(report->backup.files, written->files);
  EXPECT_EQ(report->backup.bytes, written->bytes);
  EXPECT_EQ(*(*FleetStore::Open(*to_))->LoadAuthorities(), "authorities");
  auto restored = *SqlBlobStore::Open(*to_, "uploads", folder_ / "other_cache", {});
  EXPECT_FALSE(restored->Has("bob", digest));
  const auto file = restored->Read("ann", digest);  // checks the digest
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->second, std::ssize(content));
  EXPECT_EQ(*ReadFile(To().folder + "/jobs/signing-secrets", 100), "jobs/signing-secrets");
  EXPECT_FALSE(std::filesystem::exists(To().folder + "/uploads"));
  EXPECT_FALSE(std::filesystem::exists(To().folder + "/jobs/files"));
}

TEST_F(DatabaseBackupTest, WhatMustNotCountHasEnded) {
  MakeState();
  auto store = *FleetStore::Open(*from_);
  ASSERT_TRUE(
      store->PutLease({.token = {.epoch = 1, .number = 5}, .device = "d", .owner = "o", .key = "k"}).ok());
  ASSERT_TRUE(store->AddInvitation({.digest = Sha256Hex("s"), .owner = "ann", .end_ms = INT64_MAX}).ok());
  ASSERT_TRUE(MakeLocalToken(*from_, {.name = "before"}).ok());
  const auto leases = *(*from_).Open(ServerLeaseSchema());
  ASSERT_TRUE(leases
                  ->Write([](SqlSession& session) {
                    return ChangeRows(session, "UPDATE server_leases SET token = 7, holder = 'one'").status();
                  })
                  .ok());
  ASSERT_TRUE(BackUp(From(), backup_, kPassphrase, "1").ok());
  int64_t latest = 0;
  for (int i = 0; i < 10; ++i) latest = *store->NextEpoch();
  const absl::StatusOr<RestoreReport> report = Restore(backup_, To(), kPassphrase);
  ASSERT_TRUE(report.ok()) << report.status();
  auto restored = *FleetStore::Open(*to_);
  EXPECT_THAT(*restored->Leases(), IsEmpty());
  EXPECT_EQ(*restored->TakeInvitation("s", 0), std::nullopt);
  EXPECT_GT(report->epoch, latest);
  EXPECT_GT(*restored->NextEpoch(), report->epoch);
  EXPECT_EQ(IntegerOf(*to_, ServiceSchema(), "SELECT count(*) FROM tokens"), 1);
  EXPECT_EQ(IntegerOf(*to_, ServiceSchema(), "SELECT count(*) FROM tokens WHERE is_revoked = 0"), 0);
  EXPECT_EQ(IntegerOf(*to_, ServerLeaseSchema(),
                      "SELECT count(*) FROM server_leases WHERE token > 7 AND holder = ''"),
            1);
  const auto times = ParseRestoredTimes(*restored->LoadRestoredTimes());
  ASSERT_TRUE(times.ok()) << times.status();
  ASSERT_THAT(*times, SizeIs(1));
  EXPECT_EQ(times->front().backup_ms, report->backup.time_ms);
}

TEST_F(DatabaseBackupTest, NothingIsOverwrittenOrMixed) {
  std::filesystem::create_directories(From().folder);
  EXPECT_THAT(MessageOf(BackUp(From(), backup_, kPassphrase, "1").status()),
              HasSubstr("is not a database of a server"));
  EXPECT_FALSE(std::filesystem::exists(backup_));
  MakeState();
  ASSERT_TRUE(BackUp(From(), backup_, kPassphrase, "1").ok());
  EXPECT_THAT(MessageOf(Restore(backup_, {.folder = To().folder, .database = *from_}, kPassphrase).status()),
              HasSubstr("has tables of attune already, and restoring overwrites nothing"));
  EXPECT_THAT(MessageOf(Restore(backup_, {.folder = To().folder}, kPassphrase).status()),
              HasSubstr("which does not become files; name an empty database for it with --database"));
  EXPECT_FALSE(std::filesystem::exists(To().folder));
  EXPECT_TRUE(Restore(backup_, To(), kPassphrase).ok());
  ASSERT_TRUE(WriteFileAtomically(From().folder + "/fleet.db", "").ok());
  EXPECT_THAT(MessageOf(BackUp(From(), folder_ / "more", kPassphrase, "1").status()),
              HasSubstr("has its state in SQLite files"));
}

TEST_F(DatabaseBackupTest, FilesBecomeADatabase) {
  const ServerState files = {.folder = folder_ / "files"};
  const SqlLocation location(files.folder);
  ASSERT_TRUE(AuthorityFiles::OpenOrCreate(files.folder).ok());
  const std::string authorities = *ReadFile(files.folder + "/authorities.pem", 1 << 16);
  ASSERT_TRUE((*FleetStore::Open(location))->NextEpoch().ok());
  ASSERT_TRUE(MakeLocalToken(location, {.name = "before"}).ok());
  const std::string digest = Sha256Hex("content");
  const auto add = [&](const SqlSchema& schema, const std::string& sql) {
    const auto database = *location.Open(schema);
    return database->Write([&](SqlSession& session) { return session.Execute(sql, {}).status(); });
  };
  for (const char* tenant : {"ann", "bob"})
    ASSERT_TRUE(add(ServiceSchema(),
                    absl::StrCat("INSERT INTO uploads VALUES ('", tenant, "', '", digest, "', 7, 0, 0)"))
                    .ok());
  ASSERT_TRUE(add(JobSchema(),
                  "INSERT INTO jobs (schedule, number, id, kind, subject, owner, priority, "
                  "deadline_seconds, settings, base, state, position, progress, result, error) VALUES ('s', "
                  "0, 'net-1', 'tuning', '', 'ann', 0, 1.5, '{}', 'net/0', 1, 0, '', '', '')")
                  .ok());
  for (const auto& [path, owner] :
       {std::pair("/uploads", "ann"), std::pair("/uploads", "bob"), std::pair("/jobs/files", "net/0")}) {
    auto blobs = *BlobStore::Open(files.folder + path, {});
    ASSERT_TRUE(blobs->Append(owner, digest, 0, "content").ok());
    ASSERT_TRUE(blobs->Finish(owner, digest).ok());
  }
  ASSERT_TRUE(BackUp(files, backup_, kPassphrase, "1").ok());
  const absl::StatusOr<RestoreReport> report = Restore(backup_, To(), kPassphrase);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_GT(report->backup.rows, 4);
  auto store = *FleetStore::Open(*to_);
  EXPECT_EQ(*store->LoadAuthorities(), authorities);
  EXPECT_GT(*store->NextEpoch(), report->epoch);
  EXPECT_THAT(*ParseRestoredTimes(*store->LoadRestoredTimes()), SizeIs(1));
  EXPECT_EQ(IntegerOf(*to_, ServiceSchema(), "SELECT count(*) FROM tokens WHERE is_revoked = 1"), 1);
  EXPECT_EQ(IntegerOf(*to_, JobSchema(), "SELECT count(*) FROM jobs WHERE deadline_seconds = 1.5"), 1);
  auto uploads = *SqlBlobStore::Open(*to_, "uploads", folder_ / "uploads", {});
  auto job_files = *SqlBlobStore::Open(*to_, "jobs", folder_ / "job_files", {});
  EXPECT_TRUE(uploads->Read("ann", digest).ok());
  EXPECT_TRUE(uploads->Read("bob", digest).ok());
  EXPECT_FALSE(uploads->Has("net/0", digest));
  EXPECT_TRUE(job_files->Read("net/0", digest).ok());
  EXPECT_EQ(IntegerOf(*to_, BlobSchema(), "SELECT count(*) FROM blobs"), 1);
  for (const char* path : {"fleet.db", "service.db", "jobs.db", "authorities.pem", "restored", "uploads"})
    EXPECT_FALSE(std::filesystem::exists(To().folder + "/" + path)) << path;
}

}  // namespace
}  // namespace attune
