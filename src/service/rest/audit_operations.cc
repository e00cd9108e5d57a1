// The audit log, page by page.
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "service/access/texts.h"
#include "service/rest/operation.h"
#include "service/rest/operations.h"

namespace attune {
namespace {

constexpr PageSize kPage = {.by_default = 100, .max = 1000};

const JsonFields<KeptAuditEntry>& EntryFields() {
  static const JsonFields<KeptAuditEntry> fields = {
      {"sequence", IntegerSchema(), &KeptAuditEntry::sequence},
      {"time", TimeSchema(), [](const KeptAuditEntry& kept) { return TimeText(kept.entry.time_ms); }},
      {"tenant", TextSchema(), [](const KeptAuditEntry& kept) { return kept.entry.tenant; }},
      {"actor", TextSchema(), [](const KeptAuditEntry& kept) { return kept.entry.actor; }},
      {"actor_name", TextSchema(), [](const KeptAuditEntry& kept) { return kept.entry.actor_name; }},
      {"operation", TextSchema(), [](const KeptAuditEntry& kept) { return kept.entry.operation; }},
      {"subject", TextSchema(), [](const KeptAuditEntry& kept) { return kept.entry.subject; }},
      {"request", TextSchema(), [](const KeptAuditEntry& kept) { return kept.entry.request; }},
      {"result", TextSchema(), [](const KeptAuditEntry& kept) { return kept.entry.result; }},
      {"is_erased", JsonSchema{{"type", "boolean"}}, &KeptAuditEntry::is_erased},
      {"hash", TextSchema(), &KeptAuditEntry::hash}};
  return fields;
}

JsonSchema ToJson(const KeptAuditEntry& kept) { return JsonOf(kept, EntryFields()); }

absl::StatusOr<HttpResponse> List(AuditStore& audit, const RestCall& call) {
  const bool is_admin = call.caller.role == AccessRole::kAdmin;
  const std::string tenant = call.parameters.value("tenant", is_admin ? "" : call.caller.tenant);
  if (!is_admin && tenant != call.caller.tenant)
    return absl::PermissionDeniedError("only the role admin sees entries of other tenants");
  AuditQuery query = {.tenant = tenant, .most = MostOf(call, kPage)};
  ASSIGN_OR_RETURN(query.before, NumericCursor(call, query.before));
  ASSIGN_OR_RETURN(const auto entries, audit.Entries(query));
  JsonSchema next = nullptr, head = nullptr;
  if (std::ssize(entries) == query.most) next = absl::StrCat(entries.back().sequence);
  if (is_admin) {
    ASSIGN_OR_RETURN(const AuditHead last, audit.Head());
    head = last.Text();
  }
  return JsonResponse({{"entries", JsonList(entries, ToJson)}, {"next_cursor", next}, {"head", head}});
}

}  // namespace

void AddAuditOperations(AuditStore& audit, RestApi& api) {
  api.schemas["AuditEntry"] = SchemaOf(EntryFields());
  api.operations.push_back(
      {.id = "listAudit",
       .route = {"GET", "/v1/audit"},
       .summary = "Lists the changes of a tenant, or for an admin of all tenants. The head is a digest of "
                  "the whole log.",
       .role = AccessRole::kOperator,
       .parameters = {{.name = "tenant", .place = "query", .help = "Only this tenant"},
                      CursorParameter(),
                      MostParameter(kPage)},
       .answers = {{.help = "Latest first",
                    .schema = ObjectSchema({{"entries", ListSchema(SchemaNamed("AuditEntry"))},
                                            {"next_cursor", NextCursorSchema()},
                                            {"head", NextCursorSchema()}})}},
       .handler = [&audit](const RestCall& call) { return List(audit, call); }});
}

}  // namespace attune
