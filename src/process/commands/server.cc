// attune server, attune server token, attune server database
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/private_file.h"
#include "base/sql/sql_database.h"
#include "base/state_file.h"
#include "base/status.h"
#include "cli/common/output.h"
#include "cli/common/server_commands.h"
#include "cli/common/service_command.h"
#include "cli/common/stops_on_signal.h"
#include "cli/common/strategy_flag.h"
#include "fleet/identity/member_folders.h"
#include "fleet/server/fleet_server.h"
#include "process/commands/command.h"
#include "process/commands/server_command.h"
#include "process/commands/server_limits.h"
#include "process/server/rest_server.h"
#include "process/server/shared_server.h"
#include "service/identity/issuers_file.h"
#include "service/identity/local_tokens.h"
#include "service/queue/artifact_signer.h"
#include "service/queue/job_server.h"

namespace attune {
namespace {

struct ServerFlags {
  FleetServerOptions server;
  std::string database = {};       // a URL; empty: SQLite files among the server's state
  std::string database_file = {};  // that has the URL; empty: `database` is it
  double takeover_seconds = 10;
  JobScheduleOptions jobs;
  std::string strategy = "fair_share";
  std::vector<std::string> learn_from;  // owners of devices
  std::string http = {};                // empty: nowhere
  std::string oidc = {};                // the file of issuers; empty: none is trusted
  std::vector<std::string> http_tls;    // the files of the chain and the key; empty: nothing is encrypted
  double drain_seconds = 1;
  ServerLimitFlags limits;
  int64_t upload_days = UploadLimits().rest_days;
  bool is_in_the_clear = false;
  LocalToken token;
  bool only_if_none = false;
  std::string role = "member";
};

// Jobs come and go, and may wait for machines that are away, so no strategy will do that has one job wait for
// others.
bool IsForServers(const SchedulingStrategy& strategy) {
  return strategy.is_coordinated && !strategy.dedicates_hosts && strategy.may_start == nullptr;
}

absl::StatusOr<std::string> FolderOf(const ServerFlags& flags) {
  return flags.server.folder.empty() ? DefaultServerFolder() : flags.server.folder;
}

bool IsLoopback(std::string_view address) {
  return address.starts_with("127.") || address.starts_with("[::1]") || address.starts_with("localhost:");
}

std::string HostName() {
  constexpr size_t kMostBytes = 256;
  char name[kMostBytes] = {};
  return gethostname(name, kMostBytes - 1) == 0 ? name : "server";
}

absl::StatusOr<HttpTls> ReadTls(const std::vector<std::string>& files) {
  constexpr int64_t kMostBytes = 1 << 20;
  HttpTls tls;
  ASSIGN_OR_RETURN(tls.chain_pem, ReadFile(files[0], kMostBytes));
  ASSIGN_OR_RETURN(tls.key_pem, ReadPrivateFile(files[1], kMostBytes));
  return tls;
}

absl::StatusOr<RestServerOptions> RestOptions(const ServerFlags& flags, const std::string& folder) {
  RestServerOptions rest = {.address = flags.http, .folder = folder};
  rest.uploads.rest_days = flags.upload_days;
  RETURN_IF_ERROR(SetServerLimits(flags.limits, rest));
  if (!flags.http_tls.empty()) {
    ASSIGN_OR_RETURN(rest.tls, ReadTls(flags.http_tls));
  } else if (!IsLoopback(flags.http) && !flags.is_in_the_clear) {
    return InvalidInput(
        "--http ", flags.http,
        ": tokens would cross the network in the clear; give --http-tls, or listen on 127.0.0.1");
  }
  if (!flags.oidc.empty()) {
    ASSIGN_OR_RETURN(rest.issuers, ReadIssuersFile(flags.oidc));
  }
  rest.on_listening = [scheme = rest.tls ? "https" : "http"](const std::string& address) {
    PrintNote(absl::StrCat("REST at ", scheme, "://", address, "/v1/openapi.json"));
  };
  return rest;
}

// The text of a new token goes to stdout, where a script finds nothing else.
absl::Status PrintToken(const std::string& text) {
  PrintResult(text + "\n");
  return FlushOutput();
}

absl::Status PrintFirstToken(const SqlLocation& location) {
  ASSIGN_OR_RETURN(const std::string text,
                   MakeFirstToken(location, {.name = "first", .role = AccessRole::kAdmin}));
  if (text.empty()) return absl::OkStatus();
  PrintNote(
      absl::StrCat("the first administrator token, shown only once, counts for ", kUsualTokenDays, " days:"));
  return PrintToken(text);
}

absl::StatusOr<SqlLocation> LocationOf(const ServerFlags& flags) {
  if (!flags.database_file.empty()) {
    constexpr int64_t kMostUrlBytes = 1 << 16;
    ASSIGN_OR_RETURN(const std::string url, ReadPrivateFile(flags.database_file, kMostUrlBytes));
    return SqlLocation::Postgres(std::string(absl::StripAsciiWhitespace(url)));
  }
  if (!flags.database.empty()) return SqlLocation::Postgres(flags.database);
  ASSIGN_OR_RETURN(const std::string folder, FolderOf(flags));
  RETURN_IF_ERROR(MakeStateFolder(folder));
  return SqlLocation(folder);
}

absl::Status GiveToken(const ServerFlags& flags) {
  ASSIGN_OR_RETURN(const SqlLocation location, LocationOf(flags));
  LocalToken token = flags.token;
  ASSIGN_OR_RETURN(token.role, AccessRoleNamed(flags.role));
  ASSIGN_OR_RETURN(const std::string text,
                   flags.only_if_none ? MakeFirstToken(location, token) : MakeLocalToken(location, token));
  return text.empty() ? absl::OkStatus() : PrintToken(text);
}

absl::Status Tell(const FleetServer& server, const FleetServerOptions& options, const ServerFlags& flags) {
  PrintNote(absl::StrCat("serving at ", server.address(), ", enrolment at ", server.enrolment_address(),
                         "; its state is in ",
                         options.location->is_postgres() ? options.location->name() : options.folder));
  if (!server.metrics_address().empty())
    PrintNote(absl::StrCat("metrics at http://", server.metrics_address(), "/metrics"));
  if (!flags.http.empty()) return PrintFirstToken(*options.location);
  PrintNote("users cannot submit jobs yet: --http ADDRESS opens the REST service");
  return absl::OkStatus();
}

absl::Status ServeAlone(const ServerFlags& flags, const ServerProcessOptions& options) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ServerProcess> server, ServerProcess::Start(options));
  RETURN_IF_ERROR(Tell(server->fleet(), options.fleet, flags));
  AwaitStop();
  server->Drain();
  std::this_thread::sleep_for(std::chrono::duration<double>(flags.drain_seconds));
  return absl::OkStatus();
}

