// Slurm, by its commands sbatch, squeue and scancel: its library is under the GPL, and its interface changes
// with each version.
#ifndef ATTUNE_FLEET_SLURM_SLURM_COMMANDS_H_
#define ATTUNE_FLEET_SLURM_SLURM_COMMANDS_H_

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fleet/slurm/pilot_planner.h"

namespace attune {

// Each pilot gets this of the cluster.
struct SlurmResources {
  std::string partition = {};
  std::string gres = {};        // such as "gpu:1"; empty: none
  std::string time_limit = {};  // as sbatch takes it; empty: the partition's
  int cpus = 0;                 // 0: a whole node
};
// Fails if a text is not what Slurm would take it for.
absl::Status CheckSlurmResources(const SlurmResources& resources);

struct SlurmJob {
  std::string name = {};
  std::string script = {};                  // its file, which is read now
  std::vector<std::string> arguments = {};  // of the script
  std::string folder = {};                  // that it runs in
  std::string log = {};                     // the file for all that it prints
};

// Jobs are named, and neither Slurm's ids nor whether a call was successful say what happened: only Jobs()
// does.
class SlurmCommands {
 public:
  virtual ~SlurmCommands() = default;

  // Fails if sbatch does; the job may have been submitted all the same.
  virtual absl::Status Submit(const SlurmJob& job) = 0;
  // This user's jobs that have not ended and whose names begin so.
  virtual absl::StatusOr<std::map<std::string, PilotJobState>> Jobs(std::string_view prefix) = 0;
  // Ends all jobs of this name; successful if there are none.
  virtual absl::Status Cancel(const std::string& name) = 0;
};

// Runs the programs, which are searched in PATH. Not thread safe.
class SlurmPrograms final : public SlurmCommands {
 public:
  explicit SlurmPrograms(SlurmResources resources) : resources_(std::move(resources)) {}

  absl::Status Submit(const SlurmJob& job) override;
  absl::StatusOr<std::map<std::string, PilotJobState>> Jobs(std::string_view prefix) override;
  absl::Status Cancel(const std::string& name) override;

 private:
  const SlurmResources resources_;
};

// The command that submits the job.
std::vector<std::string> SbatchCommand(const SlurmResources& resources, const SlurmJob& job);
// Reads lines "STATE NAME".
std::map<std::string, PilotJobState> ParseSqueue(std::string_view text, std::string_view prefix);

}  // namespace attune

#endif  // ATTUNE_FLEET_SLURM_SLURM_COMMANDS_H_
