#include "fleet/server/enrolment_service.h"

#include <cmath>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "fleet/wire/checked_messages.h"
#include "fleet/wire/rpc_status.h"

namespace attune {
namespace {

// The address of a peer such as "ipv4:192.0.2.1:4711", without its port, which each connection changes.
std::string AddressOf(const std::string& peer) { return peer.substr(0, peer.rfind(':')); }

}  // namespace

grpc::Status EnrolmentService::Enrol(grpc::ServerContext* context, const fleet_proto::EnrolRequest* request,
                                     fleet_proto::Certificate* certificate) {
  const std::string address = AddressOf(context->peer());
  if (const double wait = limit_.Admit(address); wait > 0) {
    ++refused_;
    return ToRpc(absl::ResourceExhaustedError(
        absl::StrCat("too many attempts from this address; try again in ", std::ceil(wait), " s")));
  }
  const absl::Status checked = Check(*request);
  using Enrolled = absl::StatusOr<fleet_proto::Certificate>;
  Enrolled enrolled = checked.ok() ? admission_.Enrol(*request) : Enrolled(checked);
  Log(LogLevel::kInfo, "enrolment", "address", address, "result", enrolled.status().ToString());
  ++(enrolled.ok() ? enrolled_ : refused_);
  if (enrolled.ok()) limit_.Pardon(address);  // many devices may stand behind one address
  return Give(std::move(enrolled), certificate);
}

}  // namespace attune
