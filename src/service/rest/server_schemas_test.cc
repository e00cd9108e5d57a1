#include "service/rest/server_schemas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/sql/testing/database_for_test.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

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
    EXPECT_THAT(std::string(refused.message()), HasSubstr("another server has it open"));
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
