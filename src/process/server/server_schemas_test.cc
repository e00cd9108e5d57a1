#include "process/server/server_schemas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/sql/testing/database_for_test.h"
#include "base/testing/temporary_folder.h"
#include "fleet/server/fleet_server.h"
#include "work/store/sql_job_store.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

TEST(ServerSchemas, NoDatabaseOfThemIsALink) {
  for (const bool is_symbolic : {true, false}) {
    const testing::TemporaryFolder folder;
    const SqlLocation location(folder / "state");
    for (const SqlSchema* schema : ServerSchemas(location)) {
      const std::string victim = folder / std::string(schema->store);
      const std::string path = absl::StrCat(folder / "state/", schema->file);
      std::filesystem::create_directories(std::filesystem::path(path).parent_path());
      ASSERT_TRUE(WriteFileAtomically(victim, "").ok());
      if (is_symbolic) {
        std::filesystem::create_symlink(victim, path);
      } else {
        std::filesystem::create_hard_link(victim, path);
      }
      const absl::Status refused = location.Open(*schema).status();
      EXPECT_TRUE(absl::IsPermissionDenied(refused)) << refused;
      EXPECT_THAT(std::string(refused.message()), HasSubstr("link"));
      EXPECT_EQ(std::filesystem::file_size(victim), 0);
    }
  }
}

TEST(MigrateStores, RefusesWhileAServerUsesThem) {
  const testing::TemporaryFolder folder;
  const SqlLocation location(folder.path());
  for (const SqlSchema* schema : ServerSchemas(location)) ASSERT_TRUE(location.Open(*schema).ok());
  {
    const auto server = LockServerFolder(folder.path());
    ASSERT_TRUE(server.ok()) << server.status();
    const absl::Status refused = MigrateStores(location, "jobs", 4);
    EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
    EXPECT_THAT(std::string(refused.message()), HasSubstr("a server uses it; end that one first"));
  }
  EXPECT_TRUE(MigrateStores(location, "jobs", 4).ok());
  EXPECT_TRUE(MigrateStores(location, "", -1).ok());
}

TEST(MigrateStores, RefusesWhileAServerIsConnected) {
  testing::PostgresForTest* postgres = testing::PostgresForTest::Get();
  const testing::LocationForTest any(testing::kPostgres);
  SKIP_WITHOUT_DATABASE(any);
  const std::string url = postgres->NewDatabase();
  const SqlLocation location = *SqlLocation::Postgres(url);
  {
    const SqlLocation server = *SqlLocation::Postgres(url);
    ASSERT_TRUE(server.Open(JobSchema()).ok());
    EXPECT_TRUE(absl::IsFailedPrecondition(MigrateStores(location, "jobs", 4)));
  }
  EXPECT_TRUE(MigrateStores(location, "jobs", 4).ok());
}

TEST(RemoveStores, LeavesNoTableAndSparesThoseOfOthers) {
  testing::PostgresForTest* postgres = testing::PostgresForTest::Get();
  const testing::LocationForTest any(testing::kPostgres);
  SKIP_WITHOUT_DATABASE(any);
  const std::string url = postgres->NewDatabase();
  const SqlLocation location = *SqlLocation::Postgres(url);
  {
    const SqlLocation server = *SqlLocation::Postgres(url);
    for (const SqlSchema* schema : ServerSchemas(server)) ASSERT_TRUE(server.Open(*schema).ok());
    const absl::Status refused = RemoveStores(location);
    EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
    EXPECT_THAT(std::string(refused.message()), HasSubstr("a server uses it"));
  }
  const absl::StatusOr<std::vector<StoreVersion>> before = StoreVersions(location);
  ASSERT_TRUE(before.ok()) << before.status();
  EXPECT_EQ(before->size(), ServerSchemas(location).size());
  for (const StoreVersion& store : *before) EXPECT_EQ(store.version, store.latest) << store.store;
  const absl::Status removed = RemoveStores(location);
  ASSERT_TRUE(removed.ok()) << removed;
  const absl::Status looked = location.ReadAllStores([](SqlSession& session) -> absl::Status {
    const auto tables = ReadInteger(session, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'");
    EXPECT_EQ(tables.value_or(-1), 0);
    return absl::OkStatus();
  });
  EXPECT_TRUE(looked.ok()) << looked;
}

}  // namespace
}  // namespace attune
