#include "fleet/client/fleet_client.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/status.h"
#include "fleet/blobs/blob_piece.h"
#include "fleet/client/server_call.h"
#include "fleet/identity/pinned_server.h"
#include "fleet/wire/channel.h"
#include "fleet/wire/rpc_status.h"

namespace attune {
namespace {

// Sends a file to the server piece by piece.
//
// Sends the file from `offset` over a call that has begun, and ends the call. `piece` has what else the
// server needs to know. `follow`, unless it is null, is told how many bytes are about to have been sent; an
// error ends the sending.
template <typename Piece>
absl::Status SendPieces(const InputFile& file, int64_t offset, Piece piece,
                        const std::function<absl::Status(int64_t)>& follow, grpc::ClientContext& context,
                        grpc::ClientWriter<Piece>& pieces, const FleetCredentials& credentials) {
  absl::Status status;
  do {
    const int64_t count = std::min(kBlobPieceBytes, file.bytes - offset);
    piece.set_offset(offset);
    piece.mutable_bytes()->resize(static_cast<size_t>(count));
    status = ReadRange(file, offset, count, piece.mutable_bytes()->data());
    offset += count;
    piece.set_is_last(offset == file.bytes);
    if (status.ok() && follow) status = follow(offset);
  } while (status.ok() && pieces.Write(piece) && offset < file.bytes);
  if (!status.ok()) context.TryCancel();
  pieces.WritesDone();
  const absl::Status ended = ExplainServerCall(pieces.Finish(), credentials);
  return status.ok() ? ended : status;
}

namespace proto = fleet_proto;

constexpr int kSmallBlobBytes = 1 << 20;

}  // namespace

FleetClient::FleetClient(const FleetCredentials& credentials, const Clock& clock)
    : server_(credentials.server), connection_(credentials, clock) {}

std::unique_ptr<proto::Fleet::Stub> FleetClient::stub() const {
  return proto::Fleet::NewStub(connection_.channel());
}

template <typename Request, typename Answer>
absl::StatusOr<Answer> FleetClient::Call(Method<Request, Answer> method, const Request& request) {
  return CallServer(connection_, *stub(), method, request);
}

absl::StatusOr<FleetIdentity> FleetClient::Identity() const {
  ASSIGN_OR_RETURN(CertificateFacts facts, ReadCertificate(connection_.credentials().certificate_pem));
  return std::move(facts.who);
}

absl::StatusOr<std::vector<proto::Device>> FleetClient::Devices(const std::string& key) {
  proto::DevicesRequest request;
  request.set_key(key);
  return Devices(request);
}

absl::StatusOr<std::vector<proto::Device>> FleetClient::Overview(const std::string& key) {
  proto::DevicesRequest request;
  request.set_key(key);
  request.set_is_overview(true);
  return Devices(request);
}

absl::StatusOr<std::vector<proto::Device>> FleetClient::Devices(const proto::DevicesRequest& request) {
  ASSIGN_OR_RETURN(const proto::DeviceList list, Call(&proto::Fleet::Stub::Devices, request));
  return std::vector<proto::Device>(list.devices().begin(), list.devices().end());
}

absl::StatusOr<proto::Device> FleetClient::Share(const std::string& device,
                                                 const std::vector<std::string>& add,
                                                 const std::vector<std::string>& remove) {
  proto::DeviceSharing sharing;
  sharing.set_id(device);
  sharing.mutable_add()->Assign(add.begin(), add.end());
  sharing.mutable_remove()->Assign(remove.begin(), remove.end());
  ASSIGN_OR_RETURN(const proto::DeviceList list, Call(&proto::Fleet::Stub::ShareDevice, sharing));
  return list.devices_size() == 0 ? proto::Device() : list.devices(0);
}

absl::StatusOr<std::vector<std::string>> FleetClient::Trust(const std::vector<std::string>& add,
                                                            const std::vector<std::string>& remove) {
  proto::TrustChange change;
  change.mutable_add()->Assign(add.begin(), add.end());
  change.mutable_remove()->Assign(remove.begin(), remove.end());
  ASSIGN_OR_RETURN(const proto::TrustState state, Call(&proto::Fleet::Stub::Trust, change));
  return std::vector<std::string>(state.owners().begin(), state.owners().end());
}

absl::StatusOr<std::map<std::string, int>> FleetClient::Queue(const std::vector<std::string>& promised_keys) {
  proto::QueueRequest request;
  request.mutable_promised_keys()->Assign(promised_keys.begin(), promised_keys.end());
  ASSIGN_OR_RETURN(const proto::QueueState state, Call(&proto::Fleet::Stub::Queue, request));
  std::map<std::string, int> waiting;
  for (const proto::QueueState::Waiting& entry : state.waiting()) waiting[entry.key()] = entry.requests();
  return waiting;
}

absl::StatusOr<std::optional<int64_t>> FleetClient::Sent(const std::string& digest, int64_t bytes) {
  proto::BlobName name;
  name.set_digest(digest);
  ASSIGN_OR_RETURN(const proto::BlobState state, Call(&proto::Fleet::Stub::StateOfBlob, name));
  if (state.is_complete()) return std::nullopt;
  return std::clamp<int64_t>(state.sent_bytes(), 0, bytes);
}

absl::Status FleetClient::Send(const Blob& blob) {
  ASSIGN_OR_RETURN(FileDescriptor file, blob.Open());
  return Send(blob.digest(), {.descriptor = std::move(file), .bytes = blob.size()});
}

absl::Status FleetClient::Send(const std::string& digest, const InputFile& file, const Follow& follow) {
  // Small blobs are sent without asking, since most are new.
  if (file.bytes <= kSmallBlobBytes) {
    const absl::Status sent = SendFrom(digest, file, 0, follow);
    if (!absl::IsOutOfRange(sent)) return sent;
  }
  ASSIGN_OR_RETURN(const std::optional<int64_t> offset, Sent(digest, file.bytes));
  return offset ? SendFrom(digest, file, *offset, follow) : absl::OkStatus();
}

absl::Status FleetClient::SendFrom(const std::string& digest, const InputFile& file, int64_t offset,
                                   const Follow& follow) {
  grpc::ClientContext context;  // as long as it takes: the connection's keepalive notices a dead server
  proto::BlobState state;
  const auto pieces = stub()->SendBlob(&context, &state);
  proto::BlobPiece piece;
  piece.set_digest(digest);
  return SendPieces(file, offset, std::move(piece), follow, context, *pieces, connection_.credentials());
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

absl::StatusOr<proto::AuthorityState> FleetClient::Authority(proto::AuthorityRequest::Change change,
                                                             bool is_forced) {
  proto::AuthorityRequest request;
  request.set_change(change);
  request.set_is_forced(is_forced);
  return Call(&proto::Fleet::Stub::Authority, request);
}

absl::StatusOr<FleetCredentials> EnrolInFleet(const Invitation& invitation) {
  ASSIGN_OR_RETURN(const std::string authority, AuthorityOf(invitation, kCallSeconds));
  ASSIGN_OR_RETURN(const PrivateKey key, PrivateKey::Generate());
  const auto stub = proto::Enrolment::NewStub(ConnectEnrolment(invitation.address, authority));
  grpc::ClientContext context;
  SetServerCallDeadline(context);
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
