// Sessions of people at the page, by which a browser asks without a token.
#ifndef ATTUNE_SERVICE_STATE_SESSION_STORE_H_
#define ATTUNE_SERVICE_STATE_SESSION_STORE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "service/access/access.h"

namespace attune {

// Times are ms since 1970, UTC.
struct PageSession {
  std::string id = {};
  std::string name = {}, tenant = {};
  AccessRole role = AccessRole::kViewer;
  std::string token_digest = {};  // of the token that it was begun with, and ends with; or empty
  std::string person = {};        // the id of who has logged in at an issuer; or empty
  int64_t created_ms = 0, expires_ms = 0;

  bool operator==(const PageSession&) const = default;
};

inline constexpr int64_t kSessionMs = kDayMs / 2;
// The most sessions of one token or person; the oldest end when there are more.
inline constexpr int64_t kMostSessions = 50;

// Like ServiceStore: what returns has taken effect, errors name the database, and it is thread safe.
class SessionStore {
 public:
  virtual ~SessionStore() = default;

  // Ends those that have expired, and the oldest ones of the same token or person beyond kMostSessions.
  virtual absl::Status AddSession(const PageSession& session, const std::string& digest) = 0;
  // Nothing if there is none, or it has ended or expired.
  virtual absl::StatusOr<std::optional<PageSession>> FindSession(const std::string& digest,
                                                                 int64_t now_ms) = 0;
  // Returns the tenant's valid sessions, the latest first.
  virtual absl::StatusOr<std::vector<PageSession>> Sessions(const std::string& tenant, int64_t now_ms) = 0;
  // Counts at once. NotFound if the tenant, any if it is empty, has no such session.
  virtual absl::Status EndSession(const std::string& id, const std::string& tenant) = 0;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_STATE_SESSION_STORE_H_
