#include "service/identity/local_tokens.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/status.h"
#include "service/access/texts.h"
#include "service/state/audit_store.h"
#include "service/state/service_store.h"

namespace attune {
namespace {

struct NewToken {
  AccessToken token;
  std::string text;
  std::unique_ptr<ServiceStore> store;  // where it is to be added
  std::unique_ptr<AuditStore> audit;
};

// Before it counts.
absl::Status Announce(const NewToken& made) {
  return made.audit->Append({{.time_ms = made.token.created_ms,
                              .tenant = made.token.tenant,
                              .actor = "local",
                              .operation = "createToken",
                              .subject = absl::StrCat("/v1/tokens/", made.token.id),
                              .request = made.token.id,
                              .result = "begun"}});
}

absl::StatusOr<NewToken> Make(const SqlLocation& location, const LocalToken& local) {
  RETURN_IF_ERROR(CheckJson(local.tenant, NameSchema(), {}, "the tenant"));
  RETURN_IF_ERROR(CheckJson(local.name, NameSchema(), {}, "the name"));
  NewToken made;
  made.token = {.name = local.name,
                .tenant = local.tenant,
                .role = local.role,
                .created_ms = SystemClock().WallMillis()};
  made.token.expires_ms = made.token.created_ms + kDayMs * local.days;
  ASSIGN_OR_RETURN(made.token.id, NewId());
  ASSIGN_OR_RETURN(made.text, NewTokenText());
  ASSIGN_OR_RETURN(made.store, ServiceStore::Open(location));
  ASSIGN_OR_RETURN(made.audit, AuditStore::Open(location));
  return made;
}

}  // namespace

absl::StatusOr<std::string> MakeLocalToken(const SqlLocation& location, const LocalToken& token) {
  ASSIGN_OR_RETURN(const NewToken made, Make(location, token));
  RETURN_IF_ERROR(Announce(made));
  RETURN_IF_ERROR(made.store->AddToken(made.token, DigestOfToken(made.text)));
  return made.text;
}

absl::StatusOr<std::string> MakeFirstToken(const SqlLocation& location, const LocalToken& token) {
  ASSIGN_OR_RETURN(const NewToken made, Make(location, token));
  ASSIGN_OR_RETURN(const bool is_first, made.store->AddFirstToken(made.token, DigestOfToken(made.text)));
  // No user existed yet who could have misused it.
  if (is_first) RETURN_IF_ERROR(Announce(made));
  return is_first ? made.text : "";
}

}  // namespace attune
