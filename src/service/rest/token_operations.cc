// Tokens, and who one is.
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "service/access/texts.h"
#include "service/rest/operations.h"

namespace attune {
namespace {

const JsonSchema& Roles() {
  static const JsonSchema roles = {{"type", "string"}, {"enum", {"viewer", "member", "operator", "admin"}}};
  return roles;
}

const JsonFields<AccessToken>& TokenFields() {
  static const JsonFields<AccessToken> fields = {
      {"id", TextSchema(), &AccessToken::id},
      {"name", TextSchema(), &AccessToken::name},
      {"tenant", TextSchema(), &AccessToken::tenant},
      {"role", Roles(), [](const AccessToken& token) { return Name(token.role); }},
      {"created_by", TextSchema(), &AccessToken::created_by},
      {"created", TimeSchema(), [](const AccessToken& token) { return TimeText(token.created_ms); }},
      {"expires", TimeSchema(), [](const AccessToken& token) { return TimeText(token.expires_ms); }}};
  return fields;
}

JsonSchema ToJson(const AccessToken& token) { return JsonOf(token, TokenFields()); }

JsonSchema NewTokenSchema() {
  return ObjectSchema({{"name", {{"type", "string"}, {"minLength", 1}, {"maxLength", 64}}},
                       {"role", Roles()},
                       {"tenant", NameSchema()},
                       {"days", {{"type", "integer"}, {"minimum", 1}, {"maximum", kMostTokenDays}}}},
                      {"tenant", "days"});
}

// Callers cannot give more rights than they have.
absl::Status CheckMayGive(const AccessToken& caller, const AccessToken& token) {
  if (token.role > caller.role)
    return absl::PermissionDeniedError(absl::StrCat(
        "the role ", Name(token.role), " is more than that of the caller's own token, ", Name(caller.role)));
  if (token.tenant != caller.tenant && caller.role < AccessRole::kAdmin)
    return absl::PermissionDeniedError("only the role admin manages tokens of other tenants");
  return absl::OkStatus();
}

absl::StatusOr<HttpResponse> Create(ServiceStore& tokens, Tenants& tenants, const RestCall& call) {
  AccessToken token = {.name = call.body["name"].get<std::string>(),
                       .tenant = call.body.value("tenant", call.caller.tenant),
                       .created_by = call.caller.id,
                       .created_ms = SystemClock().WallMillis()};
  ASSIGN_OR_RETURN(token.role, AccessRoleNamed(call.body["role"].get<std::string>()));
  token.expires_ms = token.created_ms + kDayMs * call.body.value("days", kUsualTokenDays);
  RETURN_IF_ERROR(CheckMayGive(call.caller, token));
  ASSIGN_OR_RETURN(token.id, NewId());
  ASSIGN_OR_RETURN(const std::string text, NewTokenText());
  RETURN_IF_ERROR(tenants.store().Ensure(token.tenant, token.created_ms));
  RETURN_IF_ERROR(tokens.AddToken(token, DigestOfToken(text)));
  Log(LogLevel::kInfo, "token is given", "token", token.id, "tenant", token.tenant, "role", Name(token.role),
      "by", call.caller.id);
  HttpResponse response = JsonResponse({{"text", text}, {"token", ToJson(token)}}, 201);
  response.headers["Cache-Control"] = "no-store";
  return response;
}

absl::StatusOr<HttpResponse> List(ServiceStore& store, const RestCall& call) {
  const std::string tenant = call.parameters.value("tenant", call.caller.tenant);
  if (tenant != call.caller.tenant && call.caller.role < AccessRole::kAdmin)
    return absl::PermissionDeniedError("only the role admin manages tokens of other tenants");
  ASSIGN_OR_RETURN(const auto tokens, store.Tokens(tenant, SystemClock().WallMillis()));
  return JsonResponse({{"tokens", JsonList(tokens, ToJson)}});
}

absl::StatusOr<HttpResponse> Revoke(ServiceStore& store, const RestCall& call) {
  const bool is_admin = call.caller.role == AccessRole::kAdmin;
  RETURN_IF_ERROR(store.RevokeToken(call.Text("id"), is_admin ? "" : call.caller.tenant));
  Log(LogLevel::kInfo, "token is revoked", "token", call.Text("id"), "by", call.caller.id);
  return HttpResponse{.status = 204};
}

}  // namespace

void AddTokenOperations(ServiceStore& tokens, Tenants& tenants, RestApi& api) {
  api.schemas["Token"] = SchemaOf(TokenFields());
  api.operations.push_back({.id = "getMe",
                            .route = {"GET", "/v1/me"},
                            .summary = "Returns the caller's token.",
                            .answers = {{.help = "The token is valid", .schema = SchemaNamed("Token")}},
                            .handler = [](const RestCall& call) -> absl::StatusOr<HttpResponse> {
                              return JsonResponse(ToJson(call.caller));
                            }});
  api.operations.push_back(
      {.id = "createToken",
       .route = {"POST", "/v1/tokens"},
       .summary = "Creates a token, whose text is returned only once.",
       .role = AccessRole::kOperator,
       .body = NewTokenSchema(),
       .answers = {{.status = 201,
                    .help = "The token",
                    .schema = ObjectSchema({{"text", TextSchema()}, {"token", SchemaNamed("Token")}})}},
       .problems = {409},
       .handler = [&tokens, &tenants](const RestCall& call) { return Create(tokens, tenants, call); }});
  api.operations.push_back(
      {.id = "listTokens",
       .route = {"GET", "/v1/tokens"},
       .summary = "Lists a tenant's valid tokens.",
       .role = AccessRole::kOperator,
       .parameters = {{.name = "tenant", .place = "query", .help = "Default: the caller's tenant"}},
       .answers = {{.help = "Latest first", .schema = ItemsSchema("tokens", "Token")}},
       .handler = [&tokens](const RestCall& call) { return List(tokens, call); }});
  api.operations.push_back({.id = "revokeToken",
                            .route = {"DELETE", "/v1/tokens/{id}"},
                            .summary = "Revokes a token, from the next request on.",
                            .role = AccessRole::kOperator,
                            .parameters = {{.name = "id", .place = "path", .help = "The id of the token"}},
                            .answers = {{.status = 204, .help = "The token is revoked"}},
                            .problems = {404},
                            .handler = [&tokens](const RestCall& call) { return Revoke(tokens, call); }});
}

}  // namespace attune
