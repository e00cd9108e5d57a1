#include "service/identity/callers.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file.h"
#include "base/status.h"
#include "http/oidc/jwt.h"
#include "http/problem.h"
#include "service/access/problems.h"

namespace attune {
namespace {

constexpr std::string_view kScheme = "bearer ";
constexpr int64_t kLoginSeconds = 600;
constexpr int kUnauthorized = 401;
constexpr char kSessionCookie[] = "attune_session", kLoginCookie[] = "attune_login";

constexpr char kUnknownToken[] = "this token is unknown, was revoked or has expired; ask for a new one";

// https://www.rfc-editor.org/rfc/rfc6265#section-5.4
std::string_view CookieNamed(std::string_view name, const HttpRequest& request) {
  for (const std::string_view pair : absl::StrSplit(request.Header("cookie"), ';')) {
    const std::string_view text = absl::StripAsciiWhitespace(pair);
    if (text.starts_with(name) && text.substr(name.size()).starts_with('='))
      return text.substr(name.size() + 1);
  }
  return "";
}

// The port in the Host header, by which the browser knows the server; empty if it has none.
std::string PortOf(std::string_view host) {
  const size_t colon = host.rfind(':');
  if (colon == std::string_view::npos) return "";
  const std::string_view port = host.substr(colon + 1);
  return std::ranges::all_of(port, absl::ascii_isdigit) ? std::string(port)
                                                        : "";  // else within an IPv6 address
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

std::string PersonId(const KnownPerson& person) {
  constexpr size_t kDigits = 32;
  return Sha256Hex(absl::StrCat(person.issuer, "\n", person.subject)).substr(0, kDigits);
}

PersonRecord RecordOf(const KnownPerson& person, int64_t now_ms) {
  return {.id = PersonId(person),
          .issuer = person.issuer,
          .subject = person.subject,
          .name = person.name,
          .tenant = person.tenant,
          .role = person.role,
          .last_login_ms = now_ms};
}

bool IsUpToDate(const PersonRecord& known, const KnownPerson& person) {
  return known.name == person.name && known.tenant == person.tenant && known.role == person.role;
}

absl::Status CheckCounts(const PersonRecord& person, int64_t issued_ms) {
  if (person.is_blocked) return absl::UnauthenticatedError("this person is blocked; ask the administrator");
  if (issued_ms < person.not_before_ms)
    return absl::UnauthenticatedError("this person was logged out; log in again");
  return absl::OkStatus();
}

}  // namespace

// Browsers take a cookie with the beginning __Host- from this host alone, and send it by TLS alone. They keep
// one cookie of a name for all ports of a host, so that the name has the port: servers beside each other, as
// two of `attune up`, would else end one another's sessions.
std::string Callers::CookieName(const char* name, const HttpRequest& request) const {
  const std::string port = PortOf(request.Header("host"));
  return absl::StrCat(parts_.is_encrypted ? "__Host-" : "", name, port.empty() ? "" : "_", port);
}

std::string Callers::Cookie(const std::string& name, std::string_view value, int64_t seconds,
                            std::string_view same_site) const {
  return absl::StrCat(name, "=", value, "; Path=/; HttpOnly; SameSite=", same_site, "; Max-Age=", seconds,
                      parts_.is_encrypted ? "; Secure" : "");
}

// The way back begins at another site, so that a strict cookie would stay behind.
std::string Callers::LoginCookie(const HttpRequest& request, std::string_view secret) const {
  return Cookie(CookieName(kLoginCookie, request), secret, kLoginSeconds, "Lax");
}

std::string Callers::LoginSecret(const HttpRequest& request) const {
  return std::string(CookieNamed(CookieName(kLoginCookie, request), request));
}

std::string Callers::ForgottenCookie(const HttpRequest& request) const {
  return Cookie(CookieName(kSessionCookie, request), "", 0, "Strict");
}

std::variant<AccessToken, HttpResponse> Callers::Identify(const HttpRequest& request) {
  const std::string_view given = request.Header("authorization");
  if (absl::StartsWithIgnoreCase(given, kScheme))
    return IdentifyByToken(absl::StripAsciiWhitespace(given.substr(kScheme.size())));
  return IdentifyBySession(request);
}

std::variant<AccessToken, HttpResponse> Callers::IdentifyByToken(std::string_view text) {
  if (parts_.logins != nullptr && LooksLikeJwt(text)) {
    auto known = IdentifyByJwt(text);
    if (known.ok()) return *std::move(known);
    if (!absl::IsUnauthenticated(known.status())) return ServiceProblem(known.status());
    return UnauthorizedProblem("invalid_token", known.status().message());
  }
  auto found = parts_.tokens.FindToken(DigestOfToken(text), clock_.WallMillis());
  if (!found.ok()) return ServiceProblem(found.status());
  if (*found) return **std::move(found);
  return UnauthorizedProblem("invalid_token", kUnknownToken);
}

absl::StatusOr<AccessToken> Callers::IdentifyByJwt(std::string_view text) {
  ASSIGN_OR_RETURN(const VouchedPerson vouched, parts_.logins->Identify(text));
  const std::string id = PersonId(vouched.person);
  ASSIGN_OR_RETURN(auto known, parts_.people.FindPerson(id));
  // The facts about a person are updated when they change, and not at every request.
  if (!known || !IsUpToDate(*known, vouched.person)) {
    ASSIGN_OR_RETURN(known, parts_.people.SavePerson(RecordOf(vouched.person, clock_.WallMillis())));
  }
  RETURN_IF_ERROR(CheckCounts(*known, vouched.issued_ms));
  return AccessToken{.id = id,
                     .name = vouched.person.name,
                     .tenant = vouched.person.tenant,
                     .role = vouched.person.role,
                     .created_ms = vouched.issued_ms,
                     .expires_ms = vouched.expires_ms};
}

std::variant<AccessToken, HttpResponse> Callers::IdentifyBySession(const HttpRequest& request) {
  if (CookieNamed(CookieName(kSessionCookie, request), request).empty())
    return UnauthorizedProblem("", "a token is needed: Authorization: Bearer attune_…");
  const auto known = FindSession(request);
  if (!known.ok()) return ServiceProblem(known.status());
  if (!*known) return UnauthorizedProblem("invalid_token", "this session has ended; log in again");
  if (ChangesSomething(request) && !IsSecretEqual(request.Header("x-csrf-token"), (*known)->csrf_token))
    return Problem(
        403,
        absl::StrCat("a session that changes something must send its csrf_token, from GET /v1/session, in ",
                     kCsrfHeader));
  return CallerOf((*known)->session);
}

absl::StatusOr<std::optional<KnownSession>> Callers::FindSession(const HttpRequest& request) {
  const std::string_view secret = CookieNamed(CookieName(kSessionCookie, request), request);
  if (secret.empty()) return std::nullopt;
  const int64_t now_ms = clock_.WallMillis();
  ASSIGN_OR_RETURN(auto session, parts_.people.FindSession(DigestOfToken(secret), now_ms));
  if (!session) return std::nullopt;
  if (!session->token_digest.empty()) {
    ASSIGN_OR_RETURN(const auto token, parts_.tokens.FindToken(session->token_digest, now_ms));
    if (!token) return std::nullopt;
  }
  return KnownSession{.session = *std::move(session), .csrf_token = CsrfTokenOf(secret)};
}

absl::StatusOr<Callers::NewSession> Callers::BeginByToken(const HttpRequest& request,
                                                          std::string_view token) {
  const std::string digest = DigestOfToken(token);
  ASSIGN_OR_RETURN(const auto found, parts_.tokens.FindToken(digest, clock_.WallMillis()));
  if (!found) return absl::UnauthenticatedError(kUnknownToken);
  return Begin(request, kByToken,
               {.name = found->name,
                .tenant = found->tenant,
                .role = found->role,
                .token_digest = digest,
                .expires_ms = found->expires_ms});
}

absl::StatusOr<Callers::NewSession> Callers::BeginByLogin(const HttpRequest& request,
                                                          const VouchedPerson& vouched) {
  const int64_t now_ms = clock_.WallMillis();
  ASSIGN_OR_RETURN(const PersonRecord known, parts_.people.SavePerson(RecordOf(vouched.person, now_ms)));
  PageSession session = {.name = known.name,
                         .tenant = known.tenant,
                         .role = known.role,
                         .person = known.id,
                         .expires_ms = now_ms + kSessionMs};
  if (const absl::Status counts = CheckCounts(known, now_ms); !counts.ok()) {
    AuditEntry refused = EntryOf(kByLogin, session);
    refused.actor = known.id;
    ASSIGN_OR_RETURN(refused.request, NewId());
    refused.result = absl::StrCat(kUnauthorized);
    parts_.audit.Add(std::move(refused));
    return counts;
  }
  return Begin(request, kByLogin, std::move(session));
}

AuditEntry Callers::EntryOf(const SessionRequest& request, const PageSession& session) {
  return {.tenant = session.tenant,
          .actor = session.id,
          .actor_name = session.name,
          .operation = request.operation,
          .subject = request.path,
          .request = session.id,
          .result = "begun"};
}

absl::StatusOr<Callers::NewSession> Callers::Begin(const HttpRequest& request, const SessionRequest& kind,
                                                   PageSession session) {
  session.created_ms = clock_.WallMillis();
  session.expires_ms = std::min(session.expires_ms, session.created_ms + kSessionMs);
  ASSIGN_OR_RETURN(session.id, NewId());
  ASSIGN_OR_RETURN(const std::string secret, NewTokenText());
  AuditEntry entry = EntryOf(kind, session);
  RETURN_IF_ERROR(parts_.audit.Announce(entry));
  const absl::Status added = parts_.people.AddSession(session, DigestOfToken(secret));
  entry.result = absl::StrCat(added.ok() ? kind.begun : ServiceProblem(added).status);
  parts_.audit.Add(std::move(entry));
  RETURN_IF_ERROR(added);
  const int64_t seconds = (session.expires_ms - session.created_ms) / 1000;
  return NewSession{.known = {.session = std::move(session), .csrf_token = CsrfTokenOf(secret)},
                    .cookie = Cookie(CookieName(kSessionCookie, request), secret, seconds, "Strict")};
}

}  // namespace attune
