// The service Fleet (wire/fleet.proto): identifies the caller, authorizes the call, and passes it to the
// logic.
#ifndef ATTUNE_FLEET_SERVER_FLEET_SERVICE_H_
#define ATTUNE_FLEET_SERVER_FLEET_SERVICE_H_

#include <grpcpp/grpcpp.h>

#include "absl/status/status.h"
#include "fleet/admission/admission.h"
#include "fleet/blobs/blob_store.h"
#include "fleet/server/calibrator.h"
#include "fleet/server/dispatcher.h"
#include "fleet/serving/file_calls.h"
#include "fleet/store/fleet_store.h"
#include "fleet/wire/fleet.grpc.pb.h"

namespace attune {

// Streams that last are served by callbacks, so that hundreds of them need no threads of their own; short
// calls, some of which wait for the disk, by gRPC's threads. Thread safe. The arguments must outlive it.
class FleetService final : public fleet_proto::Fleet::WithCallbackMethod_Serve<
                               fleet_proto::Fleet::WithCallbackMethod_Measure<fleet_proto::Fleet::Service>> {
 public:
  FleetService(Dispatcher& dispatcher, BlobStore& blobs, FleetStore& store, Admission& admission,
               Calibrator& calibrator, FileCalls& file_calls)
      : dispatcher_(dispatcher),
        blobs_(blobs),
        store_(store),
        admission_(admission),
        calibrator_(calibrator),
        file_calls_(file_calls) {}

  grpc::ServerBidiReactor<fleet_proto::FromAgent, fleet_proto::ToAgent>* Serve(
      grpc::CallbackServerContext* context) override;
  grpc::ServerBidiReactor<fleet_proto::FromClient, fleet_proto::ToClient>* Measure(
      grpc::CallbackServerContext* context) override;

  grpc::Status Renew(grpc::ServerContext* context, const fleet_proto::RenewRequest* request,
                     fleet_proto::Certificate* certificate) override;
  grpc::Status Show(grpc::ServerContext* context, const fleet_proto::Shown* request,
                    fleet_proto::Shown* answer) override;
  grpc::Status Devices(grpc::ServerContext* context, const fleet_proto::DevicesRequest* request,
                       fleet_proto::DeviceList* devices) override;
  grpc::Status Queue(grpc::ServerContext* context, const fleet_proto::QueueRequest* request,
                     fleet_proto::QueueState* state) override;
  grpc::Status SendBlob(grpc::ServerContext* context, grpc::ServerReader<fleet_proto::BlobPiece>* pieces,
                        fleet_proto::BlobState* state) override;
  grpc::Status StateOfBlob(grpc::ServerContext* context, const fleet_proto::BlobName* name,
                           fleet_proto::BlobState* state) override;
  grpc::Status ReadBlob(grpc::ServerContext* context, const fleet_proto::ReadBlobRequest* request,
                        grpc::ServerWriter<fleet_proto::BlobPiece>* pieces) override;
  grpc::Status ShareDevice(grpc::ServerContext* context, const fleet_proto::DeviceSharing* sharing,
                           fleet_proto::DeviceList* devices) override;
  grpc::Status Trust(grpc::ServerContext* context, const fleet_proto::TrustChange* change,
                     fleet_proto::TrustState* state) override;
  grpc::Status Invite(grpc::ServerContext* context, const fleet_proto::InviteRequest* request,
                      fleet_proto::InvitationText* invitation) override;
  grpc::Status ChangeDevice(grpc::ServerContext* context, const fleet_proto::DeviceChange* change,
                            fleet_proto::DeviceList* devices) override;
  grpc::Status Revoke(grpc::ServerContext* context, const fleet_proto::RevokeRequest* request,
                      fleet_proto::RevokeAnswer* answer) override;
  grpc::Status Calibrate(grpc::ServerContext* context, const fleet_proto::DeviceName* device,
                         fleet_proto::CalibrationState* state) override;
  grpc::Status Authority(grpc::ServerContext* context, const fleet_proto::AuthorityRequest* request,
                         fleet_proto::AuthorityState* state) override;
  grpc::Status Calibrations(grpc::ServerContext* context, const fleet_proto::DeviceName* device,
                            fleet_proto::CalibrationState* state) override;

 private:
  std::vector<fleet_proto::Device> DevicesFor(const FleetIdentity& who,
                                              const fleet_proto::DevicesRequest& request) const;
  absl::Status TakeBlob(grpc::ServerContext& context, const FleetIdentity& who,
                        grpc::ServerReader<fleet_proto::BlobPiece>& pieces);
  absl::Status GiveBlob(grpc::ServerContext& context, const FleetIdentity& agent,
                        const fleet_proto::ReadBlobRequest& request,
                        grpc::ServerWriter<fleet_proto::BlobPiece>& pieces);
  absl::Status Change(const fleet_proto::DeviceChange& change);

  Dispatcher& dispatcher_;
  BlobStore& blobs_;
  FleetStore& store_;
  Admission& admission_;
  Calibrator& calibrator_;
  FileCalls& file_calls_;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVER_FLEET_SERVICE_H_
