#include "base/sql/sql_copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/sql/sql_database.h"
#include "base/sql/testing/database_for_test.h"
#include "base/status.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The first step puts a row into a table by itself.
constexpr const char* kUp1[] = {
    "CREATE TABLE all_types (id INTEGER NOT NULL PRIMARY KEY, n INTEGER, r REAL, t TEXT, b BLOB) STRICT",
    "CREATE TABLE counts (id INTEGER NOT NULL PRIMARY KEY, count INTEGER NOT NULL) STRICT",
    "INSERT INTO counts VALUES (1, 0)", "CREATE TABLE dropped_later (id INTEGER NOT NULL) STRICT"};
constexpr const char* kDown1[] = {"DROP TABLE all_types", "DROP TABLE counts", "DROP TABLE dropped_later"};
constexpr const char* kUp2[] = {"DROP TABLE dropped_later",
                                "ALTER TABLE counts ADD COLUMN note TEXT NOT NULL DEFAULT 'none'"};
constexpr const char* kDown2[] = {"CREATE TABLE dropped_later (id INTEGER NOT NULL) STRICT",
                                  "ALTER TABLE counts DROP COLUMN note"};
constexpr SqlMigration kMigrations[] = {{.up = kUp1, .down = kDown1}, {.up = kUp2, .down = kDown2}};

constexpr const char* kUpNumbers[] = {
    "CREATE TABLE numbered (number INTEGER PRIMARY KEY AUTOINCREMENT, count INTEGER NOT NULL) STRICT"};
constexpr const char* kDownNumbers[] = {"DROP TABLE numbered"};
constexpr SqlMigration kNumberMigrations[] = {{.up = kUpNumbers, .down = kDownNumbers}};

constexpr SqlSchema kThings = {
    .store = "things", .file = "things.db", .application_id = 0x41745831, .migrations = kMigrations};
constexpr SqlSchema kOlder = {.store = "things", .migrations = std::span(kMigrations).first(1)};
constexpr SqlSchema kNumbered = {
    .store = "numbers", .file = "numbers.db", .application_id = 0x41745832, .migrations = kNumberMigrations};
using Schemas = std::vector<const SqlSchema*>;

using Parts = std::vector<std::string>;
using Rows = std::vector<std::vector<SqlValue>>;

SqlValue RandomValue(int column, Random& random) {
  if (random.Integer(0, 5) == 0) return SqlNull{};
  std::string text;
  switch (column) {
    case 0:
      return static_cast<int64_t>(random.Next());
    case 1:
      return random.Normal() * 0x1p900;
    case 2:
      for (int64_t left = random.Integer(0, 20); left > 0; --left)
        for (const char* piece : {"a", "é", "\u2028", "'", "?", "\"", "\n", "\\"})
          if (random.Integer(0, 2) == 0) text += piece;
      return text;
    default:
      for (int64_t left = random.Integer(0, 2000); left > 0; --left)
        text += static_cast<char>(random.Integer(0, 255));
      return SqlBytes{text};
  }
}

class SqlCopyTest : public ::testing::Test {
 protected:
  void SetUp() override { SKIP_WITHOUT_DATABASE(from_); }

  static std::unique_ptr<SqlDatabase> Open(const testing::LocationForTest& location,
                                           const SqlSchema& schema) {
    auto database = (*location).Open(schema);
    EXPECT_TRUE(database.ok()) << database.status();
    return *std::move(database);
  }
  // `between`: is called before each part.
  Parts Copy(const std::function<void()>& between = [] {}) const {
    Parts parts;
    const absl::Status read = (*from_).ReadAllStores([&](SqlSession& session) {
      return CopyStores(session, Schemas{&kThings, &kNumbered},
                        [&](std::string_view part) {
                          between();
                          parts.emplace_back(part);
                          return absl::OkStatus();
                        })
          .status();
    });
    EXPECT_TRUE(read.ok()) << read;
    return parts;
  }
  absl::Status PutBack(const Parts& parts, const Schemas& schemas = {&kThings, &kNumbered}) const {
    return (*to_).WriteAllStores([&](SqlSession& session) -> absl::Status {
      StoresFromCopy copy(session, schemas, "the copy");
      for (const std::string& part : parts) RETURN_IF_ERROR(copy.Take(part));
      return copy.Finish();
    });
  }
  static Rows RowsOf(SqlDatabase& database, const std::string& query) {
    Rows rows;
    const absl::Status read = database.Read([&](SqlSession& session) -> absl::Status {
      ASSIGN_OR_RETURN(const SqlAnswer answer, session.Execute(query, {}));
      for (const SqlRow& row : answer.rows) rows.push_back(row.values());
      return absl::OkStatus();
    });
    EXPECT_TRUE(read.ok()) << read;
    return rows;
  }
  static absl::Status Run(SqlDatabase& database, const std::string& sql,
                          const std::vector<SqlValue>& values = {}) {
    return database.Write([&](SqlSession& session) { return session.Execute(sql, values).status(); });
  }

