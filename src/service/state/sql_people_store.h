// Sessions, and people who have logged in, in a database.
#ifndef ATTUNE_SERVICE_STATE_SQL_PEOPLE_STORE_H_
#define ATTUNE_SERVICE_STATE_SQL_PEOPLE_STORE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/sql/sql_database.h"
#include "service/state/person_store.h"
#include "service/state/session_store.h"

namespace attune {

const SqlSchema& PeopleSchema();

class SqlPeopleStore final : public SessionStore, public PersonStore {
 public:
  // As SqlLocation::Open().
  static absl::StatusOr<std::unique_ptr<SqlPeopleStore>> Open(const SqlLocation& location);

  absl::Status AddSession(const PageSession& session, const std::string& digest) override;
  absl::StatusOr<std::optional<PageSession>> FindSession(const std::string& digest, int64_t now_ms) override;
  absl::StatusOr<std::vector<PageSession>> Sessions(const std::string& tenant, int64_t now_ms) override;
  absl::Status EndSession(const std::string& id, const std::string& tenant) override;

  absl::StatusOr<PersonRecord> SavePerson(const PersonRecord& person) override;
  absl::StatusOr<std::optional<PersonRecord>> FindPerson(const std::string& id) override;
  absl::StatusOr<std::vector<PersonRecord>> People(const std::string& tenant) override;
  absl::Status LogOutPerson(const std::string& id, const std::string& tenant, bool is_blocked,
                            int64_t now_ms) override;

  // Forgets all people and sessions of a tenant.
  absl::Status RemoveTenant(const std::string& tenant);

 private:
  explicit SqlPeopleStore(std::unique_ptr<SqlDatabase> database) : database_(std::move(database)) {}

  const std::unique_ptr<SqlDatabase> database_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_STATE_SQL_PEOPLE_STORE_H_
