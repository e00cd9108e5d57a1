// attune fleet slurm
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/common/output.h"
#include "cli/common/service_command.h"
#include "fleet/client/fleet_client.h"
#include "fleet/client/joined_fleet.h"
#include "fleet/identity/member_folders.h"
#include "fleet/slurm/pilot_controller.h"
#include "fleet/slurm/pilot_fleet.h"
#include "fleet/slurm/pilot_planner.h"
#include "fleet/slurm/pilot_spool.h"
#include "fleet/slurm/slurm_commands.h"

namespace attune {
namespace {

constexpr int kMostPilots = 10000;

struct FleetSlurmFlags {
  SlurmResources resources;
  PilotControllerOptions controller;
  std::string spool, owner;
  double poll_seconds = 5;
};

// This program's file, which the nodes are to find under the same name.
absl::StatusOr<std::string> ThisProgram() {
  std::error_code error;
  std::string path = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (error) return absl::UnavailableError(absl::StrCat("/proc/self/exe: ", error.message()));
  return path;
}

absl::Status FillIn(FleetSlurmFlags& flags, const FleetClient& fleet) {
  RETURN_IF_ERROR(CheckSlurmResources(flags.resources));
  const PilotLimits& limits = flags.controller.limits;
  if (limits.min > limits.max) return InvalidInput("--min: is more than --max, which is ", limits.max);
  if (flags.controller.keys.empty()) flags.controller.keys = {flags.resources.partition};
  if (flags.controller.program.empty()) {
    ASSIGN_OR_RETURN(flags.controller.program, ThisProgram());
  }
  if (flags.spool.empty()) {
    ASSIGN_OR_RETURN(flags.spool, DefaultSlurmFolder());
  }
  if (!flags.owner.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const FleetIdentity self, fleet.Identity());
  flags.owner = self.owner;
  return absl::OkStatus();
}

absl::Status KeepPilots(FleetSlurmFlags flags) {
  ASSIGN_OR_RETURN(const std::shared_ptr<FleetClient> client, JoinedFleet());
  RETURN_IF_ERROR(FillIn(flags, *client));
  ASSIGN_OR_RETURN(const std::unique_ptr<PilotSpool> spool, PilotSpool::Open(flags.spool));
  ServerPilotFleet fleet(
      client, {.owner = flags.owner, .keys = flags.controller.keys, .prefix = PilotPrefix(spool->tag())});
  SlurmPrograms slurm(flags.resources);
  PilotController controller(flags.controller, fleet, slurm, *spool);
  RETURN_IF_ERROR(controller.Start());
  PrintNote(absl::StrCat("pilots are named ", PilotPrefix(spool->tag()), "*; the spool is ", spool->path()));
  RepeatUntilStop(flags.poll_seconds, [&] { controller.Step(); });
  PrintNote("running pilots continue; the same command resumes with them");
  return absl::OkStatus();
}

void AddPilotFlags(CLI::App& command, FleetSlurmFlags& flags) {
  PilotLimits& limits = flags.controller.limits;
  command.add_option("--min", limits.min, "pilots that stay even if no work waits (default: 0)")
      ->check(CLI::Range(0, kMostPilots));
  command.add_option("--max", limits.max, "most pilots at a time")
      ->required()
      ->check(CLI::Range(0, kMostPilots));
  command
      .add_option("--idle-seconds", limits.idle_seconds,
                  "seconds without work after which a pilot exits (default: 60)")
      ->check(CLI::Range(1.0, 1e6));
  command
      .add_option("--key", flags.controller.keys,
                  "key to ask for the pilots by; may be repeated (default: the partition)")
      ->type_name("KEY");
  command
      .add_option("--trust", flags.controller.trusted,
                  "accept work from this owner even where a node cannot isolate it; may be repeated")
      ->type_name("OWNER");
  command.add_option("--owner", flags.owner, "owner of the pilots' devices (default: you)");
}

}  // namespace

void AddFleetSlurmCommand(CLI::App& fleet, Action& action) {
  CLI::App* command =
      fleet.add_subcommand("slurm", "Run agents as Slurm jobs while work waits for their devices");
  auto flags = std::make_shared<FleetSlurmFlags>();
  SlurmResources& resources = flags->resources;
  command->add_option("--partition", resources.partition, "partition to submit jobs to")->required();
  AddPilotFlags(*command, *flags);
  command->add_option("--gres", resources.gres, "resources of each job besides processors, such as gpu:1");
  command->add_option("--time-limit", resources.time_limit,
                      "time limit of each job, as sbatch takes it (default: the partition's)");
  command->add_option("--cpus", resources.cpus, "processors of each job (default: a node for itself)")
      ->check(CLI::Range(1, 1 << 16));
  command->add_option(
      "--spool", flags->spool,
      "a folder of your own that all nodes see (default: attune/slurm among your state files)");
  command->add_option("--program", flags->controller.program,
                      "path of attune on the nodes (default: this file)");
  command
      ->add_option("--poll-seconds", flags->poll_seconds,
                   "seconds between two looks at the fleet and at Slurm (default: 5)")
      ->check(CLI::Range(0.1, 30.0));
  command->callback([command, flags, &action] {
    LogToPeople(*command);
    action = [flags] { return KeepPilots(*flags); };
  });
}

}  // namespace attune
