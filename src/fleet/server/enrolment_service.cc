#include "fleet/server/enrolment_service.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/log.h"
#include "fleet/wire/rpc_status.h"

namespace attune {
namespace {

// The address of a peer such as "ipv4:192.0.2.1:4711", without its port, which each connection changes.
std::string AddressOf(const std::string& peer) { return peer.substr(0, peer.rfind(':')); }

}  // namespace

grpc::Status EnrolmentService::Enrol(grpc::ServerContext* context, const fleet_proto::EnrolRequest* request,
                                     fleet_proto::Certificate* certificate) {
  const std::string address = AddressOf(context->peer());
  if (const absl::Status admitted = limit_.Admit(address); !admitted.ok()) {
    ++refused_;
    return ToRpc(admitted);
  }
  absl::StatusOr<fleet_proto::Certificate> enrolled = admission_.Enrol(*request);
  Log(LogLevel::kInfo, "enrolment", "address", address, "result", enrolled.status().ToString());
  ++(enrolled.ok() ? enrolled_ : refused_);
  if (enrolled.ok()) limit_.Pardon(address);  // many devices may stand behind one address
  return Give(std::move(enrolled), certificate);
}

}  // namespace attune
