// attune server
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/service_command.h"
#include "cli/stops_on_signal.h"
#include "cli/strategy_flag.h"
#include "fleet/identity/member_folders.h"
#include "fleet/server/fleet_server.h"
#include "service/server/job_server.h"

namespace attune {
namespace {

struct Flags {
  FleetServerOptions server;
  JobScheduleOptions jobs;
  std::string strategy = "fair_share";
};

// Jobs come and go, and may wait for machines that are away, so no strategy will do that has one job wait for
// others.
bool IsForServers(const SchedulingStrategy& strategy) {
  return strategy.is_coordinated && !strategy.dedicates_hosts && strategy.may_start == nullptr;
}

absl::Status Serve(const Flags& flags) {
  FleetServerOptions options = flags.server;
  if (options.folder.empty()) {
    ASSIGN_OR_RETURN(options.folder, DefaultServerFolder());
  }
  JobScheduleOptions jobs = flags.jobs;
  jobs.folder = options.folder + "/jobs";
  ASSIGN_OR_RETURN(jobs.strategy, StrategyNamed(flags.strategy));
  if (!IsForServers(*jobs.strategy))
    return InvalidInput("strategy: \"", flags.strategy,
                        "\" is for jobs that begin and end together; a server has ",
                        StrategyNames(IsForServers));
  options.extension = [jobs](const FleetServerParts& parts) { return MakeJobServer(jobs, parts); };
  ASSIGN_OR_RETURN(const std::unique_ptr<FleetServer> server, FleetServer::Start(options));
  PrintNote(absl::StrCat("serving at ", server->address(), ", enrolment at ", server->enrolment_address(),
                         "; its state is in ", options.folder));
  if (!server->metrics_address().empty())
    PrintNote(absl::StrCat("metrics at http://", server->metrics_address(), "/metrics"));
  AwaitStop();
  return absl::OkStatus();
}

}  // namespace

void AddServerCommand(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("server", "Serve a fleet: give its devices to those who ask for them");
  auto flags = std::make_shared<Flags>();
  FleetServerOptions* options = &flags->server;
  command->add_option("--state", options->folder,
                      "the folder of its state (default: attune/server among the user's state files)");
  command->add_option("--listen", options->listen, "address and port for members (default: 127.0.0.1:9190)");
  command->add_option("--enrolment", options->enrolment,
                      "address and port for those who are invited (default: 127.0.0.1:9191)");
  command->add_option("--host", options->host,
                      "the name or address that others reach this machine by (default: that of --listen)");
  command
      ->add_option("--lease-seconds", options->dispatcher.lease_seconds,
                   "a device that gives no sign of life for so long is given to somebody else (default: 15)")
      ->check(CLI::Range(0.5, 3600.0));
  command->add_option("--metrics", options->metrics,
                      "address and port where GET /metrics, /healthz and /readyz are answered to everyone "
                      "who can reach it (default: nowhere)");
  const auto calibrate_minutes = std::make_shared<double>(60);
  command
      ->add_option("--calibrate-minutes", *calibrate_minutes,
                   "calibrate each device so often, and quarantine it once it drifts; 0: never (default: 60)")
      ->check(CLI::Range(0.0, 1e6));
  constexpr int64_t kMostJobs = 100'000;
  command->add_option("--strategy", flags->strategy,
                      absl::StrCat("which stage of the submitted jobs goes first: ",
                                   StrategyNames(IsForServers), " (default: fair_share)"));
  command
      ->add_option("--at-once", flags->jobs.jobs_at_once,
                   "submitted jobs that have begun at a time, for each machine (default: 16)")
      ->check(CLI::Range(int64_t{1}, kMostJobs));
  command->callback([command, flags, options, calibrate_minutes, &action] {
    LogToPeople(*command);
    options->dispatcher.heartbeat_seconds = options->dispatcher.lease_seconds / 3;
    options->calibrator.interval_seconds = 60 * *calibrate_minutes;
    action = [flags] { return Serve(*flags); };
  });
}

}  // namespace attune
