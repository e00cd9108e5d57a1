#include "service/state/tenant_store.h"

#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr char kCreateTenants[] =
    "CREATE TABLE tenants (name TEXT NOT NULL PRIMARY KEY, is_being_deleted INTEGER NOT NULL, created_ms "
    "INTEGER NOT NULL, stored_bytes INTEGER NOT NULL, jobs INTEGER NOT NULL, device_seconds INTEGER NOT "
    "NULL, period_days INTEGER NOT NULL, requests_per_second INTEGER NOT NULL, shares_models INTEGER NOT "
    "NULL, shares_artifacts INTEGER NOT NULL, shares_records INTEGER NOT NULL, shares_answers INTEGER NOT "
    "NULL, teaches_cost_model INTEGER NOT NULL) STRICT";
constexpr char kCreateUsage[] =
    "CREATE TABLE tenant_usage (tenant TEXT NOT NULL, day INTEGER NOT NULL, device_seconds REAL NOT NULL, "
    "stored_bytes INTEGER NOT NULL, PRIMARY KEY (tenant, day)) STRICT";
constexpr const char* kUp[] = {
    kCreateTenants,
    kCreateUsage,
    "CREATE INDEX tenant_usage_by_day ON tenant_usage (day)",
};
constexpr const char* kDown[] = {"DROP TABLE tenant_usage", "DROP TABLE tenants"};
// The consents in these columns no longer apply.
constexpr const char* kUp2[] = {
    "ALTER TABLE tenants DROP COLUMN shares_models",
    "ALTER TABLE tenants DROP COLUMN shares_artifacts",
    "ALTER TABLE tenants DROP COLUMN shares_records",
};
// An earlier program knows the columns by their order.
constexpr char kFillTenants[] =
    "INSERT INTO tenants SELECT name, is_being_deleted, created_ms, stored_bytes, jobs, device_seconds, "
    "period_days, requests_per_second, 0, 0, 0, shares_answers, teaches_cost_model FROM newer_tenants";
constexpr const char* kDown2[] = {
    "ALTER TABLE tenants RENAME TO newer_tenants",
    kCreateTenants,
    kFillTenants,
    "DROP TABLE newer_tenants",
};
constexpr SqlMigration kMigrations[] = {{.up = kUp, .down = kDown}, {.up = kUp2, .down = kDown2}};

constexpr std::string_view kSelectTenant =
    "SELECT name, is_being_deleted, created_ms, stored_bytes, jobs, device_seconds, period_days, "
    "requests_per_second, shares_answers, teaches_cost_model FROM tenants";

absl::StatusOr<TenantRecord> ReadTenant(const SqlRow& row) {
  int column = 0;
  TenantRecord tenant = {.name = row.Text(column++)};
  tenant.is_being_deleted = row.Integer(column++) != 0;
  tenant.created_ms = row.Integer(column++);
  for (int64_t* bound : {&tenant.quota.stored_bytes, &tenant.quota.jobs, &tenant.quota.device_seconds,
                         &tenant.quota.period_days, &tenant.quota.requests_per_second})
    *bound = row.Integer(column++);
  for (bool* is_shared : {&tenant.consent.answers, &tenant.consent.cost_model})
    *is_shared = row.Integer(column++) != 0;
  return tenant;
}

absl::StatusOr<TenantUsage> ReadUsage(const SqlRow& row) {
  return TenantUsage{.tenant = row.Text(0),
                     .day = row.Integer(1),
                     .device_seconds = row.Real(2),
                     .stored_bytes = row.Integer(3)};
}

// Returns whether the tenant is new.
absl::StatusOr<bool> Insert(SqlSession& sql, const TenantRecord& tenant) {
  ASSIGN_OR_RETURN(const int64_t count, ReadInteger(sql, "SELECT count(*) FROM tenants"));
  if (count >= kMostTenants)
    return absl::FailedPreconditionError(absl::StrCat("there are ", count, " tenants, which is the most"));
  const TenantQuota& quota = tenant.quota;
  const TenantConsent& consent = tenant.consent;
  ASSIGN_OR_RETURN(
      const int64_t added,
      ChangeRows(sql, "INSERT INTO tenants VALUES (?, 0, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                 tenant.name, tenant.created_ms, quota.stored_bytes, quota.jobs, quota.device_seconds,
                 quota.period_days, quota.requests_per_second, consent.answers, consent.cost_model));
  return added > 0;
}

}  // namespace

const SqlSchema& TenantSchema() {
  static constexpr SqlSchema kSchema = {.store = "tenants",
                                        .file = "tenants.db",
                                        .application_id = 0x41745465,  // "AtTe"
                                        .migrations = kMigrations,
                                        .words = {.what = "database of tenants", .flag = "--state"}};
  return kSchema;
}

absl::StatusOr<std::unique_ptr<TenantStore>> TenantStore::Open(const SqlLocation& location) {
  ASSIGN_OR_RETURN(std::unique_ptr<SqlDatabase> database, location.Open(TenantSchema()));
  return std::unique_ptr<TenantStore>(new TenantStore(std::move(database)));
}

