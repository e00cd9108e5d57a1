#include "service/rest/callers.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file.h"
#include "base/status.h"
#include "http/problem.h"
#include "service/rest/problems.h"

namespace attune {
namespace {

constexpr std::string_view kScheme = "bearer ";

// https://www.rfc-editor.org/rfc/rfc6265#section-5.4
std::string_view CookieNamed(std::string_view name, const HttpRequest& request) {
  for (const std::string_view pair : absl::StrSplit(request.Header("cookie"), ';')) {
    const std::string_view text = absl::StripAsciiWhitespace(pair);
    if (text.starts_with(name) && text.substr(name.size()).starts_with('='))
      return text.substr(name.size() + 1);
  }
  return "";
}

// Follows from the secret of the session, so that nothing more is kept.
std::string CsrfTokenOf(std::string_view secret) { return Sha256Hex(absl::StrCat("csrf\n", secret)); }

bool IsSecretEqual(std::string_view one, std::string_view other) {
  return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

bool ChangesSomething(const HttpRequest& request) {
  return request.method != "GET" && request.method != "HEAD";
}

AccessToken CallerOf(const PageSession& session) {
  return {.id = session.id,
          .name = session.name,
          .tenant = session.tenant,
          .role = session.role,
          .created_ms = session.created_ms,
          .expires_ms = session.expires_ms};
}

}  // namespace

std::string Callers::CookieName() const {
  // Browsers take a cookie with this beginning from this host alone, and send it by TLS alone.
  return is_encrypted_ ? "__Host-attune_session" : "attune_session";
}

std::string Callers::Cookie(std::string_view value, int64_t seconds) const {
  return absl::StrCat(CookieName(), "=", value, "; Path=/; HttpOnly; SameSite=Strict; Max-Age=", seconds,
                      is_encrypted_ ? "; Secure" : "");
}

std::variant<AccessToken, HttpResponse> Callers::Identify(const HttpRequest& request) {
  const std::string_view given = request.Header("authorization");
  if (absl::StartsWithIgnoreCase(given, kScheme))
    return IdentifyByToken(absl::StripAsciiWhitespace(given.substr(kScheme.size())));
  return IdentifyBySession(request);
}

std::variant<AccessToken, HttpResponse> Callers::IdentifyByToken(std::string_view text) {
  auto found = tokens_.FindToken(DigestOfToken(text), clock_.WallMillis());
  if (!found.ok()) return ServiceProblem(found.status());
  if (*found) return **std::move(found);
  return UnauthorizedProblem("invalid_token",
                             "this token is unknown, was revoked or has expired; ask for another one");
}

std::variant<AccessToken, HttpResponse> Callers::IdentifyBySession(const HttpRequest& request) {
  if (CookieNamed(CookieName(), request).empty())
    return UnauthorizedProblem("", "a token is needed: Authorization: Bearer attune_…");
  const auto known = FindSession(request);
  if (!known.ok()) return ServiceProblem(known.status());
  if (!*known) return UnauthorizedProblem("invalid_token", "this session has ended; log in again");
  if (ChangesSomething(request) && !IsSecretEqual(request.Header("x-csrf-token"), (*known)->csrf_token))
    return Problem(403, absl::StrCat("a session that changes something sends its csrf_token, which GET "
                                     "/v1/session tells, in ",
                                     kCsrfHeader));
  return CallerOf((*known)->session);
}

absl::StatusOr<std::optional<KnownSession>> Callers::FindSession(const HttpRequest& request) {
  const std::string_view secret = CookieNamed(CookieName(), request);
  if (secret.empty()) return std::nullopt;
  const int64_t now_ms = clock_.WallMillis();
  ASSIGN_OR_RETURN(auto session, sessions_.FindSession(DigestOfToken(secret), now_ms));
  if (!session) return std::nullopt;
  if (!session->token_digest.empty()) {
    ASSIGN_OR_RETURN(const auto token, tokens_.FindToken(session->token_digest, now_ms));
    if (!token) return std::nullopt;
  }
  return KnownSession{.session = *std::move(session), .csrf_token = CsrfTokenOf(secret)};
}

absl::StatusOr<Callers::NewSession> Callers::BeginByToken(std::string_view token) {
  const std::string digest = DigestOfToken(token);
  ASSIGN_OR_RETURN(const auto found, tokens_.FindToken(digest, clock_.WallMillis()));
  if (!found)
    return absl::UnauthenticatedError(
        "this token is unknown, was revoked or has expired; ask for another one");
  return Begin({.name = found->name,
                .tenant = found->tenant,
                .role = found->role,
                .token_digest = digest,
                .expires_ms = found->expires_ms});
}

absl::StatusOr<Callers::NewSession> Callers::Begin(PageSession session) {
  session.created_ms = clock_.WallMillis();
  session.expires_ms = std::min(session.expires_ms, session.created_ms + kSessionMs);
  ASSIGN_OR_RETURN(session.id, NewId());
  ASSIGN_OR_RETURN(const std::string secret, NewTokenText());
  RETURN_IF_ERROR(sessions_.AddSession(session, DigestOfToken(secret)));
  const int64_t seconds = (session.expires_ms - session.created_ms) / 1000;
  return NewSession{.known = {.session = std::move(session), .csrf_token = CsrfTokenOf(secret)},
                    .cookie = Cookie(secret, seconds)};
}

}  // namespace attune
