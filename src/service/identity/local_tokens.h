// Makes tokens beside the server, for a user with access to its files or its database.
#ifndef ATTUNE_SERVICE_IDENTITY_LOCAL_TOKENS_H_
#define ATTUNE_SERVICE_IDENTITY_LOCAL_TOKENS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "base/sql/sql_database.h"
#include "service/access/access.h"

namespace attune {

struct LocalToken {
  std::string name = {}, tenant = kFirstTenant;
  AccessRole role = AccessRole::kMember;
  int64_t days = kUsualTokenDays;
};

// Makes a token, which counts at once, and returns its text. Fails if the tenant or the name is none.
absl::StatusOr<std::string> MakeLocalToken(const SqlLocation& location, const LocalToken& token);
// The same, but empty if there has been a token before.
absl::StatusOr<std::string> MakeFirstToken(const SqlLocation& location, const LocalToken& token);

}  // namespace attune

#endif  // ATTUNE_SERVICE_IDENTITY_LOCAL_TOKENS_H_
