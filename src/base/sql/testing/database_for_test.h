// For tests of stores: each kind of database, empty, with a PostgreSQL server of the test's own.
#ifndef ATTUNE_BASE_SQL_TESTING_DATABASE_FOR_TEST_H_
#define ATTUNE_BASE_SQL_TESTING_DATABASE_FOR_TEST_H_

#include <gtest/gtest.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/process/command.h"
#include "base/sql/postgres_connection.h"
#include "base/sql/sql_database.h"
#include "base/testing/temporary_folder.h"

namespace attune::testing {

// A PostgreSQL server in a temporary folder, reached through a socket there. It ends with this process.
class PostgresForTest {
 public:
  // The one of this process; null where PostgreSQL is not installed.
  static PostgresForTest* Get() {
    static const std::string programs = Programs();
    if (programs.empty()) return nullptr;
    static PostgresForTest server(programs);
    return &server;
  }

  ~PostgresForTest() { Kill(); }

  // The URL of a new database.
  std::string NewDatabase() {
    const std::string name = absl::StrCat("test", ++databases_);
    const auto connection = Connect("postgres");
    EXPECT_TRUE(connection.ok()) << connection.status();
    EXPECT_TRUE((*connection)->Execute("CREATE DATABASE " + name, {}).ok());
    return Url(name);
  }

  // Ends it as a crash of the machine's processes does.
  void Kill() {
    if (process_ <= 0) return;
    kill(process_, SIGQUIT);
    int status = 0;
    waitpid(process_, &status, 0);
    process_ = 0;
  }

  void Start() {
    std::vector<std::string> command = AsServer();
    command.insert(command.end(),
                   {"--pdeathsig", "QUIT", programs_ + "/postgres", "-D", data_, "-k", folder_.path(), "-c",
                    "listen_addresses=", "-c", "fsync=off", "-c", "log_destination=stderr", "-c",
                    "logging_collector=on", "-c", "log_min_messages=fatal"});
    std::vector<char*> arguments;
    for (std::string& argument : command) arguments.push_back(argument.data());
    arguments.push_back(nullptr);
    ASSERT_EQ(posix_spawnp(&process_, arguments[0], nullptr, nullptr, arguments.data(), environ), 0);
    while (!Connect("postgres").ok()) {
      int status = 0;
      ASSERT_EQ(waitpid(process_, &status, WNOHANG), 0) << "PostgreSQL has ended";
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

 private:
  explicit PostgresForTest(std::string programs) : programs_(std::move(programs)) {
    if (geteuid() == 0) EXPECT_EQ(chown(folder_.path().c_str(), Nobody()->pw_uid, Nobody()->pw_gid), 0);
    std::vector<std::string> command = AsServer();
    command.insert(command.end(), {programs_ + "/initdb", "-D", data_, "-U", "attune", "-A", "trust", "-N",
                                   "-E", "UTF8", "--locale=C.UTF-8"});
    const auto made = RunCommand(command);
    EXPECT_TRUE(made.ok()) << made.status();
    Start();
  }

  static std::string Programs() {
    std::error_code error;
    for (const auto& version : std::filesystem::directory_iterator("/usr/lib/postgresql", error))
      if (std::filesystem::exists(version.path() / "bin/initdb")) return version.path() / "bin";
    return "";
  }
  static const passwd* Nobody() { return getpwnam("nobody"); }
  // PostgreSQL does not run as root.
  static std::vector<std::string> AsServer() {
    if (geteuid() != 0) return {"setpriv"};
    return {"setpriv", absl::StrCat("--reuid=", Nobody()->pw_uid), absl::StrCat("--regid=", Nobody()->pw_gid),
            "--clear-groups"};
  }

  std::string Url(const std::string& database) const {
    return absl::StrCat("postgresql://attune@/", database, "?host=", folder_.path());
  }
  absl::StatusOr<std::unique_ptr<PostgresConnection>> Connect(const std::string& database) const {
    auto address = PostgresAddress::FromUrl(Url(database));
    if (!address.ok()) return address.status();
    return PostgresConnection::Connect(*address, std::chrono::seconds(30));
  }

  const std::string programs_;
  const TemporaryFolder folder_;
  const std::string data_ = folder_ / "data";
  pid_t process_ = 0;
  int databases_ = 0;
};

inline constexpr char kSqlite[] = "sqlite", kPostgres[] = "postgresql";

// For value-parameterized tests: every kind of database.
inline auto EveryDatabase() { return ::testing::Values(std::string(kSqlite), std::string(kPostgres)); }
// A part of their names.
inline std::string DatabaseOf(const ::testing::TestParamInfo<std::string>& info) { return info.param; }

// An empty location for stores.
class LocationForTest {
 public:
  explicit LocationForTest(const std::string& kind) : location_(folder_.path()) {
    if (kind != kPostgres) return;
    PostgresForTest* server = PostgresForTest::Get();
    is_missing_ = server == nullptr;
    if (!is_missing_) location_ = *SqlLocation::Postgres(server->NewDatabase());
  }

  const SqlLocation& operator*() const { return location_; }
  const TemporaryFolder& folder() const { return folder_; }
  bool is_missing() const { return is_missing_; }

 private:
  const TemporaryFolder folder_;
  bool is_missing_ = false;
  SqlLocation location_;
};

}  // namespace attune::testing

// The first line of SetUp() in a fixture with a LocationForTest.
#define SKIP_WITHOUT_DATABASE(location)                                        \
  if ((location).is_missing()) {                                               \
    ASSERT_EQ(std::getenv("CI"), nullptr) << "PostgreSQL should be installed"; \
    GTEST_SKIP() << "PostgreSQL is not installed";                             \
  }

#endif  // ATTUNE_BASE_SQL_TESTING_DATABASE_FOR_TEST_H_
