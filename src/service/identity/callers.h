// Finds out who asks: by a bearer token, ours or an issuer's, or by the cookie of a session.
#ifndef ATTUNE_SERVICE_IDENTITY_CALLERS_H_
#define ATTUNE_SERVICE_IDENTITY_CALLERS_H_

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "http/message.h"
#include "service/access/access.h"
#include "service/audit/audit_log.h"
#include "service/identity/oidc_logins.h"
#include "service/state/people_store.h"
#include "service/state/service_store.h"

namespace attune {

// A request that changes something by a cookie sends this header with the session's text, which no page of
// another origin can read.
inline constexpr char kCsrfHeader[] = "X-CSRF-Token";

struct KnownSession {
  PageSession session = {};
  std::string csrf_token = {};
};

struct CallersParts {
  ServiceStore& tokens;
  PeopleStore& people;
  AuditLog& audit;
  OidcLogins* logins = nullptr;  // null: no issuer is trusted
  bool is_encrypted = false;     // peers reach the server by TLS, so that cookies are for that alone
};

// Thread safe. The parts and the clock must outlive it.
class Callers {
 public:
  explicit Callers(const CallersParts& parts, const Clock& clock = SystemClock())
      : parts_(parts), clock_(clock) {}

  // Returns the caller, with the id of the token, session or person, or the problem because of which the
  // caller is not known. A request that has both counts by its token.
  std::variant<AccessToken, HttpResponse> Identify(const HttpRequest& request);

  // The session of the request's cookie; nothing if there is none that counts.
  absl::StatusOr<std::optional<KnownSession>> FindSession(const HttpRequest& request);
  // Begins a session for the holder of a token. Unauthenticated if the token does not count. The cookie is
  // the value of Set-Cookie.
  struct NewSession {
    KnownSession known = {};
    std::string cookie = {};
  };
  absl::StatusOr<NewSession> BeginByToken(const HttpRequest& request, std::string_view token);
  // Begins a session for a person who has just logged in. Unauthenticated if the person is blocked.
  absl::StatusOr<NewSession> BeginByLogin(const HttpRequest& request, const VouchedPerson& vouched);
  // The value of Set-Cookie by which a browser forgets its session.
  std::string ForgottenCookie(const HttpRequest& request) const;

  // A login in a browser, from the way to the issuer to the way back, is held together by a cookie of its
  // own.
  std::string LoginCookie(const HttpRequest& request, std::string_view secret) const;
  std::string LoginSecret(const HttpRequest& request) const;

 private:
  // A request that begins a session, as the audit log names it, and the status of its answer if it does.
  struct SessionRequest {
    const char* operation;
    const char* path;
    int begun;
  };
  static constexpr SessionRequest kByToken = {"beginSession", "/v1/session", 201},
                                  kByLogin = {"finishLogin", "/v1/login/callback", 303};
  static AuditEntry EntryOf(const SessionRequest& request, const PageSession& session);
  absl::StatusOr<NewSession> Begin(const HttpRequest& request, const SessionRequest& kind,
                                   PageSession session);
  std::string CookieName(const char* name, const HttpRequest& request) const;
  std::string Cookie(const std::string& name, std::string_view value, int64_t seconds,
                     std::string_view same_site) const;
  std::variant<AccessToken, HttpResponse> IdentifyByToken(std::string_view text);
  absl::StatusOr<AccessToken> IdentifyByJwt(std::string_view text);
  std::variant<AccessToken, HttpResponse> IdentifyBySession(const HttpRequest& request);

  const CallersParts parts_;
  const Clock& clock_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_IDENTITY_CALLERS_H_
