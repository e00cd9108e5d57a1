// Tenants: made, shown, bounded, exported, deleted.
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/status.h"
#include "http/problem.h"
#include "service/access/texts.h"
#include "service/rest/operations.h"

namespace attune {
namespace {

const JsonFields<TenantQuota>& QuotaFields() {
  const JsonSchema amount = IntegerSchema(0, int64_t{1} << 52);
  static const JsonFields<TenantQuota> fields = {
      {"stored_bytes", amount, &TenantQuota::stored_bytes},
      {"jobs", amount, &TenantQuota::jobs},
      {"device_seconds", amount, &TenantQuota::device_seconds},
      {"period_days", IntegerSchema(1, 366), &TenantQuota::period_days},
      {"requests_per_second", IntegerSchema(1, 1'000'000), &TenantQuota::requests_per_second}};
  return fields;
}

JsonSchema ToJson(const TenantQuota& quota) { return JsonOf(quota, QuotaFields()); }

const JsonFields<TenantConsent>& ConsentFields() {
  static const JsonFields<TenantConsent> fields = {
      {"answers", JsonSchema{{"type", "boolean"}}, &TenantConsent::answers},
      {"cost_model", JsonSchema{{"type", "boolean"}}, &TenantConsent::cost_model}};
  return fields;
}

JsonSchema ToJson(const TenantConsent& consent) { return JsonOf(consent, ConsentFields()); }

TenantQuota QuotaOf(const nlohmann::json& json) {
  return {.stored_bytes = json["stored_bytes"].get<int64_t>(),
          .jobs = json["jobs"].get<int64_t>(),
          .device_seconds = json["device_seconds"].get<int64_t>(),
          .period_days = json["period_days"].get<int64_t>(),
          .requests_per_second = json["requests_per_second"].get<int64_t>()};
}

const JsonFields<TenantRecord>& TenantFields() {
  static const JsonFields<TenantRecord> fields = {
      {"name", TextSchema(), &TenantRecord::name},
      {"state", JsonSchema{{"type", "string"}, {"enum", {"active", "deleting"}}},
       [](const TenantRecord& tenant) { return tenant.is_being_deleted ? "deleting" : "active"; }},
      {"created", TimeSchema(), [](const TenantRecord& tenant) { return TimeText(tenant.created_ms); }},
      {"quota", SchemaNamed("Quota"), [](const TenantRecord& tenant) { return ToJson(tenant.quota); }},
      {"consent", SchemaNamed("Consent"), [](const TenantRecord& tenant) { return ToJson(tenant.consent); }}};
  return fields;
}

JsonSchema ToJson(const TenantRecord& tenant) { return JsonOf(tenant, TenantFields()); }

// Whether a request came for a tenant that has no row yet.
absl::StatusOr<bool> HasCallers(const TenantParts& parts, const std::string& tenant) {
  ASSIGN_OR_RETURN(const auto tokens, parts.tokens.Tokens(tenant, SystemClock().WallMillis()));
  if (!tokens.empty()) return true;
  ASSIGN_OR_RETURN(const auto people, parts.people.People(tenant));
  return !people.empty();
}

// The tenant of the path, if the caller reaches it. Another one's does not show.
absl::StatusOr<TenantRecord> Reached(const TenantParts& parts, const RestCall& call) {
  const std::string name = call.Text("tenant");
  const absl::Status none = absl::NotFoundError(absl::StrCat("there is no tenant \"", name, "\""));
  if (call.caller.role < AccessRole::kAdmin && name != call.caller.tenant) return none;
  ASSIGN_OR_RETURN(auto found, parts.tenants.store().Find(name));
  if (found) return *std::move(found);
  ASSIGN_OR_RETURN(const bool has_callers, HasCallers(parts, name));
  if (has_callers) return TenantRecord{.name = name, .created_ms = SystemClock().WallMillis()};
  return none;
}

absl::StatusOr<HttpResponse> Create(TenantStore& store, const RestCall& call) {
  TenantRecord tenant = {.name = call.body["name"].get<std::string>(),
                         .created_ms = SystemClock().WallMillis()};
  if (call.body.contains("quota")) tenant.quota = QuotaOf(call.body["quota"]);
  RETURN_IF_ERROR(store.Add(tenant));
  return JsonResponse(ToJson(tenant), 201);
}

absl::StatusOr<HttpResponse> List(TenantStore& store) {
  ASSIGN_OR_RETURN(const auto tenants, store.All());
  return JsonResponse({{"tenants", JsonList(tenants, ToJson)}});
}

absl::StatusOr<HttpResponse> Show(const TenantParts& parts, const RestCall& call) {
  Tenants& tenants = parts.tenants;
  ASSIGN_OR_RETURN(const TenantRecord tenant, Reached(parts, call));
  ASSIGN_OR_RETURN(const TenantState state, tenants.StateOf(tenant.name));
  ASSIGN_OR_RETURN(const double seconds, tenants.DeviceSeconds(tenant));
  JsonSchema json = ToJson(tenant);
  json["used"] = {{"jobs", state.jobs}, {"stored_bytes", state.stored_bytes}, {"device_seconds", seconds}};
  return JsonResponse(json);
}

absl::StatusOr<HttpResponse> SetQuota(const TenantParts& parts, const RestCall& call) {
  TenantStore& store = parts.tenants.store();
  ASSIGN_OR_RETURN(TenantRecord tenant, Reached(parts, call));
  RETURN_IF_ERROR(store.Ensure(tenant.name, SystemClock().WallMillis()));
  tenant.quota = QuotaOf(call.body);
  RETURN_IF_ERROR(store.SetQuota(tenant.name, tenant.quota));
  return JsonResponse(ToJson(tenant));
}

absl::StatusOr<HttpResponse> SetConsent(const TenantParts& parts, const RestCall& call) {
  TenantStore& store = parts.tenants.store();
  ASSIGN_OR_RETURN(TenantRecord tenant, Reached(parts, call));
  if (tenant.name != call.caller.tenant)
    return absl::PermissionDeniedError("only the tenant's own operators may give its consent");
  RETURN_IF_ERROR(store.Ensure(tenant.name, SystemClock().WallMillis()));
  tenant.consent = {.answers = call.body["answers"].get<bool>(),
                    .cost_model = call.body["cost_model"].get<bool>()};
  RETURN_IF_ERROR(store.SetConsent(tenant.name, tenant.consent));
  if (!tenant.consent.cost_model) RETURN_IF_ERROR(parts.learning.RemoveTenant(tenant.name));
  return JsonResponse(ToJson(tenant));
}

absl::StatusOr<HttpResponse> Delete(const TenantParts& parts, const RestCall& call) {
  TenantStore& store = parts.tenants.store();
  ASSIGN_OR_RETURN(TenantRecord tenant, Reached(parts, call));
  if (tenant.name == call.caller.tenant)
    return absl::FailedPreconditionError(
        "an admin may not delete their own tenant; ask an admin of another one");
  RETURN_IF_ERROR(store.Ensure(tenant.name, tenant.created_ms));
  RETURN_IF_ERROR(store.BeginDeletion(tenant.name));
  parts.remover.Wake();
  tenant.is_being_deleted = true;
  return JsonResponse(ToJson(tenant), 202);
}

// A day as "2026-11-29".
absl::StatusOr<int64_t> DayOf(const RestCall& call, const char* name, int64_t otherwise) {
  const std::string text = call.Text(name);
  if (text.empty()) return otherwise;
  absl::CivilDay day;
  constexpr int64_t kFirstYear = 1970, kLastYear = 9999;
  if (!absl::ParseCivilTime(text, &day) || day.year() < kFirstYear || day.year() > kLastYear)
    return InvalidInput(name, ": must be a day such as 2026-11-29");
  return day - absl::CivilDay(1970, 1, 1);
}

absl::StatusOr<HttpResponse> Usage(Tenants& tenants, const RestCall& call) {
  const bool is_admin = call.caller.role == AccessRole::kAdmin;
  const std::string tenant = call.parameters.value("tenant", is_admin ? "" : call.caller.tenant);
  if (!is_admin && tenant != call.caller.tenant)
    return absl::PermissionDeniedError("only the role admin sees the usage of other tenants");
  constexpr int64_t kUsualDays = 30;
  ASSIGN_OR_RETURN(const int64_t first, DayOf(call, "from", tenants.Today() - kUsualDays));
  ASSIGN_OR_RETURN(const int64_t last, DayOf(call, "to", tenants.Today()));
  if (!tenant.empty()) RETURN_IF_ERROR(tenants.Look(tenant));
  ASSIGN_OR_RETURN(const auto usage, tenants.store().Usage(tenant, first, last));
  std::string csv = "day,tenant,device_seconds,stored_bytes\r\n";
  for (const TenantUsage& one : usage)
    absl::StrAppend(&csv, absl::FormatCivilTime(absl::CivilDay(1970, 1, 1) + one.day), ",", one.tenant, ",",
                    absl::StrCat(one.device_seconds), ",", one.stored_bytes, "\r\n");
  return HttpResponse{.body = std::move(csv),
                      .content_type = "text/csv; charset=utf-8",
                      .headers = {{"Content-Disposition", "attachment; filename=\"usage.csv\""}}};
}

absl::StatusOr<HttpResponse> Archive(const TenantParts& parts, const RestCall& call) {
  ASSIGN_OR_RETURN(const TenantRecord tenant, Reached(parts, call));
  ASSIGN_OR_RETURN(HttpFile file, ArchiveOf(tenant.name, parts.folder, parts.remover.holdings()));
  return HttpResponse{
      .content_type = "application/x-tar",
      .headers = {{"Content-Disposition", absl::StrCat("attachment; filename=\"", tenant.name, ".tar\"")}},
      .file = std::move(file)};
}

RestParameter TenantOfPath() {
  return {.name = "tenant", .place = "path", .help = "The name of the tenant", .schema = NameSchema()};
}

}  // namespace

void AddTenantOperations(const TenantParts& parts, RestApi& api) {
  Tenants& tenants = parts.tenants;
  TenantStore& store = tenants.store();
  api.schemas["Quota"] = SchemaOf(QuotaFields());
  api.schemas["Consent"] = SchemaOf(ConsentFields());
  api.schemas["Tenant"] = SchemaOf(TenantFields());
  api.schemas["TenantDetail"] =
      SchemaOf(TenantFields(), {{"used", ObjectSchema({{"jobs", IntegerSchema()},
                                                       {"stored_bytes", IntegerSchema()},
                                                       {"device_seconds", NumberSchema()}})}});
  api.operations.push_back(
      {.id = "createTenant",
       .route = {"POST", "/v1/tenants"},
       .summary = "Creates a tenant. A tenant for which a token is made is created automatically.",
       .role = AccessRole::kAdmin,
       .body = ObjectSchema({{"name", NameSchema()}, {"quota", SchemaNamed("Quota")}}, {"quota"}),
       .answers = {{.status = 201, .help = "The tenant exists", .schema = SchemaNamed("Tenant")}},
       .problems = {409},
       .handler = [&store](const RestCall& call) { return Create(store, call); }});
  api.operations.push_back({.id = "listTenants",
                            .route = {"GET", "/v1/tenants"},
                            .summary = "Lists all tenants.",
                            .role = AccessRole::kAdmin,
                            .answers = {{.help = "By name", .schema = ItemsSchema("tenants", "Tenant")}},
                            .handler = [&store](const RestCall&) { return List(store); }});
  api.operations.push_back(
      {.id = "getTenant",
       .route = {"GET", "/v1/tenants/{tenant}"},
       .summary = "Returns a tenant, with its current use and its use in the quota's period.",
       .role = AccessRole::kOperator,
       .parameters = {TenantOfPath()},
       .answers = {{.help = "The tenant", .schema = SchemaNamed("TenantDetail")}},
       .problems = {404},
       .handler = [parts](const RestCall& call) { return Show(parts, call); }});
  api.operations.push_back({.id = "setQuota",
                            .route = {"PUT", "/v1/tenants/{tenant}/quota"},
                            .summary = "Sets the quota of a tenant.",
                            .role = AccessRole::kAdmin,
                            .parameters = {TenantOfPath()},
                            .body = SchemaNamed("Quota"),
                            .answers = {{.help = "The tenant", .schema = SchemaNamed("Tenant")}},
                            .problems = {404},
                            .handler = [parts](const RestCall& call) { return SetQuota(parts, call); }});
  api.operations.push_back({.id = "setConsent",
                            .route = {"PUT", "/v1/tenants/{tenant}/consent"},
                            .summary = "Sets the data that a tenant shares with others.",
                            .role = AccessRole::kOperator,
                            .parameters = {TenantOfPath()},
                            .body = SchemaNamed("Consent"),
                            .answers = {{.help = "The tenant", .schema = SchemaNamed("Tenant")}},
                            .problems = {404},
                            .handler = [parts](const RestCall& call) { return SetConsent(parts, call); }});
  api.operations.push_back(
      {.id = "deleteTenant",
       .route = {"DELETE", "/v1/tenants/{tenant}"},
       .summary = "Starts to delete a tenant with all its data; it is listed as being deleted until nothing "
                  "is left.",
       .role = AccessRole::kAdmin,
       .parameters = {TenantOfPath()},
       .answers = {{.status = 202, .help = "The deletion has started", .schema = SchemaNamed("Tenant")}},
       .problems = {404, 409},
       .handler = [parts](const RestCall& call) { return Delete(parts, call); }});
  api.operations.push_back({.id = "getArchive",
                            .route = {"GET", "/v1/tenants/{tenant}/archive"},
                            .summary = "Downloads all data of a tenant as one tar file, without secrets.",
                            .role = AccessRole::kOperator,
                            .parameters = {TenantOfPath()},
                            .answers = {{.help = "The archive", .type = "application/x-tar"}},
                            .problems = {404},
                            .handler = [parts](const RestCall& call) { return Archive(parts, call); }});
  api.operations.push_back(
      {.id = "getUsage",
       .route = {"GET", "/v1/usage"},
       .summary = "Downloads device seconds and stored bytes by day and tenant, as CSV.",
       .role = AccessRole::kOperator,
       .parameters = {{.name = "from", .place = "query", .help = "First day; default: 30 days ago"},
                      {.name = "to", .place = "query", .help = "Last day; default: today"},
                      {.name = "tenant", .place = "query", .help = "Only this tenant"}},
       .answers = {{.help = "The usage", .type = "text/csv; charset=utf-8"}},
       .handler = [&tenants](const RestCall& call) { return Usage(tenants, call); }});
}

}  // namespace attune
