// The audit log, page by page.
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "service/access/texts.h"
#include "service/rest/operations.h"
#include "service/rest/paging.h"

namespace attune {
namespace {

constexpr PageSize kPage = {.by_default = 100, .max = 1000};

JsonSchema EntrySchema() {
  return ObjectSchema({{"sequence", IntegerSchema()},
                       {"time", TimeSchema()},
                       {"tenant", TextSchema()},
                       {"actor", TextSchema()},
                       {"actor_name", TextSchema()},
                       {"operation", TextSchema()},
                       {"subject", TextSchema()},
                       {"request", TextSchema()},
                       {"result", TextSchema()},
                       {"is_erased", {{"type", "boolean"}}},
                       {"hash", TextSchema()}});
}

JsonSchema ToJson(const KeptAuditEntry& kept) {
  return {{"sequence", kept.sequence},
          {"time", TimeText(kept.entry.time_ms)},
          {"tenant", kept.entry.tenant},
          {"actor", kept.entry.actor},
          {"actor_name", kept.entry.actor_name},
          {"operation", kept.entry.operation},
          {"subject", kept.entry.subject},
          {"request", kept.entry.request},
          {"result", kept.entry.result},
          {"is_erased", kept.is_erased},
          {"hash", kept.hash}};
}

absl::StatusOr<HttpResponse> List(AuditStore& audit, const RestCall& call) {
  const bool is_admin = call.caller.role == AccessRole::kAdmin;
  const std::string tenant = call.parameters.value("tenant", is_admin ? "" : call.caller.tenant);
  if (!is_admin && tenant != call.caller.tenant)
    return absl::PermissionDeniedError("only the role admin sees entries of other tenants");
  AuditQuery query = {.tenant = tenant, .most = MostOf(call, kPage)};
  ASSIGN_OR_RETURN(query.before, NumericCursor(call, query.before));
  ASSIGN_OR_RETURN(const auto entries, audit.Entries(query));
  JsonSchema list = JsonSchema::array(), next = nullptr, head = nullptr;
  for (const KeptAuditEntry& kept : entries) list.push_back(ToJson(kept));
  if (std::ssize(entries) == query.most) next = absl::StrCat(entries.back().sequence);
  if (is_admin) {
    ASSIGN_OR_RETURN(const AuditHead last, audit.Head());
    head = last.Text();
  }
  return JsonResponse({{"entries", list}, {"next_cursor", next}, {"head", head}});
}

}  // namespace

void AddAuditOperations(const RestParts& parts, RestApi& api) {
  AuditStore& audit = parts.audit;
  const JsonSchema text_or_null = NextCursorSchema();
  api.schemas["AuditEntry"] = EntrySchema();
  api.operations.push_back(
      {.id = "listAudit",
       .method = "GET",
       .path = "/v1/audit",
       .summary = "Lists the changes of a tenant, or for an admin of all tenants. The head is a digest of "
                  "the whole log.",
       .role = AccessRole::kOperator,
       .parameters = {{.name = "tenant", .place = "query", .help = "Only this tenant"},
                      CursorParameter(),
                      MostParameter(kPage)},
       .answers = {{.help = "Latest first",
                    .schema = ObjectSchema({{"entries", ListSchema(SchemaNamed("AuditEntry"))},
                                            {"next_cursor", text_or_null},
                                            {"head", text_or_null}})}},
       .handler = [&audit](const RestCall& call) { return List(audit, call); }});
}

}  // namespace attune
