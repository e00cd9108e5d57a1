// Logins of people in a browser: to the issuer, and back.
#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status.h"
#include "service/access/problems.h"
#include "service/access/texts.h"
#include "service/rest/operations.h"

namespace attune {
namespace {

HttpResponse Redirect(const std::string& url, const std::string& cookie) {
  return {.status = 303,
          .headers = {{"Location", url}, {"Set-Cookie", cookie}, {"Cache-Control", "no-store"}}};
}

absl::StatusOr<HttpResponse> Begin(OidcLogins* logins, const Callers& callers, const RestCall& call) {
  if (logins == nullptr) return absl::NotFoundError("this server has no identity provider; use a token");
  ASSIGN_OR_RETURN(const std::string secret, NewTokenText());
  ASSIGN_OR_RETURN(const std::string url, logins->BeginLogin(call.Text("issuer"), secret));
  return Redirect(url, callers.LoginCookie(call.request, secret));
}

absl::StatusOr<HttpResponse> Finish(OidcLogins* logins, Callers& callers, const RestCall& call) {
  if (logins == nullptr) return absl::NotFoundError("this server has no identity provider; use a token");
  if (const std::string error = call.Text("error"); !error.empty())
    return UnauthorizedProblem("", absl::StrCat("the identity provider has refused the login: ", error));
  const std::string secret = callers.LoginSecret(call.request);
  if (secret.empty())
    return UnauthorizedProblem("",
                               "this login was started in another browser, or too long ago; log in again");
  const auto vouched = logins->FinishLogin(
      {.state = call.Text("state"), .code = call.Text("code"), .issuer = call.Text("iss")}, secret);
  const auto begun = vouched.ok() ? callers.BeginByLogin(call.request, *vouched)
                                  : absl::StatusOr<Callers::NewSession>(vouched.status());
  if (absl::IsUnauthenticated(begun.status())) return UnauthorizedProblem("", begun.status().message());
  RETURN_IF_ERROR(begun.status());
  const PageSession& session = begun->known.session;
  Log(LogLevel::kInfo, "a person logs in", "session", session.id, "person", session.person, "tenant",
      session.tenant);
  return Redirect("/", begun->cookie);
}

RestParameter Query(const std::string& name, const std::string& help, bool is_required = false) {
  constexpr int kMostLength = 4096;
  return {.name = name,
          .place = "query",
          .help = help,
          .schema = {{"type", "string"}, {"maxLength", kMostLength}},
          .is_required = is_required};
}

}  // namespace

void AddLoginOperations(OidcLogins* logins, Callers& callers, RestApi& api) {
  const std::vector<RestHeader> headers = {{"Location", "Where the browser goes next"},
                                           {"Set-Cookie", "Cookie of the login, or of the session"}};
  api.operations.push_back(
      {.id = "beginLogin",
       .route = {"GET", "/v1/login"},
       .summary = "Sends a browser to an identity provider, to log in there.",
       .role = std::nullopt,
       .parameters = {Query("issuer", "Name of the provider, as GET /v1/session lists it", true)},
       .answers = {{.status = 303, .help = "Redirects to the provider", .headers = headers}},
       .problems = {404},
       .handler = [logins, &callers](const RestCall& call) { return Begin(logins, callers, call); }});
  api.operations.push_back(
      {.id = "finishLogin",
       .route = {"GET", "/v1/login/callback"},
       .summary = "Starts the session of a browser that returns from its identity provider.",
       .role = std::nullopt,
       .parameters = {Query("state", "State of the login"), Query("code", "Authorization code"),
                      Query("iss", "The identity provider"), Query("error", "Error code of a refusal"),
                      Query("error_description", "Text of the error, for people"),
                      Query("error_uri", "URL of a page about the error"),
                      Query("session_state", "State of the provider's session")},
       .answers = {{.status = 303, .help = "Redirects to the page", .headers = headers}},
       .problems = {401, 404},
       .handler = [logins, &callers](const RestCall& call) { return Finish(logins, callers, call); }});
}

}  // namespace attune