  static void AddRandomRows(uint64_t seed, Rows& rows) {
    Random random(seed);
    for (int i = 0; i < 200; ++i) {
      std::vector<SqlValue> row = {std::ssize(rows)};
      for (int column = 0; column < 4; ++column) row.push_back(RandomValue(column, random));
      rows.push_back(std::move(row));
    }
  }
  static void InsertRows(SqlDatabase& database, const Rows& rows) {
    for (const std::vector<SqlValue>& row : rows)
      ASSERT_TRUE(Run(database, "INSERT INTO all_types VALUES (?, ?, ?, ?, ?)", row).ok());
  }

  const testing::LocationForTest from_{testing::kPostgres}, to_{testing::kPostgres};
};

TEST_F(SqlCopyTest, ValuesComeBackAsTheyWere) {
  const auto from = Open(from_, kThings);
  const double infinity = std::numeric_limits<double>::infinity();
  Rows rows = {{0, std::numeric_limits<int64_t>::min(), infinity, "", SqlBytes{}},
               {1, std::numeric_limits<int64_t>::max(), 5e-324, "NULL", SqlBytes{std::string("\0\\x", 3)}}};
  AddRandomRows(1, rows);
  InsertRows(*from, rows);
  ASSERT_TRUE(PutBack(Copy()).ok());
  EXPECT_EQ(RowsOf(*Open(to_, kThings), "SELECT * FROM all_types ORDER BY id"), rows);
}

TEST_F(SqlCopyTest, PostgresqlTakesWhatSqliteHas) {
  const testing::LocationForTest files(testing::kSqlite);
  const auto from_things = Open(files, kThings), from_numbered = Open(files, kNumbered);
  Rows rows;
  AddRandomRows(2, rows);
  InsertRows(*from_things, rows);
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(Run(*from_numbered, "INSERT INTO numbered (count) VALUES (7)").ok());
  ASSERT_TRUE(Run(*from_numbered, "DELETE FROM numbered WHERE number > 1").ok());
  Parts parts;
  const auto take = [&](std::string_view part) {
    parts.emplace_back(part);
    return absl::OkStatus();
  };
  ASSERT_TRUE(CopySqliteStore(*from_things, kThings, take).ok());
  ASSERT_TRUE(CopySqliteStore(*from_numbered, kNumbered, take).ok());
  const absl::Status put = PutBack(parts);
  ASSERT_TRUE(put.ok()) << put;
  EXPECT_EQ(RowsOf(*Open(to_, kThings), "SELECT * FROM all_types ORDER BY id"), rows);
  const auto to = Open(to_, kNumbered);
  ASSERT_TRUE(Run(*to, "INSERT INTO numbered (count) VALUES (8)").ok());
  EXPECT_THAT(RowsOf(*to, "SELECT * FROM numbered ORDER BY number"),
              ElementsAre(std::vector<SqlValue>{1, 7}, std::vector<SqlValue>{4, 8}));
}

