// How agents, clients and the server of a fleet are connected.
#ifndef ATTUNE_FLEET_WIRE_CHANNEL_H_
#define ATTUNE_FLEET_WIRE_CHANNEL_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "fleet/identity/credentials.h"

namespace attune {

// A name in the server's certificate that no other certificate of the fleet has. Peers verify it in place of
// the address, since a server is reached by many addresses.
inline constexpr char kFleetServerName[] = "server.attune";

// A silent connection is probed after this long, and has as long to answer.
inline constexpr int kKeepaliveMillis = 5000;

// A call that is answered at once fails after this long.
inline constexpr int kCallSeconds = 20;

// Results may hold a network's outputs (measure/network_outputs.h), or the times of very many turns.
inline constexpr int kMostMessageBytes = 64 << 20;

// A connection to the server, made when it is first used, on which both sides prove who they are.
std::shared_ptr<grpc::Channel> ConnectFleet(const FleetCredentials& credentials);
// A connection to the enrolment at `address`, on which only the server does, by an authority's certificate.
std::shared_ptr<grpc::Channel> ConnectEnrolment(const std::string& address, const std::string& authority_pem);

// From now on, gRPC's and protobuf's own messages, which are about connections and not for users, go to the
// log; the first call counts. Thread safe.
void LogGrpcForDebugging();

// Among the initial metadata of an answer: the caller's certificate is of an authority that is being
// replaced.
inline constexpr char kRenewalAsked[] = "attune-renewal-asked";

}  // namespace attune

#endif  // ATTUNE_FLEET_WIRE_CHANNEL_H_
