// The files beside a database are not trusted.
#include "base/sqlite/sqlite_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include "base/sqlite/sqlite.h"
#include "base/sqlite/sqlite_schema.h"
#include "base/status.h"
#include "base/testing/temporary_folder.h"

namespace attune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kMagic("\xD9\xD5\x05\xF9\x20\xA1\x63\xD7", 8);
constexpr DatabaseAccess kAccesses[] = {DatabaseAccess::kRead, DatabaseAccess::kWrite,
                                        DatabaseAccess::kCreate};

constexpr const char* kTables[] = {"CREATE TABLE numbers (number INTEGER NOT NULL) STRICT"};
constexpr SqliteSchema kSchema = {.application_id = 7, .version = 1, .statements = kTables};

absl::StatusOr<std::unique_ptr<SqliteConnection>> OpenNumbers(const std::string& path,
                                                              DatabaseAccess access) {
  ASSIGN_OR_RETURN(auto connection, SqliteConnection::Open(path, {.access = access}));
  RETURN_IF_ERROR(PrepareDatabase(*connection, kSchema, access));
  return connection;
}

// The database at `path`, which must open.
std::unique_ptr<SqliteConnection> MustOpen(const std::string& path,
                                           DatabaseAccess access = DatabaseAccess::kCreate) {
  auto connection = OpenNumbers(path, access);
  EXPECT_TRUE(connection.ok()) << connection.status();
  return connection.ok() ? *std::move(connection) : nullptr;
}

absl::Status AddNumber(SqliteConnection& connection) {
  return connection.Execute("INSERT INTO numbers VALUES (1)");
}

int64_t CountNumbers(SqliteConnection& connection) {
  return connection.Integer("SELECT count(*) FROM numbers").value_or(-1);
}

void WriteAll(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string BigEndian(uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xFF);
  return bytes;
}

// A journal that SQLite takes for the one of a killed writer, without pages, and with the name of a
// super-journal if that is not empty.
std::string HotJournal(const std::string& database, const std::string& super_journal) {
  constexpr uint32_t kPage = 4096, kSector = 512;
  const auto pages = static_cast<uint32_t>(std::filesystem::file_size(database) / kPage);
  std::string journal(kMagic);
  for (const uint32_t value : {0U, 0x1234U, pages, kSector, kPage}) journal += BigEndian(value);
  journal.resize(kSector, '\0');
  if (super_journal.empty()) return journal;
  uint32_t sum = 0;
  for (const char c : super_journal) sum += static_cast<uint32_t>(static_cast<signed char>(c));
  journal += BigEndian((1U << 30) / kPage + 1) + super_journal;
  journal += BigEndian(static_cast<uint32_t>(super_journal.size())) + BigEndian(sum);
  return journal.append(kMagic);
}

class SqliteFilesTest : public ::testing::Test {
 protected:
  SqliteFilesTest() {
    EXPECT_TRUE(AddNumber(*MustOpen(database_)).ok());
    WriteAll(victim_, "precious");
  }
  bool VictimLives() const {
    return std::filesystem::exists(victim_) && std::filesystem::file_size(victim_) == 8;
  }

  const testing::TemporaryFolder folder_;
  const std::string database_ = folder_ / "numbers.db", victim_ = folder_ / "victim";
};

TEST_F(SqliteFilesTest, AJournalThatNamesAnotherFileIsRefused) {
  for (const std::string& named : {victim_, folder_ / "missing"}) {  // the file to delete need not exist
    WriteAll(database_ + "-journal", HotJournal(database_, named));
    for (const DatabaseAccess access : kAccesses) {
      const absl::Status status = OpenNumbers(database_, access).status();
      EXPECT_THAT(std::string(status.message()),
                  AllOf(StartsWith(database_ + ": "), HasSubstr(database_ + "-journal"), HasSubstr("; ")))
          << named;
    }
    EXPECT_TRUE(VictimLives());
    EXPECT_TRUE(std::filesystem::exists(database_));
  }
  // The database's own files would be lost as well, whether such a journal is refused or deleted.
  for (const std::string& named : {database_, database_ + "-wal"}) {
    WriteAll(database_ + "-journal", HotJournal(database_, named));
    for (const DatabaseAccess access : kAccesses) {
      OpenNumbers(database_, access).status().IgnoreError();
    }
  }
  unlink((database_ + "-journal").c_str());
  EXPECT_EQ(CountNumbers(*MustOpen(database_)), 1);
}

TEST_F(SqliteFilesTest, LinksAndPipesBesideItAreRefused) {
  for (const char* suffix : {"-journal", "-wal", "-shm"}) {
    const std::string beside = database_ + suffix;
    for (int kind = 0; kind < 3; ++kind) {
      unlink(beside.c_str());
      if (kind == 0) ASSERT_EQ(link(victim_.c_str(), beside.c_str()), 0);
      if (kind == 1) ASSERT_EQ(symlink(victim_.c_str(), beside.c_str()), 0);
      if (kind == 2) ASSERT_EQ(mkfifo(beside.c_str(), 0600), 0);
      for (const DatabaseAccess access : kAccesses) {
        const absl::Status status = OpenNumbers(database_, access).status();
        EXPECT_THAT(std::string(status.message()),
                    AllOf(StartsWith(database_ + ": " + beside), HasSubstr("remove it")));
      }
      EXPECT_TRUE(VictimLives());
    }
    unlink(beside.c_str());
  }
  EXPECT_EQ(CountNumbers(*MustOpen(database_)), 1);
}

TEST_F(SqliteFilesTest, AWriterThatWasKilledIsUndoneForReadersToo) {
  WriteAll(database_ + "-journal", HotJournal(database_, ""));
  const auto reader = MustOpen(database_, DatabaseAccess::kRead);
  ASSERT_NE(reader, nullptr);
  EXPECT_EQ(CountNumbers(*reader), 1);
  EXPECT_FALSE(std::filesystem::exists(database_ + "-journal"));
}

TEST_F(SqliteFilesTest, ReadersDoNotWrite) {
  const auto reader = MustOpen(database_, DatabaseAccess::kRead);
  ASSERT_NE(reader, nullptr);
  EXPECT_EQ(AddNumber(*reader).code(), absl::StatusCode::kPermissionDenied);
  EXPECT_TRUE(AddNumber(*MustOpen(database_)).ok());  // meanwhile others can write
  EXPECT_EQ(CountNumbers(*reader), 2);
}

TEST_F(SqliteFilesTest, NoOtherDatabaseIsAttached) {
  const auto connection = SqliteConnection::Open(database_, {});
  ASSERT_TRUE(connection.ok());
  EXPECT_FALSE((*connection)->Execute("ATTACH '" + (folder_ / "new.db") + "' AS other").ok());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "new.db"));
}

}  // namespace
}  // namespace attune