absl::Status ServeWithOthers(const ServerFlags& flags, const ServerProcessOptions& options) {
  ASSIGN_OR_RETURN(
      const std::unique_ptr<SharedServer> server,
      SharedServer::Start(
          {.server = options,
           .machine = HostName(),
           .lease = {.holder = absl::StrCat(HostName(), " ", getpid()), .seconds = flags.takeover_seconds},
           .on_serving = [&](const FleetServer& serving) { return Tell(serving, options.fleet, flags); }}));
  PrintNote(
      absl::StrCat("waiting to serve; the state of all servers is in ", options.fleet.location->name()));
  AwaitStop();
  if (server->Drain()) std::this_thread::sleep_for(std::chrono::duration<double>(flags.drain_seconds));
  return absl::OkStatus();
}

absl::Status RotateSigningKeys(const ServerFlags& flags) {
  ASSIGN_OR_RETURN(const std::string folder, FolderOf(flags));
  ASSIGN_OR_RETURN(const ArtifactSigner signer, ArtifactSigner::OpenOrCreate(folder + "/jobs"));
  RETURN_IF_ERROR(signer.Rotate());
  PrintNote("new keys sign new artifacts; GET /v1/signing-keys lists them, and the earlier ones");
  return absl::OkStatus();
}

absl::Status Serve(const ServerFlags& flags) {
  FleetServerOptions options = flags.server;
  ASSIGN_OR_RETURN(options.folder, FolderOf(flags));
  ASSIGN_OR_RETURN(options.location, LocationOf(flags));
  JobScheduleOptions jobs = flags.jobs;
  jobs.folder = options.folder + "/jobs";
  jobs.trusted_owners = {flags.learn_from.begin(), flags.learn_from.end()};
  // A runner may fetch the files of all its jobs at a time.
  FileCallLimits& calls = options.file_calls;
  calls.of_member =
      static_cast<int>(std::clamp<int64_t>(2 * jobs.jobs_at_once, calls.of_member, calls.in_all / 2));
  ASSIGN_OR_RETURN(jobs.strategy, StrategyNamed(flags.strategy));
  if (!IsForServers(*jobs.strategy))
    return InvalidInput("strategy: \"", flags.strategy,
                        "\" is for jobs that start and end together; a server has ",
                        StrategyNames(IsForServers));
  ServerProcessOptions serving = {.fleet = options, .jobs = jobs};
  if (!flags.http.empty()) {
    ASSIGN_OR_RETURN(serving.rest, RestOptions(flags, options.folder));
  }
  return options.location->is_postgres() ? ServeWithOthers(flags, serving) : ServeAlone(flags, serving);
}

