// Who makes a call, as TLS has proven it.
#ifndef ATTUNE_FLEET_ADMISSION_CALLER_H_
#define ATTUNE_FLEET_ADMISSION_CALLER_H_

#include <grpcpp/grpcpp.h>

#include <initializer_list>

#include "absl/status/statusor.h"
#include "fleet/admission/admission.h"
#include "fleet/identity/certificate.h"

namespace attune {

// The facts of the caller's certificate. Unauthenticated if there is none, PermissionDenied if it does not
// count any more or its role is none of `roles`. The answer will ask the caller to renew it if its authority
// is being replaced.
absl::StatusOr<CertificateFacts> CallerOf(grpc::ServerContextBase& context,
                                          std::initializer_list<FleetRole> roles, Admission& admission);

}  // namespace attune

#endif  // ATTUNE_FLEET_ADMISSION_CALLER_H_
