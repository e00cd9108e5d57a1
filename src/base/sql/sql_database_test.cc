#include "base/sql/sql_database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <thread>

#include "base/sql/sql_errors.h"
#include "base/sql/testing/database_for_test.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kUp1[] = {
    "CREATE TABLE things (number INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, \"end\" REAL "
    "NOT "
    "NULL, content BLOB NOT NULL, count INTEGER NOT NULL) STRICT"};
constexpr const char* kDown1[] = {"DROP TABLE things"};
constexpr const char* kUp2[] = {"ALTER TABLE things ADD COLUMN note TEXT NOT NULL DEFAULT 'none?'",
                                "CREATE INDEX things_by_note ON things (note, number)"};
constexpr const char* kDown2[] = {"DROP INDEX things_by_note", "ALTER TABLE things DROP COLUMN note"};
constexpr SqlMigration kMigrations[] = {{.up = kUp1, .down = kDown1}, {.up = kUp2, .down = kDown2}};

SqlSchema SchemaOf(int versions) {
  return {.store = "things",
          .file = "things.db",
          .application_id = 0x41745874,
          .migrations = std::span(kMigrations).first(versions),
          .words = {.what = "database of things"}};
}

constexpr char kInsert[] = "INSERT INTO things (name, \"end\", content, count) VALUES (?, ?, ?, ?)";

absl::StatusOr<std::string> ReadName(const SqlRow& row) { return row.Text(0); }

class SqlDatabaseTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_DATABASE(location_);
    Open(2);
  }
  void Open(int versions) {
    auto opened = (*location_).Open(SchemaOf(versions));
    ASSERT_TRUE(opened.ok()) << opened.status();
    database_ = *std::move(opened);
  }
  absl::Status Add(const std::string& name, double end, const std::string& content, int64_t count) {
    return database_->Write([&](SqlSession& session) {
      return ChangeRows(session, kInsert, name, end, SqlBytes{content}, count).status();
    });
  }
  std::vector<std::string> Names(const std::string& more = "") {
    auto names = database_->Read([&](SqlSession& session) {
      return ReadRows(session, ReadName, "SELECT name FROM things ORDER BY name" + more);
    });
    EXPECT_TRUE(names.ok()) << names.status();
    return names.value_or(std::vector<std::string>());
  }

  const testing::LocationForTest location_{GetParam()};
  std::unique_ptr<SqlDatabase> database_;
};

TEST_P(SqlDatabaseTest, ValuesComeBackAsTheyWere) {
  const std::string bytes("\0\xFF'?\n", 5);
  ASSERT_TRUE(Add("é $1 ?", 0.1, bytes, std::numeric_limits<int64_t>::min()).ok());
  const absl::Status read = database_->Read([&](SqlSession& session) -> absl::Status {
    ASSIGN_OR_RETURN(
        const SqlAnswer answer,
        session.Execute("SELECT name, \"end\", content, count, note, CAST(NULL AS TEXT) FROM things "
                        "WHERE name = ? AND note = 'none?' AND count < ?",
                        {ToSqlValue("é $1 ?"), ToSqlValue(0)}));
    EXPECT_EQ(answer.rows.size(), 1);
    const SqlRow& row = answer.rows.at(0);
    EXPECT_EQ(row.Text(0), "é $1 ?");
    EXPECT_EQ(row.Real(1), 0.1);
    EXPECT_EQ(row.Bytes(2), bytes);
    EXPECT_EQ(row.Integer(3), std::numeric_limits<int64_t>::min());
    EXPECT_EQ(row.Text(4), "none?");
    EXPECT_EQ(row.Text(5), "");
    EXPECT_EQ(row.Integer(5), 0);
    return absl::OkStatus();
  });
  EXPECT_TRUE(read.ok()) << read;
}

TEST_P(SqlDatabaseTest, TextsAreOrderedByTheirBytes) {
  for (const char* name : {"b", "B", "a", "_", "é"}) ASSERT_TRUE(Add(name, 0, "", 0).ok());
  EXPECT_THAT(Names(), ElementsAre("B", "_", "a", "b", "é"));
}

TEST_P(SqlDatabaseTest, TextThatIsNoUtf8IsKept) {
  EXPECT_TRUE(Add(std::string("\0a\xFF", 3), 0, "", 0).ok());
  EXPECT_EQ(Names().size(), 1);
}

TEST_P(SqlDatabaseTest, WorkThatFailsHasNoEffect) {
  const absl::Status failed = database_->Write([&](SqlSession& session) -> absl::Status {
    RETURN_IF_ERROR(ChangeRows(session, kInsert, "a", 1.0, SqlBytes{}, 1).status());
    return absl::CancelledError("never mind");
  });
  EXPECT_TRUE(absl::IsCancelled(failed));
  EXPECT_THAT(Names(), ElementsAre());
  ASSERT_TRUE(Add("a", 0, "", 0).ok());
  EXPECT_FALSE(Add("a", 0, "", 0).ok());
  EXPECT_THAT(Names(), ElementsAre("a"));
}

