// gRPC's and protobuf's own messages, which are about connections and not for users, go to the log.
#ifndef ATTUNE_FLEET_WIRE_GRPC_LOG_H_
#define ATTUNE_FLEET_WIRE_GRPC_LOG_H_

namespace attune {

// From now on; the first call counts. Thread safe.
void LogGrpcForDebugging();

}  // namespace attune

#endif  // ATTUNE_FLEET_WIRE_GRPC_LOG_H_
