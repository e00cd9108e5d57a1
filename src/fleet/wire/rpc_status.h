// absl::Status to and from gRPC's: their codes have the same numbers.
#ifndef ATTUNE_FLEET_WIRE_RPC_STATUS_H_
#define ATTUNE_FLEET_WIRE_RPC_STATUS_H_

#include <grpcpp/support/status.h>

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/cord.h"

namespace attune {

// The type of the one payload that travels with a status, as gRPC's details. Peers that do not know it have
// the code and the message.
inline constexpr char kRpcDetail[] = "attune/rpc detail";

inline grpc::Status ToRpc(const absl::Status& status) {
  const auto detail = status.GetPayload(kRpcDetail);
  return {static_cast<grpc::StatusCode>(status.code()), std::string(status.message()),
          detail ? std::string(*detail) : std::string()};
}

// Ends a call with this value as its answer, or with its error.
template <typename Answer>
grpc::Status Give(absl::StatusOr<Answer> value, Answer* answer) {
  if (!value.ok()) return ToRpc(value.status());
  *answer = *std::move(value);
  return grpc::Status::OK;
}

inline absl::Status FromRpc(const grpc::Status& status) {
  absl::Status received(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
  if (const std::string detail = status.error_details(); !detail.empty())
    received.SetPayload(kRpcDetail, absl::Cord(detail));
  return received;
}

// Whether the server will not have this member, however often it tries.
inline bool IsRefusedForGood(const absl::Status& status) {
  return absl::IsPermissionDenied(status) || absl::IsFailedPrecondition(status) ||
         absl::IsInvalidArgument(status) || absl::IsUnauthenticated(status);
}

}  // namespace attune

#endif  // ATTUNE_FLEET_WIRE_RPC_STATUS_H_