void AddRotateCommand(CLI::App& server, const std::shared_ptr<ServerFlags>& flags, Action& action) {
  CLI::App* command = server.add_subcommand("rotate-signing-keys",
                                            "Sign new artifacts of jobs by new keys, one for each tenant");
  command->fallthrough();  // --state
  command->callback([flags, &action] { action = [flags] { return RotateSigningKeys(*flags); }; });
}

void AddTokenCommand(CLI::App& server, const std::shared_ptr<ServerFlags>& flags, Action& action) {
  CLI::App* command = server.add_subcommand("token", "Print a new token for REST (--http)");
  command->fallthrough();  // --state
  command->add_option("NAME", flags->token.name, "its purpose, for people")->required();
  command->add_option("--role", flags->role, "viewer, member, operator or admin (default: member)")
      ->check(CLI::IsMember({"viewer", "member", "operator", "admin"}));
  command->add_option(
      "--tenant", flags->token.tenant,
      absl::StrCat("the tenant whose jobs and files it reaches (default: ", kFirstTenant, ")"));
  command
      ->add_option("--days", flags->token.days,
                   absl::StrCat("days until it expires (default: ", kUsualTokenDays, ")"))
      ->check(CLI::Range(int64_t{1}, kMostTokenDays));
  command->add_flag("--if-none", flags->only_if_none, "do nothing if there has been a token already");
  command->callback([flags, &action] { action = [flags] { return GiveToken(*flags); }; });
}

}  // namespace

