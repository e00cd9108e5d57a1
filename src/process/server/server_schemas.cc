#include "process/server/server_schemas.h"

#include <chrono>
#include <memory>
#include <thread>

#include "absl/strings/str_cat.h"
#include "base/file_descriptor.h"
#include "base/printable.h"
#include "base/sql/postgres_versions.h"
#include "base/status.h"
#include "fleet/blobs/sql_blob_store.h"
#include "fleet/server/fleet_server_state.h"
#include "fleet/store/fleet_store.h"
#include "process/server/server_lease.h"
#include "service/agreement/agreement_store.h"
#include "service/models/model_store.h"
#include "service/records/cost_model_store.h"
#include "service/state/audit_store.h"
#include "service/state/people_store.h"
#include "service/state/service_store.h"
#include "service/state/tenant_store.h"
#include "work/store/sql_job_store.h"

namespace attune {
namespace {

// Other connections to the database by the name that those of servers have.
absl::StatusOr<int64_t> CountOthers(const SqlLocation& location) {
  int64_t others = 0;
  const absl::Status counted = location.ReadAllStores([&](SqlSession& session) -> absl::Status {
    ASSIGN_OR_RETURN(
        others, ReadInteger(session,
                            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND "
                            "application_name = current_setting('application_name') AND pid <> "
                            "pg_backend_pid()"));
    return absl::OkStatus();
  });
  RETURN_IF_ERROR(counted);
  return others;
}

absl::Status IsInUse(const SqlLocation& location) {
  return absl::FailedPreconditionError(
      absl::StrCat(location.name(), ": a server uses it; end that one first"));
}

absl::Status CheckNoServerIsConnected(const SqlLocation& location) {
  // PostgreSQL notices only after a moment that a server has ended.
  constexpr std::chrono::milliseconds kPoll(100);
  constexpr int kMostPolls = 20;
  for (int polls = 0;; ++polls) {
    ASSIGN_OR_RETURN(const int64_t others, CountOthers(location));
    if (others == 0) return absl::OkStatus();
    if (polls == kMostPolls) return IsInUse(location);
    std::this_thread::sleep_for(kPoll);
  }
}

// While it is held, no server has the location, if that is a folder; none (-1) for a database.
absl::StatusOr<FileDescriptor> KeepServersAway(const SqlLocation& location) {
  if (location.is_postgres()) {
    RETURN_IF_ERROR(CheckNoServerIsConnected(location));
    return FileDescriptor(-1);
  }
  ASSIGN_OR_RETURN(FileDescriptor lock, LockServerFolder(location.name()));
  if (lock.get() < 0) return IsInUse(location);
  return lock;
}

}  // namespace

std::vector<const SqlSchema*> ServerSchemas(const SqlLocation& location) {
  std::vector<const SqlSchema*> schemas = {&FleetSchema(),  &JobSchema(),       &ServiceSchema(),
                                           &PeopleSchema(), &TenantSchema(),    &AuditSchema(),
                                           &ModelSchema(),  &AgreementSchema(), &CostModelSchema()};
  if (location.is_postgres()) schemas.insert(schemas.end(), {&BlobSchema(), &ServerLeaseSchema()});
  return schemas;
}

absl::StatusOr<std::vector<StoreVersion>> StoreVersions(const SqlLocation& location) {
  std::vector<StoreVersion> versions;
  for (const SqlSchema* schema : ServerSchemas(location)) {
    ASSIGN_OR_RETURN(const std::unique_ptr<SqlDatabase> database,
                     location.Open(*schema, SqlOpening::kAsItIs));
    const absl::StatusOr<int64_t> version = database->Version();
    if (absl::IsNotFound(version.status())) continue;
    if (!version.ok()) return version.status();
    versions.push_back(
        {.store = std::string(schema->store), .version = *version, .latest = schema->version()});
  }
  return versions;
}

absl::Status MigrateStores(const SqlLocation& location, const std::string& store, int64_t version) {
  ASSIGN_OR_RETURN(const FileDescriptor lock, KeepServersAway(location));
  bool is_known = false;
  for (const SqlSchema* schema : ServerSchemas(location)) {
    if (!store.empty() && store != schema->store) continue;
    is_known = true;
    ASSIGN_OR_RETURN(const std::unique_ptr<SqlDatabase> database,
                     location.Open(*schema, SqlOpening::kAsItIs));
    const absl::Status migrated = database->Migrate(version < 0 ? schema->version() : version);
    const bool is_missing = absl::IsNotFound(migrated) && store.empty();
    if (!is_missing) RETURN_IF_ERROR(migrated);
  }
  if (is_known) return absl::OkStatus();
  return absl::NotFoundError(
      absl::StrCat("there is no store \"", Printable(store), "\"; attune server database show lists them"));
}

absl::Status RemoveStores(const SqlLocation& location) {
  RETURN_IF_ERROR(CheckNoServerIsConnected(location));
  return location.WriteAllStores(
      [&](SqlSession& session) { return DropPostgresStores(session, ServerSchemas(location)); });
}

}  // namespace attune
