// Sessions of the page: begun with a token, shown, ended.

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status.h"
#include "service/access/problems.h"
#include "service/access/texts.h"
#include "service/rest/operations.h"

namespace attune {
namespace {

constexpr size_t kMostBodyBytes = 4 << 10;

JsonSchema SessionSchema() {
  return ObjectSchema({{"name", OrNull(TextSchema())},
                       {"tenant", OrNull(TextSchema())},
                       {"role", OrNull(TextSchema())},
                       {"csrf_token", OrNull(TextSchema())},
                       {"expires_ms", OrNull(IntegerSchema())},
                       {"logins", ListSchema(SchemaNamed("Login"))}});
}

// Where people can log in; `attune login` does so itself.
JsonSchema LoginsJson(const OidcLogins* logins) {
  JsonSchema list = JsonSchema::array();
  if (logins == nullptr) return list;
  for (const OidcIssuer& issuer : logins->configured().issuers)
    list.push_back({{"name", issuer.name},
                    {"path", absl::StrCat("/v1/login?issuer=", issuer.name)},
                    {"issuer", issuer.issuer},
                    {"client_id", issuer.cli_client_id},
                    {"scope", issuer.scope}});
  return list;
}

JsonSchema ToJson(const KnownSession* known, const OidcLogins* logins) {
  JsonSchema json = {{"name", nullptr},       {"tenant", nullptr},     {"role", nullptr},
                     {"csrf_token", nullptr}, {"expires_ms", nullptr}, {"logins", LoginsJson(logins)}};
  if (known == nullptr) return json;
  json["name"] = known->session.name;
  json["tenant"] = known->session.tenant;
  json["role"] = Name(known->session.role);
  json["csrf_token"] = known->csrf_token;
  json["expires_ms"] = known->session.expires_ms;
  return json;
}

HttpResponse Told(const KnownSession* known, const OidcLogins* logins, int status) {
  HttpResponse response = JsonResponse(ToJson(known, logins), status);
  response.headers["Cache-Control"] = "no-store";
  return response;
}

absl::StatusOr<HttpResponse> Begin(const SessionParts& parts, const RestCall& call) {
  const auto begun = parts.callers.BeginByToken(call.request, call.body["token"].get<std::string>());
  if (absl::IsUnauthenticated(begun.status()))
    return UnauthorizedProblem("invalid_token", begun.status().message());
  RETURN_IF_ERROR(begun.status());
  Log(LogLevel::kInfo, "session begins", "session", begun->known.session.id, "tenant",
      begun->known.session.tenant);
  HttpResponse response = Told(&begun->known, parts.logins, 201);
  response.headers["Set-Cookie"] = begun->cookie;
  return response;
}

absl::StatusOr<HttpResponse> Show(const SessionParts& parts, const RestCall& call) {
  ASSIGN_OR_RETURN(const auto known, parts.callers.FindSession(call.request));
  return Told(known ? &*known : nullptr, parts.logins, 200);
}

absl::StatusOr<HttpResponse> End(const SessionParts& parts, const RestCall& call) {
  const absl::Status ended = parts.people.EndSession(call.caller.id, call.caller.tenant);
  // A token that asks has no session.
  if (!absl::IsNotFound(ended)) RETURN_IF_ERROR(ended);
  HttpResponse response = {.status = 204};
  response.headers["Set-Cookie"] = parts.callers.ForgottenCookie(call.request);
  return response;
}

}  // namespace

void AddSessionOperations(const SessionParts& parts, RestApi& api) {
  const RestHeader cookie = {"Set-Cookie", "Cookie of the session, which scripts of the page cannot read"};
  api.schemas["Login"] = ObjectSchema({{"name", TextSchema()},
                                       {"path", TextSchema()},
                                       {"issuer", TextSchema()},
                                       {"client_id", TextSchema()},
                                       {"scope", TextSchema()}});
  api.schemas["Session"] = SessionSchema();
  api.operations.push_back(
      {.id = "beginSession",
       .route = {"POST", "/v1/session"},
       .summary = "Starts a session for a browser, which ends with the token.",
       .role = std::nullopt,
       .body = ObjectSchema({{"token", {{"type", "string"}, {"minLength", 1}, {"maxLength", 200}}}}),
       .most_body_bytes = kMostBodyBytes,
       .answers = {{.status = 201,
                    .help = "The session has started",
                    .schema = SchemaNamed("Session"),
                    .headers = {cookie}}},
       .problems = {401},
       .handler = [parts](const RestCall& call) { return Begin(parts, call); }});
  api.operations.push_back({.id = "getSession",
                            .route = {"GET", "/v1/session"},
                            .summary = "Returns the session of the request's cookie, with nulls if there is "
                                       "none; and the identity providers for a login.",
                            .role = std::nullopt,
                            .answers = {{.help = "The session", .schema = SchemaNamed("Session")}},
                            .handler = [parts](const RestCall& call) { return Show(parts, call); }});
  api.operations.push_back(
      {.id = "endSession",
       .route = {"DELETE", "/v1/session"},
       .summary = "Ends the session of the request's cookie.",
       .answers = {{.status = 204, .help = "The session has ended", .headers = {cookie}}},
       .handler = [parts](const RestCall& call) { return End(parts, call); }});
}

}  // namespace attune