void AddServerCommand(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(kServerCommand.name, kServerCommand.help);
  auto flags = std::make_shared<ServerFlags>();
  FleetServerOptions* options = &flags->server;
  command->add_option("--state", options->folder,
                      "the folder of its state (default: attune/server among the user's state files)");
  command
      ->add_option("--database", flags->database,
                   "postgresql://USER@HOST/DATABASE: stores all lasting state; several servers may share it "
                   "(default: $ATTUNE_DATABASE, or SQLite files in --state)")
      ->envname(kDatabaseVariable);
  command
      ->add_option("--database-file", flags->database_file,
                   "a file with the URL of --database, which only you may read")
      ->type_name("FILE");
  command
      ->add_option("--takeover-seconds", flags->takeover_seconds,
                   "with --database: seconds without a sign of life after which another server takes over "
                   "(default: 10)")
      ->check(CLI::Range(0.5, 3600.0));
  command->add_option("--listen", options->listen, "address and port for members (default: 127.0.0.1:9190)");
  command->add_option("--enrolment", options->enrolment,
                      "address and port for those who are invited (default: 127.0.0.1:9191)");
  command->add_option("--host", options->host,
                      "the name or address that others reach this machine by (default: that of --listen)");
  command
      ->add_option("--lease-seconds", options->dispatcher.lease_seconds,
                   "seconds without a sign of life after which a member loses its leases (default: 15)")
      ->check(CLI::Range(0.5, 3600.0));
  command->add_option("--metrics", options->metrics,
                      "address and port of GET /metrics, /healthz and /readyz, for everyone who can reach it "
                      "(default: nowhere)");
  command
      ->add_option(
          "--drain-seconds", flags->drain_seconds,
          "seconds to report not ready, and take no new work, before the server ends on SIGTERM (default: 1)")
      ->check(CLI::Range(0.0, 3600.0));
  command
      ->add_option("--upload-days", flags->upload_days,
                   "days after which an upload that no job or model uses is removed; 0: never (default: 7)")
      ->check(CLI::Range(int64_t{0}, int64_t{36'500}));
  const auto calibrate_minutes = std::make_shared<double>(60);
  command
      ->add_option("--calibrate-minutes", *calibrate_minutes,
                   "minutes between calibrations of each device, which quarantine one that drifts; 0: never "
                   "(default: 60)")
      ->check(CLI::Range(0.0, 1e6));
  command->add_option(
      "--http", flags->http,
      "address and port where people and programs reach the service by REST (default: nowhere)");
  command
      ->add_option("--http-tls", flags->http_tls,
                   "files of the certificate chain and of its key, in PEM; without them, --http is for this "
                   "machine alone")
      ->expected(2)
      ->type_name("CHAIN KEY");
  command->add_flag("--http-in-the-clear", flags->is_in_the_clear,
                    "let --http leave this machine without encryption: for a network that a container "
                    "engine, or a proxy that ends TLS, keeps private");
  command->add_option("--oidc", flags->oidc,
                      "a file with the identity providers whose people may log in (docs/guides/tenants.md)");
  AddServerLimitOptions(*command, flags->limits);
  AddTokenCommand(*command, flags, action);
  AddServerAuditCommand(*command, [flags] { return LocationOf(*flags); }, action);
  AddServerDatabaseCommand(*command, [flags] { return LocationOf(*flags); }, action);
  AddRotateCommand(*command, flags, action);
  constexpr int64_t kMostJobs = 100'000;
  command->add_option("--strategy", flags->strategy,
                      absl::StrCat("which stage of the submitted jobs runs first: ",
                                   StrategyNames(IsForServers), " (default: fair_share)"));
  command
      ->add_option("--at-once", flags->jobs.jobs_at_once,
                   "most submitted jobs in progress at a time, for each machine (default: 16)")
      ->check(CLI::Range(int64_t{1}, kMostJobs));
  command
      ->add_option("--learn-from", flags->learn_from,
                   "owner of trusted devices: the shared cost model learns only from jobs of consenting "
                   "tenants on these devices (default: it does not learn)")
      ->type_name("OWNER")
      ->take_all();
  command->callback([command, flags, options, calibrate_minutes, &action] {
    if (!command->get_subcommands().empty()) return;
    LogToPeople(*command);
    options->dispatcher.heartbeat_seconds = options->dispatcher.lease_seconds / 3;
    options->calibrator.interval_seconds = 60 * *calibrate_minutes;
    action = [flags] { return Serve(*flags); };
  });
}

}  // namespace attune
