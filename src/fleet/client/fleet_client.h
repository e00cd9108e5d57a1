// A client of the fleet's server, for the calls that are answered at once.
#ifndef ATTUNE_FLEET_CLIENT_FLEET_CLIENT_H_
#define ATTUNE_FLEET_CLIENT_FLEET_CLIENT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/input_file.h"
#include "fleet/client/renewing_connection.h"
#include "fleet/identity/certificate.h"
#include "fleet/identity/credentials.h"
#include "fleet/identity/invitation.h"
#include "fleet/wire/fleet.grpc.pb.h"
#include "measure/blob.h"

namespace attune {

// Thread safe. Calls fail with Unavailable, and the server's address, if the server does not answer in time.
// Its certificate is renewed in time, however long it lasts.
class FleetClient {
 public:
  // Is told how many bytes of a file are about to have been sent; an error ends the sending.
  using Follow = std::function<absl::Status(int64_t bytes)>;

  // The clock must outlive this object.
  explicit FleetClient(const FleetCredentials& credentials, const Clock& clock = SystemClock());

  // Returns the devices that the key means for the caller; all that the caller may see if it is empty.
  absl::StatusOr<std::vector<fleet_proto::Device>> Devices(const std::string& key);
  // Returns all devices with the key that the caller may see, whether or not the caller may use them.
  absl::StatusOr<std::vector<fleet_proto::Device>> Overview(const std::string& key);
  // Shares a device of the caller's with these owners, and no more with those; kEveryOwner stands for all.
  // Returns the device.
  absl::StatusOr<fleet_proto::Device> Share(const std::string& device, const std::vector<std::string>& add,
                                            const std::vector<std::string>& remove);
  // Lets the caller's work go to devices of these owners, and no more to those of the others. Returns the
  // trusted owners besides the caller.
  absl::StatusOr<std::vector<std::string>> Trust(const std::vector<std::string>& add,
                                                 const std::vector<std::string>& remove);
  // How many requests wait for each key. For the next minute, requests for the promised keys may wait even if
  // no device has them; to promise is for operators.
  absl::StatusOr<std::map<std::string, int>> Queue(const std::vector<std::string>& promised_keys = {});
  // The device's latest calibrations.
  absl::StatusOr<fleet_proto::CalibrationState> Calibrations(const std::string& device);
  // Sends the blob; resumes where an earlier attempt broke off.
  absl::Status Send(const Blob& blob);
  // The same for a file whose bytes have the digest. DataLoss if they have another one.
  absl::Status Send(const std::string& digest, const InputFile& file, const Follow& follow = nullptr);

  // The following are for operators.
  absl::StatusOr<std::string> Invite(const std::string& role, const std::string& owner);
  absl::StatusOr<fleet_proto::Device> Change(const fleet_proto::DeviceChange& change);
  absl::Status Revoke(const std::string& id, const std::string& reason);
  // Begins a calibration, and returns those before it.
  absl::StatusOr<fleet_proto::CalibrationState> Calibrate(const std::string& device);
  // Replaces the fleet's authority, or shows how it stands with that. To finish is refused if members would
  // be thrown out, unless it is forced.
  absl::StatusOr<fleet_proto::AuthorityState> Authority(
      fleet_proto::AuthorityRequest::Change change = fleet_proto::AuthorityRequest::NONE,
      bool is_forced = false);

  RenewingConnection& connection() { return connection_; }
  // For the next call.
  std::unique_ptr<fleet_proto::Fleet::Stub> stub() const;
  const std::string& server() const { return server_; }
  // Whose certificate it has.
  absl::StatusOr<FleetIdentity> Identity() const;

 private:
  // The bytes of the blob that have been sent; nothing if the server has it.
  absl::StatusOr<std::optional<int64_t>> Sent(const std::string& digest, int64_t bytes);
  absl::Status SendFrom(const std::string& digest, const InputFile& file, int64_t offset,
                        const Follow& follow);
  absl::StatusOr<std::vector<fleet_proto::Device>> Devices(const fleet_proto::DevicesRequest& request);
  template <typename Request, typename Answer>
  using Method = grpc::Status (fleet_proto::Fleet::Stub::*)(grpc::ClientContext*, const Request&, Answer*);
  template <typename Request, typename Answer>
  absl::StatusOr<Answer> Call(Method<Request, Answer> method, const Request& request);

  const std::string server_;
  RenewingConnection connection_;
};

// Enrols with a new key. Makes sure first that the server is the invitation's.
absl::StatusOr<FleetCredentials> EnrolInFleet(const Invitation& invitation);

}  // namespace attune

#endif  // ATTUNE_FLEET_CLIENT_FLEET_CLIENT_H_
