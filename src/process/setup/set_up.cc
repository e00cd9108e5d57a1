#include "process/setup/set_up.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <thread>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/input_file.h"
#include "base/process/pipe.h"
#include "base/sql/sql_database.h"
#include "base/state_file.h"
#include "base/status.h"
#include "process/setup/containers.h"
#include "process/setup/services.h"
#include "process/setup/supervisor.h"
#include "service/identity/local_tokens.h"

namespace attune {
namespace {

constexpr std::chrono::milliseconds kPoll(200);
constexpr double kGraceSeconds = 90;
constexpr int kMostFailures = 3;  // of one service until it is given up
constexpr int64_t kMostTokenBytes = 4096;

// The last lines that a service has printed.
std::string EndOfLog(const Installation& installation, const std::string& name) {
  if (installation.UsesContainers()) return EndOfContainerLog(installation, name);
  constexpr int64_t kBytes = 1000;
  const std::string path = absl::StrCat(installation.LogFolder(), "/", name, ".log");
  absl::StatusOr<InputFile> file = OpenInputFile(path);
  if (!file.ok()) return "";
  const int64_t offset = std::max<int64_t>(file->bytes - kBytes, 0);
  std::string text(static_cast<size_t>(file->bytes - offset), '\0');
  if (!ReadRange(*file, offset, file->bytes - offset, text.data()).ok()) return "";
  PrintedErrors printed;
  printed.Add(text);
  return absl::StrCat("; see ", path, printed.Suffix());
}

// The server would print it into its log. An empty text makes none.
absl::Status KeepFirstToken(const Installation& installation, const std::string& text) {
  if (text.empty()) return absl::OkStatus();
  return WriteStateFile(installation.FirstTokenPath(), text + "\n");
}

absl::StatusOr<std::vector<ServiceState>> StatesOf(const Installation& installation) {
  if (installation.UsesContainers()) return ContainerStates(installation);
  if (!FindSupervisor(installation)) return std::vector<ServiceState>();
  return ReadServiceStates(installation);
}

// Fails with the end of its log once a service has failed too often. Then nothing will become healthy.
absl::Status CheckRestarts(const Installation& installation, const std::vector<ServiceReport>& reports) {
  for (const ServiceReport& report : reports) {
    const ServiceState& state = report.state;
    if (state.restarts >= kMostFailures)
      return absl::UnavailableError(absl::StrCat(state.name, " does not stay up (", state.end, ")",
                                                 EndOfLog(installation, state.name)));
  }
  return absl::OkStatus();
}

enum class Awaited : uint8_t { kServer, kAll };

// `check` fails when nothing will become healthy any more.
absl::Status AwaitHealth(const Installation& installation, Awaited awaited,
                         const std::function<absl::Status()>& check, const SetUpOptions& options) {
  const Stopwatch since_start;
  while (true) {
    RETURN_IF_ERROR(check());
    ASSIGN_OR_RETURN(std::vector<ServiceReport> reports, ReportServices(installation));
    RETURN_IF_ERROR(CheckRestarts(installation, reports));
    if (awaited == Awaited::kServer && reports.size() > 1) reports.resize(1);
    const auto sick =
        std::ranges::find_if(reports, [](const ServiceReport& report) { return !report.is_healthy; });
    if (!reports.empty() && sick == reports.end()) return absl::OkStatus();
    const std::string name = reports.empty() ? "supervisor" : sick->state.name;
    if (since_start.Seconds() > options.seconds)
      return absl::DeadlineExceededError(absl::StrCat(
          name, " is not healthy after ", options.seconds, " s",
          reports.empty() ? "" : absl::StrCat(" (", sick->health, ")"), EndOfLog(installation, name)));
    options.show(absl::StrCat("waiting for ", name));
    std::this_thread::sleep_for(kPoll);
  }
}

absl::Status SetUpProcesses(const Installation& installation, const SetUpOptions& options) {
  ASSIGN_OR_RETURN(const SqlLocation location, installation.Location());
  ASSIGN_OR_RETURN(const std::string token,
                   MakeFirstToken(location, {.name = "first", .role = AccessRole::kAdmin}));
  RETURN_IF_ERROR(KeepFirstToken(installation, token));
  ASSIGN_OR_RETURN(const ProcessIdentity supervisor, StartSupervisor(installation));
  const auto check = [&]() -> absl::Status {
    RETURN_IF_ERROR(CheckClock(installation));
    if (IdentityOf(supervisor.pid) == supervisor) return absl::OkStatus();
    return absl::UnavailableError(absl::StrCat("the process that watches over the services has ended",
                                               EndOfLog(installation, "supervisor")));
  };
  absl::Status healthy = AwaitHealth(installation, Awaited::kAll, check, options);
  if (!healthy.ok()) EndProcess(supervisor, kGraceSeconds).IgnoreError();
  return healthy;
}

absl::Status StartContainers(const Installation& installation, const SetUpOptions& options) {
  const auto check = [] { return absl::OkStatus(); };  // nothing of ours watches over them
  RETURN_IF_ERROR(StartServerContainer(installation));
  RETURN_IF_ERROR(AwaitHealth(installation, Awaited::kServer, check, options));
  RETURN_IF_ERROR(StartMemberContainers(installation));
  return AwaitHealth(installation, Awaited::kAll, check, options);
}

absl::Status SetUpContainers(const Installation& installation, const SetUpOptions& options) {
  RETURN_IF_ERROR(MakeNetworkAndVolumes(installation));
  ASSIGN_OR_RETURN(const std::string token, MakeFirstTokenInContainer(installation));
  RETURN_IF_ERROR(KeepFirstToken(installation, token));
  absl::Status healthy = StartContainers(installation, options);
  if (!healthy.ok()) RemoveContainers(installation).status().IgnoreError();
  return healthy;
}

}  // namespace

absl::StatusOr<bool> ServicesRun(const Installation& installation) {
  if (!installation.UsesContainers()) return FindSupervisor(installation).has_value();
  ASSIGN_OR_RETURN(const std::vector<ServiceState> states, ContainerStates(installation));
  const bool is_complete = std::ranges::none_of(
      states, [](const ServiceState& state) { return state.pid == 0 && state.end.empty(); });
  return is_complete && !states.empty() && states.front().pid != 0;
}

absl::StatusOr<std::vector<ServiceReport>> ReportServices(const Installation& installation) {
  ASSIGN_OR_RETURN(const std::vector<ServiceState> states, StatesOf(installation));
  std::vector<ServiceReport> reports;
  bool server_is_healthy = false;
  for (const ServiceState& state : states) {
    ServiceReport report = {.state = state};
    if (state.pid == 0) {
      report.health =
          state.end.empty() ? "starts once the server answers" : absl::StrCat("ended: ", state.end);
    } else if (state.name != "server" && !server_is_healthy) {
      report.health = "waits for the server";
    } else {
      const absl::StatusOr<std::string> health = ServiceHealth(installation, state.name);
      report.is_healthy = health.ok();
      report.health = health.ok() ? *health : std::string(health.status().message());
    }
    if (state.name == "server") server_is_healthy = report.is_healthy;
    reports.push_back(std::move(report));
  }
  return reports;
}

absl::Status SetUp(Installation& installation, const SetUpOptions& options) {
  if (installation.UsesContainers()) {
    // Some may be left after a restart of the machine, or after an interrupt.
    RETURN_IF_ERROR(RemoveContainers(installation).status());
    RETURN_IF_ERROR(CheckImages(installation));
  }
  RETURN_IF_ERROR(ChoosePorts(installation));
  RETURN_IF_ERROR(SaveInstallation(installation));
  return installation.UsesContainers() ? SetUpContainers(installation, options)
                                       : SetUpProcesses(installation, options);
}

absl::StatusOr<bool> StopServices(const Installation& installation) {
  return installation.UsesContainers() ? RemoveContainers(installation) : StopSupervisor(installation);
}

absl::Status RemoveState(const Installation& installation) {
  if (installation.UsesContainers()) {
    ASSIGN_OR_RETURN(const std::vector<std::string> volumes, ListVolumes(installation));
    RETURN_IF_ERROR(RemoveVolumes(installation, volumes));
  }
  return RemoveInstallation(installation);
}

absl::StatusOr<std::string> ReadFirstToken(const Installation& installation) {
  absl::StatusOr<std::string> text = ReadStateFile(installation.FirstTokenPath(), kMostTokenBytes);
  if (absl::IsNotFound(text.status())) return "";
  RETURN_IF_ERROR(text.status());
  return std::string(absl::StripAsciiWhitespace(*text));
}

absl::Status ForgetFirstToken(const Installation& installation) {
  std::error_code error;
  std::filesystem::remove(installation.FirstTokenPath(), error);
  if (!error) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(installation.FirstTokenPath(), ": cannot be removed: ", error.message()));
}

}  // namespace attune
