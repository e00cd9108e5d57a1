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

absl::StatusOr<HttpResponse> Begin(const RestParts& parts, const RestCall& call) {
  if (parts.logins == nullptr) return absl::NotFoundError("this server knows no issuer; use a token");
  ASSIGN_OR_RETURN(const std::string secret, NewTokenText());
  ASSIGN_OR_RETURN(const std::string url, parts.logins->BeginLogin(call.Text("issuer"), secret));
  return Redirect(url, parts.callers.LoginCookie(call.request, secret));
}

absl::StatusOr<HttpResponse> Finish(const RestParts& parts, const RestCall& call) {
  if (parts.logins == nullptr) return absl::NotFoundError("this server knows no issuer; use a token");
  if (const std::string error = call.Text("error"); !error.empty())
    return UnauthorizedProblem("", absl::StrCat("the issuer has refused the login: ", error));
  const std::string secret = parts.callers.LoginSecret(call.request);
  if (secret.empty())
    return UnauthorizedProblem("", "this login was begun elsewhere, or too long ago; begin it again");
  const auto vouched = parts.logins->FinishLogin(
      {.state = call.Text("state"), .code = call.Text("code"), .issuer = call.Text("iss")}, secret);
  const auto begun = vouched.ok() ? parts.callers.BeginByLogin(call.request, *vouched)
                                  : absl::StatusOr<Callers::NewSession>(vouched.status());
  if (absl::IsUnauthenticated(begun.status())) return UnauthorizedProblem("", begun.status().message());
  RETURN_IF_ERROR(begun.status());
  const PageSession& session = begun->known.session;
  Log(LogLevel::kInfo, "somebody logs in", "session", session.id, "person", session.person, "tenant",
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

void AddLoginOperations(const RestParts& parts, RestApi& api) {
  const std::vector<RestHeader> headers = {{"Location", "Where the browser goes"},
                                           {"Set-Cookie", "The login, or the session"}};
  api.operations.push_back({.id = "beginLogin",
                            .method = "GET",
                            .path = "/v1/login",
                            .summary = "Sends a browser to an issuer, to log in there.",
                            .role = std::nullopt,
                            .parameters = {Query("issuer", "Its name, as GET /v1/session lists it", true)},
                            .answers = {{.status = 303, .help = "To the issuer", .headers = headers}},
                            .problems = {404},
                            .handler = [parts](const RestCall& call) { return Begin(parts, call); }});
  api.operations.push_back(
      {.id = "finishLogin",
       .method = "GET",
       .path = "/v1/login/callback",
       .summary = "Begins the session of a browser that comes back from its issuer.",
       .role = std::nullopt,
       .parameters = {Query("state", "Of the login"), Query("code", "By which the issuer vouches"),
                      Query("iss", "The issuer"), Query("error", "Why it refuses"),
                      Query("error_description", "The same for people"),
                      Query("error_uri", "The same at length"), Query("session_state", "Of the issuer")},
       .answers = {{.status = 303, .help = "To the page", .headers = headers}},
       .problems = {401, 404},
       .handler = [parts](const RestCall& call) { return Finish(parts, call); }});
}

}  // namespace attune