TEST_P(SqlDatabaseTest, WritersTakeTurns) {
  ASSERT_TRUE(Add("counter", 0, "", 0).ok());
  constexpr int kThreads = 16, kTimes = 20;
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int time = 0; time < kTimes; ++time) {
        const absl::Status added = database_->Write([](SqlSession& session) -> absl::Status {
          ASSIGN_OR_RETURN(const int64_t count, ReadInteger(session, "SELECT count FROM things"));
          return ChangeRows(session, "UPDATE things SET count = ?", count + 1).status();
        });
        if (!added.ok()) ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(
      *database_->Read([](SqlSession& session) { return ReadInteger(session, "SELECT count FROM things"); }),
      kThreads * kTimes);
}

TEST_P(SqlDatabaseTest, TablesGoForwardAndBack) {
  ASSERT_TRUE(Add("a", 0, "", 0).ok());
  EXPECT_EQ(*database_->Version(), 2);
  ASSERT_TRUE(database_->Migrate(1).ok());
  EXPECT_EQ(*database_->Version(), 1);
  EXPECT_FALSE(
      database_
          ->Read([](SqlSession& session) { return session.Execute("SELECT note FROM things", {}).status(); })
          .ok());
  Open(1);
  EXPECT_THAT(Names(), ElementsAre("a"));
  Open(2);
  EXPECT_EQ(*database_->Version(), 2);
  EXPECT_THAT(Names(" , note"), ElementsAre("a"));
  EXPECT_TRUE(absl::IsInvalidArgument(database_->Migrate(3)));
}

TEST_P(SqlDatabaseTest, AStatementThatCameOftenFitsAChangedTable) {
  ASSERT_TRUE(Add("a", 0, "", 0).ok());
  const auto name_in_row = [&] {
    const auto row = database_->Read([](SqlSession& session) -> absl::StatusOr<std::string> {
      ASSIGN_OR_RETURN(const SqlAnswer answer,
                       session.Execute("SELECT * FROM things WHERE count = ?", {ToSqlValue(0)}));
      return answer.rows.at(0).Text(1);
    });
    return row.ok() ? *row : row.status().ToString();
  };
  for (int time = 0; time < 3; ++time) EXPECT_EQ(name_in_row(), "a");
  ASSERT_TRUE(database_->Migrate(1).ok());
  for (int time = 0; time < 3; ++time) EXPECT_EQ(name_in_row(), "a");
}

TEST_P(SqlDatabaseTest, NewerTablesAreRefused) {
  const auto older = (*location_).Open(SchemaOf(1));
  EXPECT_TRUE(absl::IsFailedPrecondition(older.status()));
  EXPECT_THAT(std::string(older.status().message()), HasSubstr("newer attune"));
}

TEST_P(SqlDatabaseTest, IsWritable) { EXPECT_TRUE(database_->CheckWritable().ok()); }

TEST_P(SqlDatabaseTest, FaultsOfTheDatabaseAreCounted) {
  const int64_t before = NumSqlErrors();
  const auto answer = [](const absl::Status& status) { return [=](SqlSession&) { return status; }; };
  database_->Read(answer(absl::NotFoundError("nothing"))).IgnoreError();
  EXPECT_EQ(NumSqlErrors(), before);
  database_->Read(answer(absl::UnavailableError("locked"))).IgnoreError();
  database_->Write(answer(absl::DataLossError("damaged"))).IgnoreError();
  EXPECT_EQ(NumSqlErrors(), before + 2);
}

INSTANTIATE_TEST_SUITE_P(EveryDatabase, SqlDatabaseTest, testing::EveryDatabase(), testing::DatabaseOf);

TEST(PostgresDatabase, GoesOnWhenPostgresqlWasKilled) {
  const testing::LocationForTest location(testing::kPostgres);
  SKIP_WITHOUT_DATABASE(location);
  const auto database = *(*location).Open(SchemaOf(2));
  const auto add = [&](const std::string& name) {
    return database->Write(
        [&](SqlSession& session) { return ChangeRows(session, kInsert, name, 0.0, SqlBytes{}, 0).status(); });
  };
  ASSERT_TRUE(add("a").ok());
  testing::PostgresForTest& server = *testing::PostgresForTest::Get();
  server.Kill();
  const absl::Status lost = add("b");
  EXPECT_TRUE(absl::IsUnavailable(lost)) << lost;
  EXPECT_THAT(std::string(lost.message()), HasSubstr("is PostgreSQL running there?"));
  server.Start();
  EXPECT_TRUE(add("c").ok());
  server.Kill();
  server.Start();
  // Its connection rests, and the database has ended it.
  EXPECT_TRUE(add("d").ok());
  const auto names = database->Read([](SqlSession& session) {
    return ReadRows(session, ReadName, "SELECT name FROM things ORDER BY name");
  });
  EXPECT_THAT(*names, ElementsAre("a", "c", "d"));
}

TEST(PostgresDatabase, PasswordsAreNotShown) {
  const auto address = PostgresAddress::FromUrl("postgresql://ann:secret@127.0.0.1:1/db?password=secret");
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(address->name, "postgresql://ann@127.0.0.1:1/db");
  const auto location = SqlLocation::Postgres("postgresql://ann:secret@127.0.0.1:1/db");
  const absl::Status failed = location->Open(SchemaOf(1)).status();
  EXPECT_TRUE(absl::IsUnavailable(failed));
  EXPECT_THAT(std::string(failed.message()), ::testing::Not(HasSubstr("secret")));
  const absl::Status no_url = SqlLocation::Postgres("postgresql://:secret@[/").status();
  EXPECT_TRUE(absl::IsInvalidArgument(no_url));
  EXPECT_THAT(std::string(no_url.message()), ::testing::Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace attune
