#include "process/setup/supervisor.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/json_numbers.h"
#include "base/log.h"
#include "base/output_file.h"
#include "base/process/launch.h"
#include "base/sql/sql_database.h"
#include "base/sqlite/active_lock.h"
#include "base/state_file.h"
#include "base/status.h"
#include "fleet/client/health.h"
#include "nlohmann/json.hpp"
#include "process/setup/log_file.h"
#include "process/setup/services.h"

namespace attune {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::chrono::milliseconds kTick(100);
constexpr double kGraceSeconds = 20, kSupervisorGraceSeconds = 90;
constexpr int64_t kMostStatesBytes = 1 << 20;

std::string IdentityPath(const Installation& installation) {
  return installation.folder + "/supervisor.json";
}
std::string StatesPath(const Installation& installation) { return installation.folder + "/services.json"; }
std::string SupervisorLog(const Installation& installation) {
  return installation.LogFolder() + "/supervisor.log";
}

// No other process supervises while it is held.
absl::StatusOr<FileDescriptor> LockInstallation(const Installation& installation) {
  return LockActive(installation.folder + "/up", "supervisor");
}

class Supervisor {
 public:
  explicit Supervisor(const Installation& installation)
      : installation_(installation), server_(ServerProgram(installation)) {
    for (ServiceProgram& program : MemberPrograms(installation)) members_.emplace_back(std::move(program));
  }
  ~Supervisor() {
    // Members first, so that they need not wait for a server that is gone.
    for (SupervisedService& member : members_) member.Stop(kGraceSeconds);
    server_.Stop(kGraceSeconds);
    WriteStates();
  }
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  void Tick() {
    TurnLog(SupervisorLog(installation_));
    server_.Tick();
    // They need its answers for their first steps alone; afterwards they wait for it by themselves.
    server_has_answered_ = server_has_answered_ || ServerHealth(installation_.metrics).ok();
    if (server_has_answered_)
      for (SupervisedService& member : members_) member.Tick();
    WriteStates();
  }

 private:
  void WriteStates() {
    std::vector<ServiceState> states = {server_.state()};
    for (const SupervisedService& member : members_) states.push_back(member.state());
    if (states == written_) return;
    Json json = Json::array();
    for (const ServiceState& state : states) {
      json.push_back({{"name", state.name},
                      {"pid", state.pid},
                      {"restarts", state.restarts},
                      {"end", state.end},
                      {"since_ms", state.since_ms}});
    }
    const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    const absl::Status status = WriteStateFile(StatesPath(installation_), text);
    if (!status.ok()) Log(LogLevel::kWarning, "states are not written", "reason", status.message());
    written_ = std::move(states);
  }

  const Installation installation_;
  SupervisedService server_;
  std::vector<SupervisedService> members_;
  bool server_has_answered_ = false;
  std::vector<ServiceState> written_;
};

// Becomes a process that has nothing to do with this one's terminal.
absl::StatusOr<pid_t> Spawn(std::vector<std::string> arguments, const std::string& log) {
  RETURN_IF_ERROR(CheckStateFile(log));
  ASSIGN_OR_RETURN(const FileDescriptor output, OpenToAppend(log));
  const std::vector<char*> pointers = ArgumentPointers(arguments);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output.get(), STDERR_FILENO);
  posix_spawn_file_actions_addchdir_np(&actions, "/");
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, "/proc/self/exe", &actions, &attributes, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0)
    return absl::ResourceExhaustedError(absl::StrCat("attune up: cannot be started: ", std::strerror(error)));
  return pid;
}

}  // namespace

absl::Status Supervise(const std::string& folder, const std::atomic<bool>& is_stopped) {
  ASSIGN_OR_RETURN(const Installation installation, LoadInstallation(folder));
  if (installation.UsesContainers())
    return absl::FailedPreconditionError(absl::StrCat(folder, ": its services are containers, which ",
                                                      installation.engine, " runs and starts again"));
  ASSIGN_OR_RETURN(const FileDescriptor lock, LockInstallation(installation));
  if (lock.get() < 0)
    return absl::FailedPreconditionError(absl::StrCat(folder, ": another process runs these services"));
  const std::optional<ProcessIdentity> self = IdentityOf(getpid());
  if (!self) return absl::FailedPreconditionError("/proc cannot be read");
  RETURN_IF_ERROR(MakeStateFolder(installation.LogFolder()));
  RETURN_IF_ERROR(SaveIdentity(IdentityPath(installation), *self));
  // The installation says where the state is, and members must not know it.
  unsetenv(kDatabaseVariable);
  Supervisor supervisor(installation);
  while (!is_stopped) {
    supervisor.Tick();
    std::this_thread::sleep_for(kTick);
  }
  return absl::OkStatus();
}

std::optional<ProcessIdentity> FindSupervisor(const Installation& installation) {
  std::optional<ProcessIdentity> identity = LoadIdentity(IdentityPath(installation));
  if (!identity || IdentityOf(identity->pid) != identity) return std::nullopt;
  return identity;
}

absl::StatusOr<ProcessIdentity> StartSupervisor(const Installation& installation) {
  RETURN_IF_ERROR(MakeStateFolder(installation.LogFolder()));
  std::error_code ignored;  // those of an earlier one are over
  std::filesystem::remove(StatesPath(installation), ignored);
  ASSIGN_OR_RETURN(const pid_t pid, Spawn({"attune", "up", "--foreground", "--state", installation.folder},
                                          SupervisorLog(installation)));
  std::optional<ProcessIdentity> identity = IdentityOf(pid);
  if (!identity)
    return absl::UnavailableError(
        absl::StrCat("attune up: ended at once; ", SupervisorLog(installation), " says why"));
  return *std::move(identity);
}

absl::StatusOr<bool> StopSupervisor(const Installation& installation) {
  const std::optional<ProcessIdentity> identity = FindSupervisor(installation);
  if (!identity) return false;
  return EndProcess(*identity, kSupervisorGraceSeconds);
}

std::vector<ServiceState> ReadServiceStates(const Installation& installation) {
  std::vector<ServiceState> states;
  const absl::StatusOr<std::string> text = ReadFile(StatesPath(installation), kMostStatesBytes);
  if (!text.ok()) return states;
  try {
    for (const Json& json : Json::parse(*text))
      states.push_back({.name = json.at("name"),
                        .pid = static_cast<pid_t>(IntegerOf(json.at("pid"), 0, INT32_MAX)),
                        .restarts = static_cast<int>(IntegerOf(json.at("restarts"), 0, INT32_MAX)),
                        .end = json.at("end"),
                        .since_ms = IntegerOf(json.at("since_ms"), 0, kMaxJsonInteger)});
  } catch (const Json::exception&) {
    states.clear();
  }
  return states;
}

}  // namespace attune
