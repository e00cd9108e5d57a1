// Sessions of people at the page, by which a browser asks without a token, and people who have logged in at
// an issuer, as far as the server must know them again.
#ifndef ATTUNE_SERVICE_STATE_PEOPLE_STORE_H_
#define ATTUNE_SERVICE_STATE_PEOPLE_STORE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/sql/sql_database.h"
#include "service/access/access.h"

namespace attune {

// Times are ms since 1970, UTC, here and below.
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

struct PersonRecord {
  std::string id = {};  // follows from issuer and subject
  std::string issuer = {}, subject = {};
  std::string name = {}, tenant = {};
  AccessRole role = AccessRole::kViewer;
  bool is_blocked = false;
  int64_t not_before_ms = 0;  // tokens that were issued earlier do not count
  int64_t created_ms = 0, last_login_ms = 0;

  bool operator==(const PersonRecord&) const = default;
};

// The most people of one tenant.
inline constexpr int64_t kMostPeople = 10'000;

const SqlSchema& PeopleSchema();

// Like ServiceStore: what returns has taken effect, errors name the database, and it is thread safe.
class PeopleStore {
 public:
  // As SqlLocation::Open().
  static absl::StatusOr<std::unique_ptr<PeopleStore>> Open(const SqlLocation& location);

  // Ends those that have expired, and the oldest ones of the same token or person beyond kMostSessions.
  absl::Status AddSession(const PageSession& session, const std::string& digest);
  // Nothing if there is none, or it has ended or expired.
  absl::StatusOr<std::optional<PageSession>> FindSession(const std::string& digest, int64_t now_ms);
  // Returns the tenant's valid sessions, the latest first.
  absl::StatusOr<std::vector<PageSession>> Sessions(const std::string& tenant, int64_t now_ms);
  // Counts at once. NotFound if the tenant, any if it is empty, has no such session.
  absl::Status EndSession(const std::string& id, const std::string& tenant);

  // Adds the person, or brings name, tenant, role and the last login up to date, and returns what is known
  // then. FailedPrecondition if the tenant has kMostPeople.
  absl::StatusOr<PersonRecord> SavePerson(const PersonRecord& person);
  absl::StatusOr<std::optional<PersonRecord>> FindPerson(const std::string& id);
  // Returns the people of the tenant, by name.
  absl::StatusOr<std::vector<PersonRecord>> People(const std::string& tenant);
  // Ends the person's sessions and refuses tokens that were issued before; blocked ones also those that come
  // later. NotFound if the tenant, any if it is empty, has no such person.
  absl::Status LogOutPerson(const std::string& id, const std::string& tenant, bool is_blocked,
                            int64_t now_ms);

  // Forgets all people and sessions of a tenant.
  absl::Status RemoveTenant(const std::string& tenant);

 private:
  explicit PeopleStore(std::unique_ptr<SqlDatabase> database) : database_(std::move(database)) {}

  const std::unique_ptr<SqlDatabase> database_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_STATE_PEOPLE_STORE_H_