TEST_F(SqlCopyTest, NumbersThatWereGivenOutDoNotComeAgain) {
  const auto from = Open(from_, kNumbered);
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(Run(*from, "INSERT INTO numbered (count) VALUES (7)").ok());
  ASSERT_TRUE(Run(*from, "DELETE FROM numbered WHERE number > 1").ok());
  ASSERT_TRUE(PutBack(Copy()).ok());
  const auto to = Open(to_, kNumbered);
  ASSERT_TRUE(Run(*to, "INSERT INTO numbered (count) VALUES (8)").ok());
  EXPECT_THAT(RowsOf(*to, "SELECT number FROM numbered ORDER BY number"),
              ElementsAre(std::vector<SqlValue>{1}, std::vector<SqlValue>{41}));
}

TEST_F(SqlCopyTest, TablesOfAnOlderVersionAreBroughtUpToDate) {
  ASSERT_TRUE(Run(*Open(from_, kOlder), "UPDATE counts SET count = 5").ok());
  ASSERT_TRUE(PutBack(Copy()).ok());
  const auto to = Open(to_, kThings);
  EXPECT_EQ(*to->Version(), 2);
  EXPECT_THAT(RowsOf(*to, "SELECT * FROM counts"), ElementsAre(std::vector<SqlValue>{1, 5, "none"}));
  EXPECT_THAT(RowsOf(*Open(to_, kNumbered), "SELECT * FROM numbered"), IsEmpty());
}

TEST_F(SqlCopyTest, WhatItDoesNotKnowIsRefusedAndHasNoEffect) {
  Open(from_, kThings);
  Open(from_, kNumbered);
  const Parts parts = Copy();
  EXPECT_THAT(std::string(PutBack(parts, {&kOlder, &kNumbered}).message()),
              HasSubstr("the copy: its tables of things are of a newer attune"));
  EXPECT_THAT(std::string(PutBack(parts, {&kThings}).message()),
              HasSubstr("the copy: has tables of numbers, which only a newer attune knows"));
  for (size_t i = 0; i < parts.size(); ++i) {
    Parts damaged = parts;
    damaged[i].pop_back();
    EXPECT_TRUE(absl::IsDataLoss(PutBack(damaged)));
    damaged[i] = "";
    EXPECT_TRUE(absl::IsDataLoss(PutBack(damaged)));
  }
  EXPECT_TRUE(absl::IsDataLoss(PutBack({parts.rbegin(), parts.rend()})));  // rows before their table
  EXPECT_EQ(*(*(*to_).Open(kThings, SqlOpening::kAsItIs))->Version(), 0);
  EXPECT_TRUE(PutBack(parts).ok());
}

TEST_F(SqlCopyTest, IsOfOneMoment) {
  const auto things = Open(from_, kThings), numbered = Open(from_, kNumbered);
  ASSERT_TRUE(Run(*numbered, "INSERT INTO numbered (count) VALUES (0)").ok());
  std::atomic<bool> is_over = false;
  std::atomic<int64_t> written = 0;
  std::thread writer([&] {
    for (int64_t count = 1; !is_over; ++count) {
      EXPECT_TRUE(Run(*things, "UPDATE counts SET count = ?", {count}).ok());
      EXPECT_TRUE(Run(*numbered, "UPDATE numbered SET count = ?", {count}).ok());
      written = count;
    }
  });
  const Parts parts = Copy([&] {
    // Other threads continue between any two parts.
    for (const int64_t before = written; written < before + 2;) std::this_thread::yield();
  });
  is_over = true;
  writer.join();
  ASSERT_TRUE(PutBack(parts).ok());
  const int64_t first =
      std::get<int64_t>(RowsOf(*Open(to_, kThings), "SELECT count FROM counts").at(0).at(0));
  const int64_t second =
      std::get<int64_t>(RowsOf(*Open(to_, kNumbered), "SELECT count FROM numbered").at(0).at(0));
  EXPECT_GE(first, second);
  EXPECT_LE(first, second + 1);
}

TEST(TablesOf, AreThoseThatTheStepsLeave) {
  EXPECT_THAT(TablesOf(kThings, 0), IsEmpty());
  EXPECT_THAT(TablesOf(kThings, 1), ElementsAre("all_types", "counts", "dropped_later"));
  EXPECT_THAT(TablesOf(kThings, 2), ElementsAre("all_types", "counts"));
}

}  // namespace
}  // namespace attune
