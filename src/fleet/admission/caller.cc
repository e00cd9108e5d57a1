#include "fleet/admission/caller.h"

#include <grpc/grpc_security_constants.h>

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "fleet/wire/channel.h"

namespace attune {

absl::StatusOr<CertificateFacts> CallerOf(grpc::ServerContextBase& context,
                                          std::initializer_list<FleetRole> roles, Admission& admission) {
  const std::vector<grpc::string_ref> pems =
      context.auth_context()->FindPropertyValues(GRPC_X509_PEM_CERT_PROPERTY_NAME);
  if (pems.size() != 1) return absl::UnauthenticatedError("the caller shows no certificate");
  ASSIGN_OR_RETURN(CertificateFacts facts, ReadCertificate({pems[0].data(), pems[0].size()}));
  RETURN_IF_ERROR(admission.Check(facts));
  if (facts.authority != admission.authority().SignerId()) context.AddInitialMetadata(kRenewalAsked, "1");
  if (std::ranges::find(roles, facts.who.role) == roles.end()) {
    return absl::PermissionDeniedError(
        absl::StrCat("this certificate is that of ", Name(facts.who.role), "s, who may not do this"));
  }
  return facts;
}

}  // namespace attune
