#include "fleet/server/caller.h"

#include <grpc/grpc_security_constants.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace attune {

absl::StatusOr<CertificateFacts> CallerOf(const grpc::ServerContextBase& context,
                                          std::initializer_list<FleetRole> roles, FleetStore& store,
                                          const Clock& clock) {
  const std::vector<grpc::string_ref> pems =
      context.auth_context()->FindPropertyValues(GRPC_X509_PEM_CERT_PROPERTY_NAME);
  if (pems.size() != 1) return absl::UnauthenticatedError("the caller shows no certificate");
  ASSIGN_OR_RETURN(CertificateFacts facts, ReadCertificate({pems[0].data(), pems[0].size()}));
  ASSIGN_OR_RETURN(const std::set<std::string> revoked, store.RevokedSerials(clock.WallMillis()));
  if (revoked.contains(facts.serial)) return absl::PermissionDeniedError("the certificate was revoked");
  if (std::ranges::find(roles, facts.who.role) == roles.end()) {
    return absl::PermissionDeniedError(
        absl::StrCat("this certificate is that of ", Name(facts.who.role), "s, who may not do this"));
  }
  return facts;
}

}  // namespace attune
