// absl::Status to and from gRPC's: their codes have the same numbers.
#ifndef ATTUNE_FLEET_WIRE_RPC_STATUS_H_
#define ATTUNE_FLEET_WIRE_RPC_STATUS_H_

#include <grpcpp/support/status.h>

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace attune {

inline grpc::Status ToRpc(const absl::Status& status) {
  return {static_cast<grpc::StatusCode>(status.code()), std::string(status.message())};
}

// Ends a call with this value as its answer, or with its error.
template <typename Answer>
grpc::Status Give(absl::StatusOr<Answer> value, Answer* answer) {
  if (!value.ok()) return ToRpc(value.status());
  *answer = *std::move(value);
  return grpc::Status::OK;
}

inline absl::Status FromRpc(const grpc::Status& status) {
  return {static_cast<absl::StatusCode>(status.error_code()), status.error_message()};
}

// Whether the server will not have this member, however often it tries.
inline bool IsRefusedForGood(const absl::Status& status) {
  return absl::IsPermissionDenied(status) || absl::IsFailedPrecondition(status) ||
         absl::IsInvalidArgument(status) || absl::IsUnauthenticated(status);
}

}  // namespace attune

#endif  // ATTUNE_FLEET_WIRE_RPC_STATUS_H_
