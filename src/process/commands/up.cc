// attune up, attune down
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/sql/sql_database.h"
#include "base/status.h"
#include "cli/common/output.h"
#include "cli/common/server_commands.h"
#include "cli/common/service_command.h"
#include "cli/common/stops_on_signal.h"
#include "process/commands/command.h"
#include "process/server/server_schemas.h"
#include "process/setup/container_engine.h"
#include "process/setup/container_plan.h"
#include "process/setup/kept_login.h"
#include "process/setup/set_up.h"
#include "process/setup/supervisor.h"
#include "service/client/known_servers.h"
#include "service/identity/local_tokens.h"

namespace attune {
namespace {

struct UpFlags {
  Installation given;
  std::vector<CLI::Option*> settings;  // those that change an installation
  std::string containers;              // "auto", "podman" or "docker"; empty: not said
  bool is_foreground = false, only_shows = false, keeps_state = false, drops_tables = false;
  std::string json;

  // Whether the user has given this setting.
  bool Has(const char* name) const {
    for (const CLI::Option* option : settings)
      if (option->check_name(name)) return option->count() > 0;
    return false;
  }
};

// Containers have a network of their own, and nothing of it but --http and --metrics is reached from outside.
absl::Status CheckForContainers(const UpFlags& flags) {
  if (!flags.given.database.empty())
    return InvalidInput(
        "--database (or $ATTUNE_DATABASE): containers keep their state in volumes; leave it or --containers "
        "out");
  for (const char* name : {"--http-tls", "--listen", "--enrolment", "--host"}) {
    if (flags.Has(name))
      return InvalidInput(name,
                          ": containers are reached from this machine alone; leave it or --containers out");
  }
  for (const auto& [name, address] :
       {std::pair("--http", flags.given.http), std::pair("--metrics", flags.given.metrics)}) {
    if (!address.starts_with("127.") && !address.starts_with("[::1]:"))
      return InvalidInput(name, " ", address,
                          ": containers are reached from this machine alone; give a port of 127.0.0.1");
  }
  return absl::OkStatus();
}

absl::Status Foreground(const std::string& folder) {
  std::atomic<bool> is_stopped = false;
  const StopsOnSignal stops([](void* stopped) { *static_cast<std::atomic<bool>*>(stopped) = true; },
                            &is_stopped, "\nstopping; interrupt again to exit at once\n");
  return Supervise(folder, is_stopped);
}

std::string ServicesTable(const std::vector<ServiceReport>& reports) {
  std::vector<std::vector<std::string>> rows = {{"service", "process", "restarts", "health"}};
  for (const ServiceReport& report : reports) {
    rows.push_back({report.state.name, report.state.pid == 0 ? "-" : absl::StrCat(report.state.pid),
                    absl::StrCat(report.state.restarts), Printable(report.health)});
  }
  return FormatTable(rows, {false, true, true, false});
}

// Without its password; empty if the state is in SQLite files.
std::string DatabaseName(const Installation& installation) {
  const absl::StatusOr<SqlLocation> location = installation.Location();
  return location.ok() && location->is_postgres() ? location->name() : "";
}

Json ToJson(const Installation& installation, const std::vector<ServiceReport>& reports,
            const std::string& token) {
  Json services = Json::array();
  for (const ServiceReport& report : reports) {
    services.push_back({{"name", report.state.name},
                        {"pid", report.state.pid},
                        {"restarts", report.state.restarts},
                        {"is_healthy", report.is_healthy},
                        {"health", report.health}});
  }
  Json json = {{"address", installation.Url()},
               {"key", installation.key},
               {"state", installation.folder},
               {"metrics", installation.metrics},
               {"services", services}};
  if (installation.UsesContainers())
    json["containers"] = {{"engine", installation.engine}, {"name", ContainerPrefix(installation)}};
  if (const std::string database = DatabaseName(installation); !database.empty()) json["database"] = database;
  if (!token.empty()) json["token"] = token;
  return json;
}

// Commands that ask a server find this one by themselves from then on.
void KeepLoginOf(const Installation& installation, const std::string& token) {
  const absl::StatusOr<std::string> servers = KnownServers::DefaultPath(std::getenv);
  const absl::Status kept = servers.ok() ? KeepLogin(installation, token, *servers) : servers.status();
  PrintNote(kept.ok() ? "attune jobs and attune.Client use this server with the token from now on"
                      : absl::StrCat("the token is not saved: ", kept.message(), "; attune login ",
                                     installation.Url(), " --token saves it"));
}

void ForgetLoginOf(const Installation& installation) {
  const absl::StatusOr<std::string> servers = KnownServers::DefaultPath(std::getenv);
  const absl::Status forgotten = servers.ok() ? ForgetLogin(installation, *servers) : servers.status();
  if (!forgotten.ok())
    PrintNote(absl::StrCat("a login may be left: ", forgotten.message(), "; attune logout ",
                           installation.Url(), " forgets it"));
}

// The environment's names let all other commands find the server.
void PrintHowToUse(const Installation& installation) {
  PrintNote(
      installation.UsesContainers()
          ? absl::StrCat("for attune fleet: ", installation.engine, " exec ",
                         ContainerName(installation, "server"), " attune fleet list")
          : absl::StrCat("for attune fleet and --on: export ATTUNE_SERVER=", installation.ServerFolder()));
  PrintNote("attune up --show says how it is; attune down ends it and removes its state");
}

absl::Status Report(const UpFlags& flags, const Installation& installation, const std::string& token) {
  ASSIGN_OR_RETURN(const std::vector<ServiceReport> reports, ReportServices(installation));
  if (!flags.json.empty()) return WriteJson(ToJson(installation, reports, token), flags.json);
  PrintResult(absl::StrCat("address    ", installation.Url(), "\n"));
  if (!token.empty()) PrintResult(absl::StrCat("token      ", token, "\n"));
  PrintResult(absl::StrCat("state      ", installation.folder, "\n"));
  if (const std::string database = DatabaseName(installation); !database.empty())
    PrintResult(absl::StrCat("database   ", database, "\n"));
  PrintResult(absl::StrCat("\n", ServicesTable(reports)));
  if (!token.empty())
    PrintNote(absl::StrCat("an administrator token, shown only once, counts for ", kUsualTokenDays, " days"));
  PrintHowToUse(installation);
  return absl::OkStatus();
}

absl::Status Show(const UpFlags& flags, const std::string& folder) {
  ASSIGN_OR_RETURN(const Installation installation, LoadInstallation(folder));
  ASSIGN_OR_RETURN(const bool is_running, ServicesRun(installation));
  if (!is_running)
    return absl::UnavailableError(
        absl::StrCat(folder, ": is set up, but nothing runs; attune up starts it again"));
  RETURN_IF_ERROR(Report(flags, installation, ""));
  RETURN_IF_ERROR(FlushOutput());
  ASSIGN_OR_RETURN(const std::vector<ServiceReport> reports, ReportServices(installation));
  for (const ServiceReport& report : reports)
    if (!report.is_healthy)
      return absl::UnavailableError(absl::StrCat(report.state.name, ": ", report.health));
  return absl::OkStatus();
}

// Containers as they were asked for: by which engine, from which images, for whose work.
absl::Status ChooseContainers(const UpFlags& flags, Installation& installation) {
  RETURN_IF_ERROR(CheckForContainers(flags));
  ASSIGN_OR_RETURN(installation.engine, FindContainerEngine(flags.containers));
  if (installation.images.empty()) installation.images = UsualImages(installation.engine, ATTUNE_VERSION);
  // A container has no fences of its own around what it measures.
  if (installation.trusted.empty()) installation.trusted = {kFirstTenant};
  return absl::OkStatus();
}

// The folder's installation with the settings that were given now.
absl::StatusOr<Installation> Merge(const UpFlags& flags, const std::string& folder) {
  Installation given = flags.given;
  given.folder = folder;
  absl::StatusOr<Installation> known = LoadInstallation(folder);
  const bool is_new = absl::IsNotFound(known.status());
  if (is_new && !flags.containers.empty()) RETURN_IF_ERROR(ChooseContainers(flags, given));
  if (!is_new) RETURN_IF_ERROR(known.status());
  if (flags.Has("--images") && !(is_new ? given : *known).UsesContainers())
    return InvalidInput("--images: are those of containers; give --containers too");
  if (is_new) return given;
  const bool is_same =
      flags.containers == known->engine || (flags.containers == "auto" && known->UsesContainers());
  if (!flags.containers.empty() && !is_same)
    return InvalidInput(folder, ": holds a service that runs ",
                        known->UsesContainers() ? absl::StrCat("by ", known->engine) : "as processes",
                        "; attune down removes it, or --state names another folder");
  if (known->UsesContainers()) RETURN_IF_ERROR(CheckForContainers(flags));
  const auto is_given = [&](const char* name) { return flags.Has(name); };
  if (is_given("--database") && !given.database.empty()) {
    std::error_code error;
    if (known->database.empty() && std::filesystem::exists(known->ServerFolder() + "/fleet.db", error))
      return absl::FailedPreconditionError(absl::StrCat(
          folder,
          ": has its state in SQLite files, and not in --database (or $ATTUNE_DATABASE); name another folder "
          "with --state, or move it by attune backup and attune restore --database"));
    known->database = given.database;
  }
  if (is_given("--http")) known->http = given.http;
  if (is_given("--http-tls")) known->http_tls = given.http_tls;
  if (is_given("--listen")) known->listen = given.listen;
  if (is_given("--enrolment")) known->enrolment = given.enrolment;
  if (is_given("--metrics")) known->metrics = given.metrics;
  if (is_given("--host")) known->host = given.host;
  if (is_given("--agents")) known->agents = given.agents;
  if (is_given("--key")) known->key = given.key;
  if (is_given("--trust")) known->trusted = given.trusted;
  if (is_given("--images")) known->images = given.images;
  return known;
}

absl::Status Up(UpFlags flags) {
  ASSIGN_OR_RETURN(const std::string folder, InstallationFolder(flags.given.folder));
  if (flags.is_foreground) return Foreground(folder);
  if (flags.only_shows) return Show(flags, folder);
  for (std::string& file : flags.given.http_tls) file = std::filesystem::absolute(file).string();
  const bool is_new = absl::IsNotFound(LoadInstallation(folder).status());
  ASSIGN_OR_RETURN(Installation installation, Merge(flags, folder));
  ASSIGN_OR_RETURN(const bool is_running, ServicesRun(installation));
  if (is_running) {
    ASSIGN_OR_RETURN(const Installation running, LoadInstallation(folder));
    if (installation != running)
      PrintNote("it runs already, with other settings; attune down --keep-state, and then attune up again");
    installation = running;
  } else {
    Progress progress;
    RETURN_IF_ERROR(SetUp(installation, {.show = [&](const std::string& stage) { progress.Show(stage); }}));
  }
  ASSIGN_OR_RETURN(const std::string token, ReadFirstToken(installation));
  RETURN_IF_ERROR(Report(flags, installation, token));
  if (is_new && token.empty() && !installation.database.empty())
    PrintNote(
        absl::StrCat("the database has tokens already, which count; a new one: attune server token NAME "
                     "--role admin --database-file ",
                     installation.DatabasePath()));
  RETURN_IF_ERROR(FlushOutput());
  if (!token.empty()) KeepLoginOf(installation, token);
  return ForgetFirstToken(installation);
}

absl::Status Down(const UpFlags& flags) {
  ASSIGN_OR_RETURN(const std::string folder, InstallationFolder(flags.given.folder));
  ASSIGN_OR_RETURN(const Installation installation, LoadInstallation(folder));
  ASSIGN_OR_RETURN(const bool was_running, StopServices(installation));
  PrintNote(was_running ? "all services have ended" : "nothing was running");
  if (flags.keeps_state) {
    const std::string where = installation.UsesContainers()
                                  ? absl::StrCat("volumes of ", installation.engine, " and in ", folder)
                                  : folder;
    PrintNote(absl::StrCat("the state is kept in ", where, "; attune up resumes it"));
    return absl::OkStatus();
  }
  ForgetLoginOf(installation);
  const std::string database = DatabaseName(installation);
  if (flags.drops_tables && !database.empty()) {
    ASSIGN_OR_RETURN(const SqlLocation location, installation.Location());
    RETURN_IF_ERROR(RemoveStores(location));
  }
  RETURN_IF_ERROR(RemoveState(installation));
  const bool has_tables = !database.empty() && !flags.drops_tables;
  PrintNote(absl::StrCat(folder,
                         has_tables ? ": is removed" : ": jobs, files, tokens and credentials are removed"));
  if (has_tables)
    PrintNote(absl::StrCat(database,
                           ": keeps jobs, files and tokens; attune up --database finds them again, and "
                           "attune down --drop-tables removes them"));
  return absl::OkStatus();
}

void AddStateOption(CLI::App& command, UpFlags& flags) {
  command.add_option("--state", flags.given.folder,
                     "the folder of all its state (default: attune/up among the user's state files)");
}

}  // namespace

void AddUpCommand(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(kUpCommand.name, kUpCommand.help);
  auto flags = std::make_shared<UpFlags>();
  Installation& given = flags->given;
  AddStateOption(*command, *flags);
  flags->settings = {
      command->add_option("--http", given.http,
                          "address and port for people and programs (default: 127.0.0.1:9193)"),
      command
          ->add_option("--http-tls", given.http_tls,
                       "files of the certificate chain and of its key, in PEM; without them, --http is for "
                       "this machine alone")
          ->expected(2)
          ->type_name("CHAIN KEY"),
      command->add_option("--listen", given.listen,
                          "address and port for the fleet's members (default: 127.0.0.1:9190)"),
      command->add_option("--enrolment", given.enrolment,
                          "address and port for those who are invited (default: 127.0.0.1:9191)"),
      command->add_option("--metrics", given.metrics,
                          "address and port of metrics and health (default: 127.0.0.1:9192)"),
      command->add_option(
          "--host", given.host,
          "the name or address that others reach this machine by (default: that of --listen)"),
      command
          ->add_option(
              "--agents", given.agents,
              "number of agents that offer this machine; 0: only a server, without a runner (default: 1)")
          ->check(CLI::Range(0, kMostAgents)),
      command->add_option("--key", given.key, "key to ask for the device by (default: desk)"),
      command
          ->add_option("--database", given.database,
                       "postgresql://USER@HOST/DATABASE: holds jobs, files and tokens, which outlast attune "
                       "down (default: $ATTUNE_DATABASE, or SQLite files in --state)")
          ->envname(kDatabaseVariable),
      command
          ->add_option("--trust", given.trusted,
                       "accept work from this owner even if this machine cannot isolate it; may be repeated")
          ->type_name("OWNER")
          ->allow_extra_args(false),
      command
          ->add_option("--images", given.images,
                       "with --containers: their images, with {} for compiler, agent and server (default: "
                       "those of ./do images, attune-{}:" ATTUNE_VERSION ")")
          ->type_name("NAME")};
  command
      ->add_option(
          "--containers", flags->containers,
          "run the services in containers, by podman or docker; without a name, by the first that is there")
      ->expected(0, 1)
      ->default_str("auto")
      ->check(CLI::IsMember({"auto", "podman", "docker"}))
      ->type_name("[ENGINE]");
  command->add_flag("--show", flags->only_shows,
                    "only show what runs; exit status 0 if all of it is healthy");
  command->add_flag("--foreground", flags->is_foreground,
                    "run the services of the folder until Ctrl-C or SIGTERM, for your own supervisor");
  command->add_option("--json", flags->json, "write the same as JSON to this file, - for stdout");
  command->callback([command, flags, &action] {
    if (flags->is_foreground) LogToPeople(*command);
    action = [flags] { return Up(*flags); };
  });
}

void AddDownCommand(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(kDownCommand.name, kDownCommand.help);
  auto flags = std::make_shared<UpFlags>();
  AddStateOption(*command, *flags);
  CLI::Option* keep =
      command->add_flag("--keep-state", flags->keeps_state, "keep jobs, files, tokens and credentials");
  command
      ->add_flag("--drop-tables", flags->drops_tables,
                 "remove jobs, files and tokens from the PostgreSQL database of attune up, too")
      ->excludes(keep);
  command->callback([flags, &action] { action = [flags] { return Down(*flags); }; });
}

}  // namespace attune
