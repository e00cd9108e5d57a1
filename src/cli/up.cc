// attune up, attune down
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/service_command.h"
#include "cli/stops_on_signal.h"
#include "service/client/known_servers.h"
#include "service/rest/local_tokens.h"
#include "setup/kept_login.h"
#include "setup/set_up.h"
#include "setup/supervisor.h"

namespace attune {
namespace {

struct Flags {
  Installation given;
  std::vector<CLI::Option*> settings;  // those that change an installation
  bool is_foreground = false, only_shows = false, keeps_state = false;
  std::string json;
};

absl::StatusOr<std::string> FolderOf(const Flags& flags) {
  std::string folder = flags.given.folder;
  if (folder.empty()) {
    ASSIGN_OR_RETURN(folder, DefaultInstallationFolder());
  }
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(folder, error);
  if (error) return InvalidInput(folder, ": ", error.message());
  return absolute.lexically_normal().string();
}

absl::Status Foreground(const std::string& folder) {
  std::atomic<bool> is_stopped = false;
  const StopsOnSignal stops([](void* stopped) { *static_cast<std::atomic<bool>*>(stopped) = true; },
                            &is_stopped, "\nstopping; once more ends at once\n");
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
  if (!token.empty()) json["token"] = token;
  return json;
}

// Commands that ask a server find this one by themselves from then on.
void KeepLoginOf(const Installation& installation, const std::string& token) {
  const absl::StatusOr<std::string> servers = KnownServers::DefaultPath(std::getenv);
  const absl::Status kept = servers.ok() ? KeepLogin(installation, token, *servers) : servers.status();
  PrintNote(kept.ok() ? "attune jobs and attune.Client use this server with the token from now on"
                      : absl::StrCat("the token is not kept: ", kept.message(), "; attune login ",
                                     installation.Url(), " --token keeps it"));
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
  PrintNote(absl::StrCat("for attune fleet and --on: export ATTUNE_SERVER=", installation.ServerFolder()));
  PrintNote("attune up --show says how it is; attune down ends it and removes its state");
}

absl::Status Report(const Flags& flags, const Installation& installation, const std::string& token) {
  const std::vector<ServiceReport> reports = ReportServices(installation);
  if (!flags.json.empty()) return WriteJson(ToJson(installation, reports, token), flags.json);
  PrintResult(absl::StrCat("address    ", installation.Url(), "\n"));
  if (!token.empty()) PrintResult(absl::StrCat("token      ", token, "\n"));
  PrintResult(absl::StrCat("state      ", installation.folder, "\n\n", ServicesTable(reports)));
  if (!token.empty())
    PrintNote(absl::StrCat("the token is an administrator's, is told this once and counts for ",
                           kUsualTokenDays, " days"));
  PrintHowToUse(installation);
  return absl::OkStatus();
}

absl::Status Show(const Flags& flags, const std::string& folder) {
  ASSIGN_OR_RETURN(const Installation installation, LoadInstallation(folder));
  if (!FindSupervisor(installation))
    return absl::UnavailableError(
        absl::StrCat(folder, ": is set up, but nothing runs; attune up starts it again"));
  RETURN_IF_ERROR(Report(flags, installation, ""));
  RETURN_IF_ERROR(FlushOutput());
  for (const ServiceReport& report : ReportServices(installation))
    if (!report.is_healthy)
      return absl::UnavailableError(absl::StrCat(report.state.name, ": ", report.health));
  return absl::OkStatus();
}

// The folder's installation with the settings that were given now.
absl::StatusOr<Installation> Merge(const Flags& flags, const std::string& folder) {
  Installation given = flags.given;
  given.folder = folder;
  absl::StatusOr<Installation> known = LoadInstallation(folder);
  if (absl::IsNotFound(known.status())) return given;
  RETURN_IF_ERROR(known.status());
  const auto is_given = [&](const char* name) {
    for (const CLI::Option* option : flags.settings)
      if (option->check_name(name)) return option->count() > 0;
    return false;
  };
  if (is_given("--http")) known->http = given.http;
  if (is_given("--http-tls")) known->http_tls = given.http_tls;
  if (is_given("--listen")) known->listen = given.listen;
  if (is_given("--enrolment")) known->enrolment = given.enrolment;
  if (is_given("--metrics")) known->metrics = given.metrics;
  if (is_given("--host")) known->host = given.host;
  if (is_given("--agents")) known->agents = given.agents;
  if (is_given("--key")) known->key = given.key;
  if (is_given("--trust")) known->trusted = given.trusted;
  return known;
}

absl::Status Up(Flags flags) {
  ASSIGN_OR_RETURN(const std::string folder, FolderOf(flags));
  if (flags.is_foreground) return Foreground(folder);
  if (flags.only_shows) return Show(flags, folder);
  for (std::string& file : flags.given.http_tls) file = std::filesystem::absolute(file).string();
  ASSIGN_OR_RETURN(Installation installation, Merge(flags, folder));
  if (FindSupervisor(installation)) {
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
  RETURN_IF_ERROR(FlushOutput());
  if (!token.empty()) KeepLoginOf(installation, token);
  return ForgetFirstToken(installation);
}

absl::Status Down(const Flags& flags) {
  ASSIGN_OR_RETURN(const std::string folder, FolderOf(flags));
  ASSIGN_OR_RETURN(const Installation installation, LoadInstallation(folder));
  ASSIGN_OR_RETURN(const bool was_running, StopSupervisor(installation));
  PrintNote(was_running ? "all services have ended" : "nothing was running");
  if (flags.keeps_state) {
    PrintNote(absl::StrCat("the state is kept in ", folder, "; attune up goes on with it"));
    return absl::OkStatus();
  }
  ForgetLoginOf(installation);
  RETURN_IF_ERROR(RemoveInstallation(installation));
  PrintNote(absl::StrCat(folder, ": jobs, files, tokens and credentials are removed"));
  return absl::OkStatus();
}

void AddStateOption(CLI::App& command, Flags& flags) {
  command.add_option("--state", flags.given.folder,
                     "the folder of all that it keeps (default: attune/up among the user's state files)");
}

}  // namespace

void AddUpCommand(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "up", "Set up the service on this machine: a server, an agent and a runner, which outlive the command");
  auto flags = std::make_shared<Flags>();
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
          ->add_option("--agents", given.agents,
                       "how many agents offer this machine; 0: a server alone, without a runner (default: 1)")
          ->check(CLI::Range(0, kMostAgents)),
      command->add_option("--key", given.key, "that the device can be asked for by (default: desk)"),
      command
          ->add_option("--trust", given.trusted,
                       "take work of this owner even if this machine cannot fence it in; may be repeated")
          ->type_name("OWNER")
          ->allow_extra_args(false)};
  command->add_flag("--show", flags->only_shows, "only say what runs; exit status 0 if all of it is healthy");
  command->add_flag("--foreground", flags->is_foreground,
                    "run the services of the folder until Ctrl-C or SIGTERM, for a supervisor of one's own");
  command->add_option("--json", flags->json, "write the same as JSON to this file, - for stdout");
  command->callback([command, flags, &action] {
    if (flags->is_foreground) LogToPeople(*command);
    action = [flags] { return Up(*flags); };
  });
}

void AddDownCommand(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("down", "End what attune up has started, and remove its state");
  auto flags = std::make_shared<Flags>();
  AddStateOption(*command, *flags);
  command->add_flag("--keep-state", flags->keeps_state, "keep jobs, files, tokens and credentials");
  command->callback([flags, &action] { action = [flags] { return Down(*flags); }; });
}

}  // namespace attune
