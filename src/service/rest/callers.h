// Finds out who asks: by a bearer token, or by the cookie of a session.
#ifndef ATTUNE_SERVICE_REST_CALLERS_H_
#define ATTUNE_SERVICE_REST_CALLERS_H_

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "http/message.h"
#include "service/rest/access.h"
#include "service/rest/service_store.h"
#include "service/rest/session_store.h"

namespace attune {

// Whoever changes something by a cookie sends this header with the session's text, which no page of another
// origin can read.
inline constexpr char kCsrfHeader[] = "X-CSRF-Token";

struct KnownSession {
  PageSession session = {};
  std::string csrf_token = {};
};

// Thread safe. The stores and the clock must outlive it.
class Callers {
 public:
  // `is_encrypted`: peers reach the server by TLS, so that cookies are for that alone.
  Callers(ServiceStore& tokens, SessionStore& sessions, bool is_encrypted = false,
          const Clock& clock = SystemClock())
      : tokens_(tokens), sessions_(sessions), is_encrypted_(is_encrypted), clock_(clock) {}

  // The caller, whose id is that of his token or session, or the problem because of which nobody is known. A
  // request that has both counts by its token.
  std::variant<AccessToken, HttpResponse> Identify(const HttpRequest& request);

  // The session of the request's cookie; nothing if there is none that counts.
  absl::StatusOr<std::optional<KnownSession>> FindSession(const HttpRequest& request);
  // Begins a session for the holder of a token. Unauthenticated if the token does not count. The cookie is
  // the value of Set-Cookie.
  struct NewSession {
    KnownSession known = {};
    std::string cookie = {};
  };
  absl::StatusOr<NewSession> BeginByToken(std::string_view token);
  // The value of Set-Cookie by which a browser forgets its session.
  std::string ForgottenCookie() const { return Cookie("", 0); }

 private:
  absl::StatusOr<NewSession> Begin(PageSession session);
  std::string CookieName() const;
  std::string Cookie(std::string_view value, int64_t seconds) const;
  std::variant<AccessToken, HttpResponse> IdentifyByToken(std::string_view text);
  std::variant<AccessToken, HttpResponse> IdentifyBySession(const HttpRequest& request);

  ServiceStore& tokens_;
  SessionStore& sessions_;
  const bool is_encrypted_;
  const Clock& clock_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_REST_CALLERS_H_
