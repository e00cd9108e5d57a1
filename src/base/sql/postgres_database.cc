// The tables of a store in a PostgreSQL database, which those of other stores share.
//
// Writing work takes a lock that belongs to the store and lasts as long as its transaction. So it sees all
// that was committed before, and nobody changes what it has read.
#include <chrono>
#include <random>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "base/sql/postgres_pool.h"
#include "base/sql/sql_database.h"
#include "base/sql/sql_errors.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr char kVersionTable[] =
    "CREATE TABLE IF NOT EXISTS attune_versions (store TEXT NOT NULL PRIMARY KEY, version INTEGER NOT NULL)";
constexpr int kMostTries = 5;

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
    return Read([this](SqlSession& session) -> absl::StatusOr<int64_t> {
      ASSIGN_OR_RETURN(const int64_t is_there,
                       ReadInteger(session,
                                   "SELECT count(*) FROM pg_tables WHERE schemaname = 'public' AND "
                                   "tablename = 'attune_versions'"));
      if (is_there == 0) return 0;
      return ReadVersion(session);
    });
  }

  absl::Status Migrate(int64_t version) override {
    return Write([&](SqlSession& session) -> absl::Status {
      // One at a time for all stores, since they share the table.
      RETURN_IF_ERROR(Lock(session, "versions"));
      RETURN_IF_ERROR(session.Execute(kVersionTable, {}).status());
      ASSIGN_OR_RETURN(const int64_t from, ReadVersion(session));
      RETURN_IF_ERROR(CheckVersion(name(), schema_, from));
      RETURN_IF_ERROR(ExecuteMigrations(session, schema_, from, version));
      return ChangeRows(
                 session,
                 "INSERT INTO attune_versions VALUES (?, ?) ON CONFLICT (store) DO UPDATE SET version = "
                 "excluded.version",
                 schema_.store, version)
          .status();
    });
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
      const absl::Status ran = pool_->With(
          [&](PostgresConnection& connection) { return Transact(connection, step, may_go_again); });
      if (ran.ok() || !may_go_again || tries == kMostTries) return ran;
      std::this_thread::sleep_for(std::chrono::milliseconds(random.Integer(1, int64_t{10} << tries)));
    }
  }

  absl::StatusOr<int64_t> ReadVersion(SqlSession& session) const {
    return ReadInteger(session, "SELECT version FROM attune_versions WHERE store = ?", schema_.store);
  }

  static absl::Status Lock(SqlSession& session, std::string_view name) {
    return session
        .Execute("SELECT pg_advisory_xact_lock(hashtextextended(?, 0))",
                 {ToSqlValue(absl::StrCat("attune ", name))})
        .status();
  }

  // Sets `may_go_again` if nothing has taken effect, and only because others were in the way or the
  // connection was lost.
  absl::Status Transact(PostgresConnection& connection, const Step& step, bool& may_go_again) const {
    absl::Status ran = connection.Execute("BEGIN", {}).status();
    if (ran.ok()) ran = Lock(connection, schema_.store);
    if (ran.ok() && fence_) ran = fence_(connection);
    if (ran.ok()) ran = step(connection);
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

  const std::shared_ptr<PostgresPool> pool_;
  const SqlSchema schema_;
  const SqlFence fence_;
};

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

const std::string& SqlLocation::name() const { return is_postgres() ? pool_->name() : folder_; }

absl::StatusOr<std::unique_ptr<SqlDatabase>> SqlLocation::Open(const SqlSchema& schema,
                                                               SqlOpening opening) const {
  if (!is_postgres()) return OpenSqlite(absl::StrCat(folder_, "/", schema.file), schema, opening);
  auto database = std::make_unique<PostgresDatabase>(pool_, schema, fence_);
  if (opening == SqlOpening::kPrepare) RETURN_IF_ERROR(database->Prepare());
  return database;
}

}  // namespace attune
