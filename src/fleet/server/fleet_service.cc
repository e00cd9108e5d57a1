#include "fleet/server/fleet_service.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/status.h"
#include "fleet/admission/caller.h"
#include "fleet/server/authority_replacement.h"
#include "fleet/serving/blob_pieces.h"
#include "fleet/serving/server_stream.h"
#include "fleet/wire/checked_messages.h"
#include "fleet/wire/rpc_status.h"
#include "fleet/wire/token.h"

namespace attune {
namespace {

namespace proto = fleet_proto;

constexpr std::initializer_list<FleetRole> kAnyRole = {FleetRole::kAgent, FleetRole::kClient,
                                                       FleetRole::kOperator, FleetRole::kRunner};
constexpr std::initializer_list<FleetRole> kClients = {FleetRole::kClient, FleetRole::kOperator};

using Names = google::protobuf::RepeatedPtrField<std::string>;

OwnersChange ChangeOf(const Names& add, const Names& remove) {
  return [&add, &remove](std::set<std::string>& owners) {
    for (const std::string& owner : remove) owners.erase(owner);
    owners.insert(add.begin(), add.end());
  };
}

}  // namespace

grpc::ServerBidiReactor<proto::FromAgent, proto::ToAgent>* FleetService::Serve(
    grpc::CallbackServerContext* context) {
  return BeginStream<proto::FromAgent>(CallerOf(*context, {FleetRole::kAgent}, admission_), context->peer(),
                                       dispatcher_, &Dispatcher::AddAgent, &Dispatcher::RemoveAgent);
}

grpc::ServerBidiReactor<proto::FromClient, proto::ToClient>* FleetService::Measure(
    grpc::CallbackServerContext* context) {
  return BeginStream<proto::FromClient>(CallerOf(*context, kClients, admission_), context->peer(),
                                        dispatcher_, &Dispatcher::AddClient, &Dispatcher::RemoveClient);
}

grpc::Status FleetService::Renew(grpc::ServerContext* context, const proto::RenewRequest* request,
                                 proto::Certificate* certificate) {
  const auto who = CallerOf(*context, kAnyRole, admission_);
  if (!who.ok()) return ToRpc(who.status());
  if (const absl::Status checked = Check(*request); !checked.ok()) return ToRpc(checked);
  return Give(admission_.Renew(who->who, *request), certificate);
}

grpc::Status FleetService::Show(grpc::ServerContext* context, const proto::Shown* /*request*/,
                                proto::Shown* /*answer*/) {
  return ToRpc(CallerOf(*context, kAnyRole, admission_).status());
}

grpc::Status FleetService::Devices(grpc::ServerContext* context, const proto::DevicesRequest* request,
                                   proto::DeviceList* devices) {
  const auto who = CallerOf(*context, kAnyRole, admission_);
  if (!who.ok()) return ToRpc(who.status());
  for (proto::Device& device : DevicesFor(who->who, *request)) *devices->add_devices() = std::move(device);
  return grpc::Status::OK;
}

std::vector<proto::Device> FleetService::DevicesFor(const FleetIdentity& who,
                                                    const proto::DevicesRequest& request) const {
  const bool is_overview = request.is_overview() || request.key().empty();
  if (!is_overview) return dispatcher_.DevicesFor(who.owner, request.key());
  if (who.role == FleetRole::kOperator) return dispatcher_.Devices(request.key());
  std::vector<proto::Device> seen = dispatcher_.DevicesFor(who.owner, "");
  if (!request.key().empty())
    std::erase_if(seen, [&](const proto::Device& device) {
      return std::ranges::find(device.keys(), request.key()) == device.keys().end();
    });
  return seen;
}

grpc::Status FleetService::ShareDevice(grpc::ServerContext* context, const proto::DeviceSharing* sharing,
                                       proto::DeviceList* devices) {
  const auto who = CallerOf(*context, kClients, admission_);
  if (!who.ok()) return ToRpc(who.status());
  if (const absl::Status checked = Check(*sharing); !checked.ok()) return ToRpc(checked);
  absl::StatusOr<proto::Device> shared =
      dispatcher_.Share(sharing->id(), who->who.owner, ChangeOf(sharing->add(), sharing->remove()));
  Log(LogLevel::kInfo, "device is shared", "device", sharing->id(), "owner", who->who.owner, "result",
      shared.status().ToString());
  return Give(std::move(shared), devices->add_devices());
}

grpc::Status FleetService::Trust(grpc::ServerContext* context, const proto::TrustChange* change,
                                 proto::TrustState* state) {
  const auto who = CallerOf(*context, kClients, admission_);
  if (!who.ok()) return ToRpc(who.status());
  if (const absl::Status checked = Check(*change); !checked.ok()) return ToRpc(checked);
  const bool changes = change->add_size() + change->remove_size() > 0;
  absl::StatusOr<std::set<std::string>> trusted = dispatcher_.TrustOf(who->who.owner);
  if (changes) {
    trusted = dispatcher_.SetTrust(who->who.owner, ChangeOf(change->add(), change->remove()));
    Log(LogLevel::kInfo, "trust is changed", "owner", who->who.owner, "result", trusted.status().ToString());
  }
  if (!trusted.ok()) return ToRpc(trusted.status());
  state->mutable_owners()->Assign(trusted->begin(), trusted->end());
  return grpc::Status::OK;
}

grpc::Status FleetService::Queue(grpc::ServerContext* context, const proto::QueueRequest* request,
                                 proto::QueueState* state) {
  const auto who = CallerOf(*context, kClients, admission_);
  if (!who.ok()) return ToRpc(who.status());
  if (request->promised_keys_size() > 0 && who->who.role != FleetRole::kOperator)
    return ToRpc(absl::PermissionDeniedError("operators alone promise devices"));
  if (const absl::Status checked = Check(*request); !checked.ok()) return ToRpc(checked);
  for (const std::string& key : request->promised_keys())
    if (const absl::Status promised = dispatcher_.Promise(key); !promised.ok()) return ToRpc(promised);
  for (const auto& [key, requests] : dispatcher_.Waiting()) {
    proto::QueueState::Waiting* waiting = state->add_waiting();
    waiting->set_key(key);
    waiting->set_requests(requests);
  }
  return grpc::Status::OK;
}

absl::Status FleetService::TakeBlob(grpc::ServerContext& context, const FleetIdentity& who,
                                    grpc::ServerReader<proto::BlobPiece>& pieces) {
  ASSIGN_OR_RETURN(const auto call, file_calls_.Begin(who, [&] { context.TryCancel(); }));
  const std::function<bool(proto::BlobPiece&)> read = [&](proto::BlobPiece& piece) {
    return call->Await([&] { return pieces.Read(&piece); });
  };
  proto::BlobPiece first;
  return read(first) ? TakePieces(blobs_, who.owner, std::move(first), read) : absl::OkStatus();
}

grpc::Status FleetService::SendBlob(grpc::ServerContext* context,
                                    grpc::ServerReader<proto::BlobPiece>* pieces, proto::BlobState* state) {
  const auto who = CallerOf(*context, kClients, admission_);
  if (!who.ok()) return ToRpc(who.status());
  const absl::Status taken = Annotate(TakeBlob(*context, who->who, *pieces), "on the fleet's server");
  state->set_is_complete(taken.ok());
  return ToRpc(taken);
}

grpc::Status FleetService::StateOfBlob(grpc::ServerContext* context, const proto::BlobName* name,
                                       proto::BlobState* state) {
  const auto who = CallerOf(*context, kClients, admission_);
  if (!who.ok()) return ToRpc(who.status());
  state->set_is_complete(blobs_.Has(who->who.owner, name->digest()));
  if (state->is_complete()) return grpc::Status::OK;
  const absl::StatusOr<int64_t> sent = blobs_.Sent(who->who.owner, name->digest());
  state->set_sent_bytes(sent.value_or(0));
  return ToRpc(sent.status());
}

absl::Status FleetService::GiveBlob(grpc::ServerContext& context, const FleetIdentity& agent,
                                    const proto::ReadBlobRequest& request,
                                    grpc::ServerWriter<proto::BlobPiece>& pieces) {
  ASSIGN_OR_RETURN(const auto call, file_calls_.Begin(agent, [&] { context.TryCancel(); }));
  ASSIGN_OR_RETURN(const std::string owner, dispatcher_.OwnerOfLease(agent, FromWire(request.token())));
  ASSIGN_OR_RETURN(const auto blob, blobs_.Read(owner, request.digest()));
  return GivePieces(blob, request.offset(), *call, pieces);
}

grpc::Status FleetService::ReadBlob(grpc::ServerContext* context, const proto::ReadBlobRequest* request,
                                    grpc::ServerWriter<proto::BlobPiece>* pieces) {
  const auto who = CallerOf(*context, {FleetRole::kAgent}, admission_);
  return ToRpc(who.ok() ? GiveBlob(*context, who->who, *request, *pieces) : who.status());
}

grpc::Status FleetService::Invite(grpc::ServerContext* context, const proto::InviteRequest* request,
                                  proto::InvitationText* invitation) {
  const auto who = CallerOf(*context, {FleetRole::kOperator}, admission_);
  if (!who.ok()) return ToRpc(who.status());
  const absl::StatusOr<FleetRole> role = FleetRoleNamed(request->role());
  if (!role.ok()) return ToRpc(role.status());
  const absl::StatusOr<Invitation> invited = admission_.Invite(*role, request->owner());
  Log(LogLevel::kInfo, "invitation", "role", request->role(), "owner", request->owner(), "operator",
      who->who.id, "result", invited.status().ToString());
  if (invited.ok()) invitation->set_text(invited->Text());
  return ToRpc(invited.status());
}

absl::Status FleetService::Change(const proto::DeviceChange& change) {
  switch (change.kind()) {
    case proto::DeviceChange::DRAIN:
      return dispatcher_.Drain(change.id(), change.reason());
    case proto::DeviceChange::RESUME:
      // First, so that no calibration comes between that is still compared with those before.
      RETURN_IF_ERROR(calibrator_.OnResume(change.id()));
      return dispatcher_.Resume(change.id());
    case proto::DeviceChange::REMOVE:
      return dispatcher_.Remove(change.id());
    default:
      return InvalidInput("an unknown change of a device");
  }
}

grpc::Status FleetService::ChangeDevice(grpc::ServerContext* context, const proto::DeviceChange* change,
                                        proto::DeviceList* devices) {
  const auto who = CallerOf(*context, {FleetRole::kOperator}, admission_);
  if (!who.ok()) return ToRpc(who.status());
  absl::Status changed = Check(*change);
  if (changed.ok()) changed = Change(*change);
  Log(LogLevel::kInfo, "device is changed", "change", proto::DeviceChange::Kind_Name(change->kind()),
      "device", change->id(), "operator", who->who.id, "owner", who->who.owner, "result", changed.ToString());
  if (!changed.ok()) return ToRpc(changed);
  for (proto::Device& device : dispatcher_.Devices(change->id()))
    if (device.id() == change->id()) *devices->add_devices() = std::move(device);
  return grpc::Status::OK;
}

grpc::Status FleetService::Revoke(grpc::ServerContext* context, const proto::RevokeRequest* request,
                                  proto::RevokeAnswer* /*answer*/) {
  const auto who = CallerOf(*context, {FleetRole::kOperator}, admission_);
  if (!who.ok()) return ToRpc(who.status());
  if (const absl::Status checked = Check(*request); !checked.ok()) return ToRpc(checked);
  const absl::Status revoked = store_.RevokeIdentity(
      request->id(), {.reason = request->reason(), .time_ms = SystemClock().WallMillis()});
  Log(LogLevel::kInfo, "member is revoked", "member", request->id(), "operator", who->who.id, "reason",
      request->reason(), "result", revoked.ToString());
  if (!revoked.ok()) return ToRpc(revoked);
  dispatcher_.Close([&](const CertificateFacts& facts) {
    return facts.who.id == request->id() ? CertificateIsRevoked() : absl::OkStatus();
  });
  return grpc::Status::OK;
}

grpc::Status FleetService::Calibrate(grpc::ServerContext* context, const proto::DeviceName* device,
                                     proto::CalibrationState* state) {
  const auto who = CallerOf(*context, {FleetRole::kOperator}, admission_);
  if (!who.ok()) return ToRpc(who.status());
  // The state before, so that the caller can tell a new calibration from those.
  grpc::Status given = Give(calibrator_.StateOf(device->id()), state);
  return given.ok() ? ToRpc(calibrator_.Begin(device->id())) : given;
}

grpc::Status FleetService::Authority(grpc::ServerContext* context, const proto::AuthorityRequest* request,
                                     proto::AuthorityState* state) {
  const auto who = CallerOf(*context, {FleetRole::kOperator}, admission_);
  if (!who.ok()) return ToRpc(who.status());
  absl::StatusOr<proto::AuthorityState> changed =
      ChangeAuthority(*request, admission_.authority(), dispatcher_, store_);
  if (request->change() != proto::AuthorityRequest::NONE)
    Log(LogLevel::kWarning, "the fleet's authority is replaced", "step",
        proto::AuthorityRequest::Change_Name(request->change()), "operator", who->who.id, "result",
        changed.status().ToString());
  return Give(std::move(changed), state);
}

grpc::Status FleetService::Calibrations(grpc::ServerContext* context, const proto::DeviceName* device,
                                        proto::CalibrationState* state) {
  const auto who = CallerOf(*context, kClients, admission_);
  if (!who.ok()) return ToRpc(who.status());
  return Give(calibrator_.StateOf(device->id()), state);
}

}  // namespace attune
