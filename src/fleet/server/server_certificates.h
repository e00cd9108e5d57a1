// The certificates that a fleet's server shows, and those of its own operator, made anew when it is time.
#ifndef ATTUNE_FLEET_SERVER_SERVER_CERTIFICATES_H_
#define ATTUNE_FLEET_SERVER_SERVER_CERTIFICATES_H_

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "fleet/admission/admission.h"

namespace attune {

// gRPC reads the server's certificates from files in the folder, and again when they change. Not thread safe;
// the admission and its authority must outlive it.
class ServerCertificates {
 public:
  // `host`: the name or address that others reach the server by.
  ServerCertificates(std::string folder, std::string host, Admission& admission)
      : folder_(std::move(folder)), host_(std::move(host)), admission_(admission) {}

  // Writes the server's files, which the credentials below need.
  absl::Status WriteServers();
  // Writes the operator's, once the admission knows the server's addresses.
  absl::Status WriteOperators();
  // To be called about once a second: writes what is due for renewal, or is of an authority that is being
  // replaced, and tells the authority once gRPC has read it. A failure is logged, and tried again in a
  // minute.
  void RenewIfDue();

  // For those who have certificates of the fleet, and for those who enrol.
  std::shared_ptr<grpc::ServerCredentials> ForMembers() const;
  std::shared_ptr<grpc::ServerCredentials> ForEveryone() const;

 private:
  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  absl::Status WriteDue();
  std::shared_ptr<grpc::ServerCredentials> Credentials(bool asks_for_certificates) const;

  const std::string folder_, host_;
  Admission& admission_;
  int64_t servers_renewal_ms_ = 0, operators_renewal_ms_ = 0;
  std::string trusted_, operators_trusted_;  // as written
  std::string operators_authority_;          // id of the one that has signed the operator's certificate
  double read_from_ = 0;                     // by gRPC, from then on; the clock's time
  double retry_from_ = 0;                    // after a failure; likewise
};

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVER_SERVER_CERTIFICATES_H_
