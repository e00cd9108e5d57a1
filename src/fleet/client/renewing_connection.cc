#include "fleet/client/renewing_connection.h"

#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "base/log.h"
#include "base/status.h"
#include "fleet/client/server_call.h"
#include "fleet/identity/certificate.h"
#include "fleet/wire/channel.h"
#include "fleet/wire/fleet.grpc.pb.h"
#include "fleet/wire/rpc_status.h"

namespace attune {
namespace {

namespace proto = fleet_proto;

constexpr double kRetrySeconds = 60;

// A renewal counts once its certificate has been shown, since it may be lost on its way.
absl::Status ShowCertificate(const std::shared_ptr<grpc::Channel>& channel) {
  grpc::ClientContext context;
  SetServerCallDeadline(context);
  proto::Shown answer;
  const grpc::Status status = proto::Fleet::NewStub(channel)->Show(&context, proto::Shown(), &answer);
  // A server that is older asks for nothing.
  return status.error_code() == grpc::StatusCode::UNIMPLEMENTED ? absl::OkStatus() : FromRpc(status);
}

}  // namespace

absl::StatusOr<FleetCredentials> RenewCredentials(const FleetCredentials& credentials) {
  ASSIGN_OR_RETURN(const PrivateKey key, PrivateKey::Read(credentials.key_pem));
  proto::RenewRequest request;
  ASSIGN_OR_RETURN(*request.mutable_certificate_request(), key.Request());
  grpc::ClientContext context;
  SetServerCallDeadline(context);
  proto::Certificate certificate;
  const auto stub = proto::Fleet::NewStub(ConnectFleet(credentials));
  RETURN_IF_ERROR(ExplainServerCall(stub->Renew(&context, request, &certificate), credentials));
  FleetCredentials renewed = credentials;
  renewed.authorities_pem = certificate.authorities();
  renewed.certificate_pem = certificate.certificate();
  return renewed;
}

RenewingConnection::RenewingConnection(FleetCredentials credentials, const Clock& clock) : clock_(clock) {
  Use(std::move(credentials));
}

void RenewingConnection::Use(FleetCredentials credentials) {
  credentials_ = std::move(credentials);
  channel_ = ConnectFleet(credentials_);
  renewal_ms_ = RenewalMillis(credentials_).value_or(std::numeric_limits<int64_t>::max());
}

std::shared_ptr<grpc::Channel> RenewingConnection::channel() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return channel_;
}

FleetCredentials RenewingConnection::credentials() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return credentials_;
}

void RenewingConnection::OnAnswer(const grpc::ClientContext& context) {
  if (context.GetServerInitialMetadata().contains(kRenewalAsked)) {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_asked_ = true;
  }
  RenewIfDue();
}

void RenewingConnection::AskToRenew() {
  const std::lock_guard<std::mutex> lock(mutex_);
  is_asked_ = true;
  retry_from_ = 0;
}

bool RenewingConnection::IsDue() const {
  return (is_asked_ || clock_.WallMillis() >= renewal_ms_) && clock_.Now() >= retry_from_;
}

void RenewingConnection::RenewIfDue() {
  const std::unique_lock<std::mutex> renewing(renewing_, std::try_to_lock);
  if (!renewing.owns_lock()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!IsDue()) return;
  }
  absl::StatusOr<FleetCredentials> renewed = RenewCredentials(credentials());
  absl::Status status = renewed.status();
  if (status.ok() && !renewed->folder.empty()) status = SaveCredentials(renewed->folder, *renewed);
  if (renewed.ok()) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Use(*renewed);  // even if it is not saved
  }
  if (status.ok()) status = ShowCertificate(channel());
  Log(status.ok() ? LogLevel::kInfo : LogLevel::kWarning, "renewal of the certificate", "result",
      status.ToString());
  const std::lock_guard<std::mutex> lock(mutex_);
  is_asked_ = !status.ok();
  if (!status.ok()) retry_from_ = clock_.Now() + kRetrySeconds;
}

}  // namespace attune
