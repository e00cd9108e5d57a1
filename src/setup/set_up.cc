#include "setup/set_up.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <system_error>
#include <thread>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/clock.h"
#include "base/input_file.h"
#include "base/private_file.h"
#include "base/process/pipe.h"
#include "base/sql/sql_database.h"
#include "base/status.h"
#include "service/rest/local_tokens.h"
#include "setup/services.h"
#include "setup/supervisor.h"

namespace attune {
namespace {

constexpr std::chrono::milliseconds kPoll(200);
constexpr double kGraceSeconds = 90;
constexpr int kMostFailures = 3;  // of one service until it is given up
constexpr int64_t kMostTokenBytes = 4096;

// The last lines that a service has printed.
std::string EndOfLog(const Installation& installation, const std::string& name) {
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

// The server would print it into its log.
absl::Status MakeFirstTokenFile(const Installation& installation) {
  ASSIGN_OR_RETURN(const std::string text, MakeFirstToken(SqlLocation(installation.ServerFolder()),
                                                          {.name = "first", .role = AccessRole::kAdmin}));
  if (text.empty()) return absl::OkStatus();
  return WritePrivateFile(installation.FirstTokenPath(), text + "\n");
}

// Fails with the end of its log once a service has failed too often. Then nothing will become healthy.
absl::Status CheckAlive(const Installation& installation, const ProcessIdentity& supervisor) {
  if (IdentityOf(supervisor.pid) != supervisor)
    return absl::UnavailableError(absl::StrCat("the process that watches over the services has ended",
                                               EndOfLog(installation, "supervisor")));
  for (const ServiceState& state : ReadServiceStates(installation)) {
    if (state.restarts >= kMostFailures)
      return absl::UnavailableError(absl::StrCat(state.name, " does not stay up (", state.end, ")",
                                                 EndOfLog(installation, state.name)));
  }
  return absl::OkStatus();
}

absl::Status AwaitHealth(const Installation& installation, const ProcessIdentity& supervisor,
                         const SetUpOptions& options) {
  const Stopwatch since_start;
  while (true) {
    RETURN_IF_ERROR(CheckAlive(installation, supervisor));
    const std::vector<ServiceReport> reports = ReportServices(installation);
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

}  // namespace

std::vector<ServiceReport> ReportServices(const Installation& installation) {
  std::vector<ServiceReport> reports;
  if (!FindSupervisor(installation)) return reports;
  bool server_is_healthy = false;
  for (const ServiceState& state : ReadServiceStates(installation)) {
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
  RETURN_IF_ERROR(ChoosePorts(installation));
  RETURN_IF_ERROR(SaveInstallation(installation));
  RETURN_IF_ERROR(MakeFirstTokenFile(installation));
  ASSIGN_OR_RETURN(const ProcessIdentity supervisor, StartSupervisor(installation));
  absl::Status healthy = AwaitHealth(installation, supervisor, options);
  if (!healthy.ok()) EndProcess(supervisor, kGraceSeconds).IgnoreError();
  return healthy;
}

absl::StatusOr<std::string> ReadFirstToken(const Installation& installation) {
  absl::StatusOr<std::string> text = ReadPrivateFile(installation.FirstTokenPath(), kMostTokenBytes);
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
