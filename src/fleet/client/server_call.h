// Calls of a fleet's server that are answered at once, or fail in time.
#ifndef ATTUNE_FLEET_CLIENT_SERVER_CALL_H_
#define ATTUNE_FLEET_CLIENT_SERVER_CALL_H_

#include <grpcpp/grpcpp.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fleet/client/renewing_connection.h"
#include "fleet/identity/credentials.h"

namespace attune {

// In kCallSeconds.
void SetServerCallDeadline(grpc::ClientContext& context);

// The error of a call to the server of these credentials. Unavailable, with what to do, if it does not answer
// or not in time; Unauthenticated if a server answers that the fleet's authority does not vouch for.
absl::Status ExplainServerCall(const grpc::Status& status, const FleetCredentials& credentials);

template <typename Stub, typename Request, typename Answer>
absl::StatusOr<Answer> CallServer(RenewingConnection& connection, Stub& stub,
                                  grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Answer*),
                                  const Request& request) {
  grpc::ClientContext context;
  SetServerCallDeadline(context);
  Answer answer;
  const grpc::Status called = (stub.*method)(&context, request, &answer);
  if (!called.ok()) return ExplainServerCall(called, connection.credentials());
  connection.OnAnswer(context);
  return answer;
}

}  // namespace attune

#endif  // ATTUNE_FLEET_CLIENT_SERVER_CALL_H_
