// Who makes a call, as TLS has proven it.
#ifndef ATTUNE_FLEET_SERVER_CALLER_H_
#define ATTUNE_FLEET_SERVER_CALLER_H_

#include <grpcpp/grpcpp.h>

#include <initializer_list>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "fleet/identity/certificate.h"
#include "fleet/store/fleet_store.h"

namespace attune {

// The facts of the caller's certificate. Unauthenticated if there is none, PermissionDenied if it was revoked
// or its role is none of `roles`.
absl::StatusOr<CertificateFacts> CallerOf(const grpc::ServerContextBase& context,
                                          std::initializer_list<FleetRole> roles, FleetStore& store,
                                          const Clock& clock = SystemClock());

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVER_CALLER_H_
