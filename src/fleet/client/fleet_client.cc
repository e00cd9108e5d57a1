#include "fleet/client/fleet_client.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "fleet/identity/certificate.h"
#include "fleet/identity/pinned_server.h"
#include "fleet/wire/channel.h"
#include "fleet/wire/rpc_status.h"

namespace attune {
namespace {

namespace proto = fleet_proto;

constexpr int kCallSeconds = 20, kSmallBlobBytes = 1 << 20;

void SetDeadline(grpc::ClientContext& context) {
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(kCallSeconds));
}

}  // namespace

FleetClient::FleetClient(const FleetCredentials& credentials)
    : credentials_(credentials), stub_(proto::Fleet::NewStub(ConnectFleet(credentials))) {}

absl::Status FleetClient::Explain(const grpc::Status& status) const {
  const absl::Status explained = FromRpc(status);
  if (!absl::IsUnavailable(explained) && !absl::IsDeadlineExceeded(explained)) return explained;
  return absl::UnavailableError(absl::StrCat("the fleet's server ", server(), " does not answer (",
                                             explained.message(), "); is attune server running there?"));
}

template <typename Request, typename Answer>
absl::StatusOr<Answer> FleetClient::Call(Method<Request, Answer> method, const Request& request) {
  grpc::ClientContext context;
  SetDeadline(context);
  Answer answer;
  RETURN_IF_ERROR(Explain((stub_.get()->*method)(&context, request, &answer)));
  return answer;
}

absl::StatusOr<FleetIdentity> FleetClient::Identity() const {
  ASSIGN_OR_RETURN(CertificateFacts facts, ReadCertificate(credentials_.certificate_pem));
  return std::move(facts.who);
}

absl::StatusOr<std::vector<proto::Device>> FleetClient::Devices(const std::string& key) {
  proto::DevicesRequest request;
  request.set_key(key);
  ASSIGN_OR_RETURN(const proto::DeviceList list, Call(&proto::Fleet::Stub::Devices, request));
  return std::vector<proto::Device>(list.devices().begin(), list.devices().end());
}

absl::StatusOr<std::map<std::string, int>> FleetClient::Queue(const std::vector<std::string>& promised_keys) {
  proto::QueueRequest request;
  request.mutable_promised_keys()->Assign(promised_keys.begin(), promised_keys.end());
  ASSIGN_OR_RETURN(const proto::QueueState state, Call(&proto::Fleet::Stub::Queue, request));
  std::map<std::string, int> waiting;
  for (const proto::QueueState::Waiting& entry : state.waiting()) waiting[entry.key()] = entry.requests();
  return waiting;
}

absl::StatusOr<std::optional<int64_t>> FleetClient::Sent(const Blob& blob) {
  proto::BlobName name;
  name.set_digest(blob.digest());
  ASSIGN_OR_RETURN(const proto::BlobState state, Call(&proto::Fleet::Stub::StateOfBlob, name));
  if (state.is_complete()) return std::nullopt;
  return std::clamp<int64_t>(state.sent_bytes(), 0, blob.size());
}

absl::Status FleetClient::Send(const Blob& blob) {
  // Small blobs are sent without asking, since most are new.
  if (blob.size() <= kSmallBlobBytes) {
    const absl::Status sent = SendFrom(blob, 0);
    if (!absl::IsOutOfRange(sent)) return sent;
  }
  ASSIGN_OR_RETURN(const std::optional<int64_t> offset, Sent(blob));
  return offset ? SendFrom(blob, *offset) : absl::OkStatus();
}

absl::Status FleetClient::SendFrom(const Blob& blob, int64_t offset) {
  ASSIGN_OR_RETURN(const FileDescriptor file, blob.Open());
  ASSIGN_OR_RETURN(const MappedFile mapped, MappedFile::Map(file.get()));
  grpc::ClientContext context;  // as long as it takes: the connection's keepalive notices a dead server
  proto::BlobState state;
  const auto pieces = stub_->SendBlob(&context, &state);
  proto::BlobPiece piece;
  piece.set_digest(blob.digest());
  do {
    const int64_t count = std::min(kBlobPieceBytes, blob.size() - offset);
    piece.set_offset(offset);
    piece.set_bytes(mapped.text().data() + offset, static_cast<size_t>(count));
    offset += count;
    piece.set_is_last(offset == blob.size());
  } while (pieces->Write(piece) && offset < blob.size());
  pieces->WritesDone();
  return Explain(pieces->Finish());
}

absl::StatusOr<FleetCredentials> FleetClient::Renew() {
  ASSIGN_OR_RETURN(const PrivateKey key, PrivateKey::Read(credentials_.key_pem));
  proto::RenewRequest request;
  ASSIGN_OR_RETURN(*request.mutable_certificate_request(), key.Request());
  ASSIGN_OR_RETURN(const proto::Certificate certificate, Call(&proto::Fleet::Stub::Renew, request));
  return FleetCredentials{.server = credentials_.server,
                          .authorities_pem = certificate.authorities(),
                          .certificate_pem = certificate.certificate(),
                          .key_pem = credentials_.key_pem};
}

absl::StatusOr<std::string> FleetClient::Invite(const std::string& role, const std::string& owner) {
  proto::InviteRequest request;
  request.set_role(role);
  request.set_owner(owner);
  ASSIGN_OR_RETURN(const proto::InvitationText invitation, Call(&proto::Fleet::Stub::Invite, request));
  return invitation.text();
}

absl::StatusOr<proto::Device> FleetClient::Change(const proto::DeviceChange& change) {
  ASSIGN_OR_RETURN(const proto::DeviceList list, Call(&proto::Fleet::Stub::ChangeDevice, change));
  return list.devices_size() == 0 ? proto::Device() : list.devices(0);
}

absl::Status FleetClient::Revoke(const std::string& id, const std::string& reason) {
  proto::RevokeRequest request;
  request.set_id(id);
  request.set_reason(reason);
  return Call(&proto::Fleet::Stub::Revoke, request).status();
}

absl::StatusOr<proto::CalibrationState> FleetClient::Calibrations(const std::string& device) {
  proto::DeviceName name;
  name.set_id(device);
  return Call(&proto::Fleet::Stub::Calibrations, name);
}

absl::StatusOr<proto::CalibrationState> FleetClient::Calibrate(const std::string& device) {
  proto::DeviceName name;
  name.set_id(device);
  return Call(&proto::Fleet::Stub::Calibrate, name);
}

absl::StatusOr<FleetCredentials> EnrolInFleet(const Invitation& invitation) {
  ASSIGN_OR_RETURN(const std::string authority, AuthorityOf(invitation, kCallSeconds));
  ASSIGN_OR_RETURN(const PrivateKey key, PrivateKey::Generate());
  const auto stub = proto::Enrolment::NewStub(ConnectEnrolment(invitation.address, authority));
  grpc::ClientContext context;
  SetDeadline(context);
  proto::EnrolRequest request;
  request.set_secret(invitation.secret);
  ASSIGN_OR_RETURN(*request.mutable_certificate_request(), key.Request());
  proto::Certificate certificate;
  RETURN_IF_ERROR(Annotate(FromRpc(stub->Enrol(&context, request, &certificate)), invitation.address));
  FleetCredentials credentials = {.server = certificate.server(),
                                  .authorities_pem = certificate.authorities(),
                                  .certificate_pem = certificate.certificate()};
  ASSIGN_OR_RETURN(credentials.key_pem, key.Pem());
  return credentials;
}

}  // namespace attune
