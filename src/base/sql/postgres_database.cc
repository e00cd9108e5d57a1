// The tables of a store in a PostgreSQL database, which those of other stores share.
//
// Writing work takes a lock that belongs to the store and lasts as long as its transaction. So it sees all
// that was committed before, and no other work changes the rows that it has read.
#include <chrono>
#include <filesystem>
#include <random>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "base/sql/postgres_pool.h"
#include "base/sql/postgres_versions.h"
#include "base/sql/sql_database.h"
#include "base/sql/sql_errors.h"
#include "base/state_file.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr int kMostTries = 5;

// Runs `work` between `begin` and COMMIT. Sets `may_go_again` if nothing has taken effect, and only because
// others were in the way or the connection was lost.
absl::Status Transact(PostgresConnection& connection, const char* begin, const SqlWork& work,
                      bool& may_go_again) {
  absl::Status ran = connection.Execute(begin, {}).status();
  if (ran.ok()) ran = work(connection);
  if (ran.ok() && connection.has_failed())
    ran = InternalError(connection.name(), ": a statement has failed, and the store has not noticed");
  if (!ran.ok()) {
    may_go_again = connection.has_collided() || connection.is_lost();
    if (!connection.is_lost()) connection.Execute("ROLLBACK", {}).IgnoreError();
    return ran;
  }
  ran = connection.Execute("COMMIT", {}).status();
  may_go_again = connection.has_collided();
  return ran;
}

// Work on all stores may rest for longer between two statements, while it reads or writes files.
absl::Status TransactOnAllStores(PostgresPool& pool, const char* begin, const SqlWork& work) {
  constexpr const char* kAllowRest =
      "SELECT set_config('idle_in_transaction_session_timeout', '10min', true)";
  return pool.With([&](PostgresConnection& connection) {
    bool ignored = false;
    return Transact(
        connection, begin,
        [&](SqlSession& session) -> absl::Status {
          RETURN_IF_ERROR(session.Execute(kAllowRest, {}).status());
          return work(session);
        },
        ignored);
  });
}

class PostgresDatabase final : public SqlDatabase {
 public:
  PostgresDatabase(std::shared_ptr<PostgresPool> pool, const SqlSchema& schema, SqlFence fence)
      : pool_(std::move(pool)), schema_(schema), fence_(std::move(fence)) {}

  const std::string& name() const override { return pool_->name(); }

  // Makes the store's tables, or brings them up to date.
  absl::Status Prepare() {
    ASSIGN_OR_RETURN(const int64_t version, Version());
    RETURN_IF_ERROR(CheckVersion(name(), schema_, version));
    return version == schema_.version() ? absl::OkStatus() : Migrate(schema_.version());
  }

  absl::Status CheckWritable() override {
    return pool_->With([](PostgresConnection& connection) -> absl::Status {
      ASSIGN_OR_RETURN(const int64_t follows,
                       ReadInteger(connection, "SELECT CAST(pg_is_in_recovery() AS INTEGER)"));
      return follows == 0 ? absl::OkStatus()
                          : absl::UnavailableError(absl::StrCat(connection.name(), ": is a read-only copy"));
    });
  }

  absl::StatusOr<int64_t> Version() override {
    return Read([this](SqlSession& session) { return PostgresVersion(session, schema_); });
  }

  absl::Status Migrate(int64_t version) override {
    return Write([&](SqlSession& session) { return MigratePostgres(session, schema_, version); });
  }

 protected:
  absl::Status RunReading(const Step& step) override { return CountedSqlError(ReadPatiently(step)); }

  absl::Status RunWriting(const Step& step) override { return CountedSqlError(WritePatiently(step)); }

 private:
  absl::Status ReadPatiently(const Step& step) {
    absl::Status ran;
    for (int tries = 0; tries < 2; ++tries) {
      bool is_lost = false;
      ran = pool_->With([&](PostgresConnection& connection) {
        const absl::Status stepped = step(connection);
        is_lost = connection.is_lost();
        return stepped;
      });
      if (ran.ok() || !is_lost) return ran;
    }
    return ran;
  }

  absl::Status WritePatiently(const Step& step) {
    Random random(std::random_device{}());
    for (int tries = 1;; ++tries) {
      bool may_go_again = false;
      const absl::Status ran = pool_->With([&](PostgresConnection& connection) {
        return Transact(
            connection, "BEGIN", [&](SqlSession& session) { return RunFenced(session, step); }, may_go_again);
      });
      if (ran.ok() || !may_go_again || tries == kMostTries) return ran;
      std::this_thread::sleep_for(std::chrono::milliseconds(random.Integer(1, int64_t{10} << tries)));
    }
  }

  absl::Status RunFenced(SqlSession& session, const Step& step) const {
    RETURN_IF_ERROR(LockPostgres(session, schema_.store));
    if (fence_) RETURN_IF_ERROR(fence_(session));
    return step(session);
  }

  const std::shared_ptr<PostgresPool> pool_;
  const SqlSchema schema_;
  const SqlFence fence_;
};

// In the folder of a server's state.
absl::StatusOr<std::unique_ptr<SqlDatabase>> OpenInFolder(const std::string& folder, const SqlSchema& schema,
                                                          SqlOpening opening) {
  const std::string path = absl::StrCat(folder, "/", schema.file);
  if (opening == SqlOpening::kPrepare)
    RETURN_IF_ERROR(MakeStateFolder(std::filesystem::path(path).parent_path()));
  RETURN_IF_ERROR(CheckStateFile(path));
  return OpenSqlite(path, schema, opening);
}

}  // namespace

absl::StatusOr<SqlLocation> SqlLocation::Postgres(const std::string& url) {
  ASSIGN_OR_RETURN(PostgresAddress address, PostgresAddress::FromUrl(url));
  SqlLocation location("");
  location.pool_ = std::make_shared<PostgresPool>(std::move(address));
  return location;
}

SqlLocation SqlLocation::Fenced(SqlFence fence) const {
  SqlLocation fenced = *this;
  fenced.fence_ = std::move(fence);
  return fenced;
}

absl::Status SqlLocation::ReadAllStores(const SqlWork& work) const {
  // Its first statement decides what the transaction sees.
  return TransactOnAllStores(*pool_, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", work);
}

absl::Status SqlLocation::WriteAllStores(const SqlWork& work) const {
  return TransactOnAllStores(*pool_, "BEGIN", [&](SqlSession& session) -> absl::Status {
    RETURN_IF_ERROR(LockPostgresVersions(session));
    return work(session);
  });
}

const std::string& SqlLocation::name() const { return is_postgres() ? pool_->name() : folder_; }

absl::StatusOr<std::unique_ptr<SqlDatabase>> SqlLocation::Open(const SqlSchema& schema,
                                                               SqlOpening opening) const {
  if (!is_postgres()) return OpenInFolder(folder_, schema, opening);
  auto database = std::make_unique<PostgresDatabase>(pool_, schema, fence_);
  if (opening == SqlOpening::kPrepare) RETURN_IF_ERROR(database->Prepare());
  return database;
}

}  // namespace attune