absl::Status TenantStore::Add(const TenantRecord& tenant) {
  ASSIGN_OR_RETURN(const bool is_new, database_->Write([&](SqlSession& sql) { return Insert(sql, tenant); }));
  if (is_new) return absl::OkStatus();
  return absl::AlreadyExistsError(absl::StrCat("there is a tenant ", tenant.name, " already"));
}

absl::Status TenantStore::Ensure(const std::string& name, int64_t now_ms) {
  ASSIGN_OR_RETURN(const auto known, Find(name));
  if (known) return absl::OkStatus();
  return database_->Write([&](SqlSession& sql) { return Insert(sql, {.name = name, .created_ms = now_ms}); })
      .status();
}

absl::StatusOr<std::optional<TenantRecord>> TenantStore::Find(const std::string& name) {
  return ReadRow(*database_, ReadTenant, absl::StrCat(kSelectTenant, " WHERE name = ?"), name);
}

absl::StatusOr<std::vector<TenantRecord>> TenantStore::All() {
  return ReadRows(*database_, ReadTenant, absl::StrCat(kSelectTenant, " ORDER BY name"));
}

absl::Status TenantStore::Change(const std::string& name, const std::string& sql,
                                 const std::vector<SqlValue>& values) {
  return database_->Write([&](SqlSession& session) -> absl::Status {
    std::vector<SqlValue> all = values;
    all.push_back(ToSqlValue(name));
    ASSIGN_OR_RETURN(const SqlAnswer answer, session.Execute(absl::StrCat(sql, " WHERE name = ?"), all));
    if (answer.changed > 0) return absl::OkStatus();
    return absl::NotFoundError(absl::StrCat("there is no tenant \"", Printable(name), "\""));
  });
}

absl::Status TenantStore::SetQuota(const std::string& name, const TenantQuota& quota) {
  return Change(
      name,
      "UPDATE tenants SET stored_bytes = ?, jobs = ?, device_seconds = ?, period_days = ?, "
      "requests_per_second = ?",
      {quota.stored_bytes, quota.jobs, quota.device_seconds, quota.period_days, quota.requests_per_second});
}

absl::Status TenantStore::SetConsent(const std::string& name, const TenantConsent& consent) {
  return Change(name, "UPDATE tenants SET shares_answers = ?, teaches_cost_model = ?",
                {ToSqlValue(consent.answers), ToSqlValue(consent.cost_model)});
}

absl::Status TenantStore::BeginDeletion(const std::string& name) {
  return Change(name, "UPDATE tenants SET is_being_deleted = 1", {});
}

absl::Status TenantStore::Remove(const std::string& name) {
  return database_->Write([&](SqlSession& sql) -> absl::Status {
    RETURN_IF_ERROR(Execute(sql, "DELETE FROM tenant_usage WHERE tenant = ?", name));
    return Execute(sql, "DELETE FROM tenants WHERE name = ?", name);
  });
}

absl::Status TenantStore::AddDeviceSeconds(const std::string& tenant, int64_t day, double seconds) {
  return Execute(*database_,
                 "INSERT INTO tenant_usage VALUES (?, ?, ?, 0) ON CONFLICT (tenant, day) DO UPDATE SET "
                 "device_seconds = tenant_usage.device_seconds + excluded.device_seconds",
                 tenant, day, seconds);
}

absl::Status TenantStore::SetStoredBytes(const std::string& tenant, int64_t day, int64_t bytes) {
  return Execute(*database_,
                 "INSERT INTO tenant_usage VALUES (?, ?, 0.0, ?) ON CONFLICT (tenant, day) DO UPDATE SET "
                 "stored_bytes = excluded.stored_bytes",
                 tenant, day, bytes);
}

absl::StatusOr<double> TenantStore::DeviceSeconds(const std::string& tenant, int64_t first_day) {
  return database_->Read([&](SqlSession& sql) -> absl::StatusOr<double> {
    ASSIGN_OR_RETURN(
        const SqlAnswer answer,
        sql.Execute(
            "SELECT coalesce(sum(device_seconds), 0.0) FROM tenant_usage WHERE tenant = ? AND day >= ?",
            {ToSqlValue(tenant), ToSqlValue(first_day)}));
    return answer.rows.empty() ? 0 : answer.rows.front().Real(0);
  });
}

absl::StatusOr<std::vector<TenantUsage>> TenantStore::Usage(const std::string& tenant, int64_t first_day,
                                                            int64_t last_day) {
  return ReadRows(*database_, ReadUsage,
                  absl::StrCat("SELECT tenant, day, device_seconds, stored_bytes FROM tenant_usage WHERE day "
                               ">= ? AND day <= ? AND ",
                               tenant.empty() ? "? = ''" : "tenant = ?", " ORDER BY day, tenant"),
                  first_day, last_day, tenant);
}

absl::StatusOr<bool> TeachesCostModel(TenantStore& store, const std::string& tenant) {
  ASSIGN_OR_RETURN(const auto found, store.Find(tenant));
  return found && found->consent.cost_model && !found->is_being_deleted;
}

absl::StatusOr<std::set<std::string>> TenantsThatAnswer(TenantStore& store) {
  ASSIGN_OR_RETURN(const auto tenants, store.All());
  std::set<std::string> names;
  for (const TenantRecord& tenant : tenants)
    if (tenant.consent.answers && !tenant.is_being_deleted) names.insert(tenant.name);
  return names;
}

}  // namespace attune
