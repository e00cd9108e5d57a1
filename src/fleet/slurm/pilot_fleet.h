// The fleet as a controller of pilots sees it.
#ifndef ATTUNE_FLEET_SLURM_PILOT_FLEET_H_
#define ATTUNE_FLEET_SLURM_PILOT_FLEET_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fleet/client/fleet_client.h"
#include "fleet/slurm/pilot_planner.h"

namespace attune {

class PilotFleet {
 public:
  virtual ~PilotFleet() = default;

  // How many requests wait that pilots could serve. From now on, for a while, requests may wait for them.
  virtual absl::StatusOr<int> Waiting() = 0;
  virtual absl::StatusOr<std::vector<PilotDevice>> Devices() = 0;
  // The text of a new invitation for a pilot.
  virtual absl::StatusOr<std::string> Invite() = 0;
  // Successful if there is no such device.
  virtual absl::Status Remove(const std::string& device) = 0;
};

struct PilotFleetOptions {
  std::string owner = {};              // of the pilots' devices
  std::vector<std::string> keys = {};  // of the pilots' devices
  std::string prefix = {};             // of the pilots' names
};

// By an operator's connection to the server.
class ServerPilotFleet final : public PilotFleet {
 public:
  ServerPilotFleet(std::shared_ptr<FleetClient> client, PilotFleetOptions options)
      : client_(std::move(client)), options_(std::move(options)) {}

  absl::StatusOr<int> Waiting() override;
  absl::StatusOr<std::vector<PilotDevice>> Devices() override;
  absl::StatusOr<std::string> Invite() override { return client_->Invite("agent", options_.owner); }
  absl::Status Remove(const std::string& device) override;

 private:
  const std::shared_ptr<FleetClient> client_;
  const PilotFleetOptions options_;
};

// The pilots' devices among those of the fleet. Only devices of `owner` count: an agent names its keys
// itself.
std::vector<PilotDevice> PilotDevices(const std::vector<fleet_proto::Device>& devices,
                                      const PilotFleetOptions& options);

}  // namespace attune

#endif  // ATTUNE_FLEET_SLURM_PILOT_FLEET_H_
