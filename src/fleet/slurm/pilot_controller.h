// Keeps pilots running: looks at the fleet and at Slurm, and does what the planner says.
#ifndef ATTUNE_FLEET_SLURM_PILOT_CONTROLLER_H_
#define ATTUNE_FLEET_SLURM_PILOT_CONTROLLER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/clock.h"
#include "fleet/slurm/pilot_fleet.h"
#include "fleet/slurm/pilot_planner.h"
#include "fleet/slurm/pilot_spool.h"
#include "fleet/slurm/slurm_commands.h"

namespace attune {

struct PilotControllerOptions {
  PilotLimits limits = {};
  std::string program = {};               // attune, as the nodes find it
  std::vector<std::string> keys = {};     // of the pilots' devices
  std::vector<std::string> trusted = {};  // owners whose work pilots take even where they cannot fence it in
};

// All that must outlast its process is in the spool, in Slurm and in the fleet: one that ends, however that
// happens, is continued by the next one with the same spool. Not thread safe.
class PilotController {
 public:
  // The fleet, Slurm, the spool and the clock must outlive it.
  PilotController(PilotControllerOptions options, PilotFleet& fleet, SlurmCommands& slurm, PilotSpool& spool,
                  const Clock& clock = SystemClock());

  // Looks for pilots in the spool. To be called first.
  absl::Status Start();
  // One round, to be called every few seconds. Failures are logged, and tried again in later rounds.
  void Step();

 private:
  // Logs what does not answer, once until it answers again.
  class Outage {
   public:
    explicit Outage(const char* what) : what_(what) {}
    void Note(const absl::Status& status);

   private:
    const char* const what_;
    bool is_told_ = false;
  };

  absl::StatusOr<PilotView> Look();
  void Forget(const ForgottenPilot& pilot);
  void Submit(const std::vector<std::string>& names);
  // Puts a new invitation into the pilot's folder.
  absl::Status Invite(const std::string& name);
  SlurmJob JobOf(const std::string& name) const;

  const PilotControllerOptions options_;
  PilotFleet& fleet_;
  SlurmCommands& slurm_;
  PilotSpool& spool_;
  const std::string prefix_;
  PilotPlanner planner_;
  Outage fleet_outage_{"the fleet's server"}, slurm_outage_{"Slurm"};
};

}  // namespace attune

#endif  // ATTUNE_FLEET_SLURM_PILOT_CONTROLLER_H_
