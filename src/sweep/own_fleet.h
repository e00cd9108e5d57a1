// A server and agents on this machine, for as long as a sweep runs.
#ifndef ATTUNE_SWEEP_OWN_FLEET_H_
#define ATTUNE_SWEEP_OWN_FLEET_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/cancel.h"
#include "base/process/companion_process.h"
#include "sweep/sweep_file.h"

namespace attune {

class OwnFleet {
 public:
  // Starts a server and these agents, on the loopback and on ports that are free, and returns once all
  // devices are there. From now on, the environment says that this is the fleet of this process and of those
  // that it starts. Agents' processors must be some that this process may use. Replaces what is in `folder`:
  // nothing that a sweep needs later is there. The calling thread must outlive the fleet.
  static absl::StatusOr<std::unique_ptr<OwnFleet>> Start(const std::string& folder,
                                                         const std::vector<SweepAgent>& agents,
                                                         const Cancellation& cancellation);
  OwnFleet(const OwnFleet&) = delete;
  OwnFleet& operator=(const OwnFleet&) = delete;
  // Ends all processes that it has started.
  ~OwnFleet();

 private:
  OwnFleet(std::string folder, const Cancellation& cancellation)
      : folder_(std::move(folder)), cancellation_(cancellation) {}

  absl::Status StartServer();
  absl::Status StartAgent(const SweepAgent& agent);

  const std::string folder_;
  const Cancellation& cancellation_;
  std::vector<std::unique_ptr<CompanionProcess>> members_;  // the server is the first
};

}  // namespace attune

#endif  // ATTUNE_SWEEP_OWN_FLEET_H_
