// People who have logged in at an issuer, as far as the server must know them again.
#ifndef ATTUNE_SERVICE_STATE_PERSON_STORE_H_
#define ATTUNE_SERVICE_STATE_PERSON_STORE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "service/access/access.h"

namespace attune {

// Times are ms since 1970, UTC.
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

// Like SessionStore.
class PersonStore {
 public:
  virtual ~PersonStore() = default;

  // Adds the person, or brings name, tenant, role and the last login up to date, and returns what is known
  // then. FailedPrecondition if the tenant has kMostPeople.
  virtual absl::StatusOr<PersonRecord> SavePerson(const PersonRecord& person) = 0;
  virtual absl::StatusOr<std::optional<PersonRecord>> FindPerson(const std::string& id) = 0;
  // Returns the people of the tenant, by name.
  virtual absl::StatusOr<std::vector<PersonRecord>> People(const std::string& tenant) = 0;
  // Ends the person's sessions and refuses tokens that were issued before; blocked ones also those that come
  // later. NotFound if the tenant, any if it is empty, has no such person.
  virtual absl::Status LogOutPerson(const std::string& id, const std::string& tenant, bool is_blocked,
                                    int64_t now_ms) = 0;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_STATE_PERSON_STORE_H_
