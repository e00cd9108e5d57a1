// Calls of a fleet's server that are answered at once, or fail in time.
#ifndef ATTUNE_FLEET_CLIENT_SERVER_CALL_H_
#define ATTUNE_FLEET_CLIENT_SERVER_CALL_H_

#include <grpcpp/grpcpp.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace attune {

// In kCallSeconds.
void SetServerCallDeadline(grpc::ClientContext& context);

// The error of a call to `server`. Unavailable, with what to do, if it does not answer or not in time.
absl::Status ExplainServerCall(const grpc::Status& status, const std::string& server);

template <typename Stub, typename Request, typename Answer>
absl::StatusOr<Answer> CallServer(const std::string& server, Stub& stub,
                                  grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Answer*),
                                  const Request& request) {
  grpc::ClientContext context;
  SetServerCallDeadline(context);
  Answer answer;
  const absl::Status called = ExplainServerCall((stub.*method)(&context, request, &answer), server);
  if (!called.ok()) return called;
  return answer;
}

}  // namespace attune

#endif  // ATTUNE_FLEET_CLIENT_SERVER_CALL_H_
