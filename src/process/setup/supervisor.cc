#include "process/setup/supervisor.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file.h"
#include "base/file_descriptor.h"
#include "base/json_numbers.h"
#include "base/log.h"
#include "base/output_file.h"
#include "base/process/launch.h"
#include "base/process/pipe.h"
#include "base/sql/sql_database.h"
#include "base/sqlite/active_lock.h"
#include "base/state_file.h"
#include "base/status.h"
#include "fleet/client/health.h"
#include "nlohmann/json.hpp"
#include "process/setup/services.h"
#include "process/setup/supervised_service.h"

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

constexpr int64_t kMostBytes = 4096;

// The fields of /proc/PID/stat behind the name, which may have spaces and parentheses: proc(5) counts fields
// from 1, and the name is the second.
constexpr size_t kStateField = 0, kStartField = 22 - 3;

std::string BootId() {
  const absl::StatusOr<std::string> id = ReadFile("/proc/sys/kernel/random/boot_id", kMostBytes);
  return id.ok() ? std::string(absl::StripAsciiWhitespace(*id)) : "";
}

absl::Status SignalFailed(pid_t pid) {
  return absl::FailedPreconditionError(
      absl::StrCat("the process ", pid, " cannot be ended: ", std::strerror(errno)));
}

}  // namespace

std::optional<ProcessIdentity> IdentityOf(pid_t pid) {
  const absl::StatusOr<std::string> stat = ReadFile(absl::StrCat("/proc/", pid, "/stat"), kMostBytes);
  if (!stat.ok() || stat->rfind(')') == std::string::npos) return std::nullopt;
  const std::vector<std::string> fields =
      absl::StrSplit(stat->substr(stat->rfind(')') + 1), ' ', absl::SkipEmpty());
  ProcessIdentity identity = {.pid = pid, .boot = BootId()};
  if (fields.size() <= kStartField || !absl::SimpleAtoi(fields[kStartField], &identity.started))
    return std::nullopt;
  if (fields[kStateField] == "Z" || fields[kStateField] == "X") return std::nullopt;  // it has ended
  return identity;
}

absl::Status SaveIdentity(const std::string& path, const ProcessIdentity& identity) {
  return WriteStateFile(path, absl::StrCat(identity.pid, " ", identity.started, " ", identity.boot, "\n"));
}

std::optional<ProcessIdentity> LoadIdentity(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path, kMostBytes);
  if (!text.ok()) return std::nullopt;
  const std::vector<std::string> parts = absl::StrSplit(absl::StripAsciiWhitespace(*text), ' ');
  ProcessIdentity identity;
  if (parts.size() != 3 || !absl::SimpleAtoi(parts[0], &identity.pid) || identity.pid <= 1 ||
      !absl::SimpleAtoi(parts[1], &identity.started))
    return std::nullopt;
  identity.boot = parts[2];
  return identity;
}

absl::StatusOr<bool> EndProcess(const ProcessIdentity& identity, double grace_seconds) {
  // From here on, the descriptor stands for one process; that it is the right one is looked at afterwards.
  const FileDescriptor process(static_cast<int>(syscall(SYS_pidfd_open, identity.pid, 0)));
  if (process.get() < 0 || IdentityOf(identity.pid) != identity) return false;
  constexpr double kKillSeconds = 10;
  for (const auto& [signal, seconds] :
       {std::pair(SIGTERM, grace_seconds), std::pair(SIGKILL, kKillSeconds)}) {
    if (syscall(SYS_pidfd_send_signal, process.get(), signal, nullptr, 0) != 0) {
      if (errno == ESRCH) return true;
      return SignalFailed(identity.pid);
    }
    if (CanRead(process.get(), seconds)) return true;
  }
  return absl::DeadlineExceededError(absl::StrCat("the process ", identity.pid, " does not end"));
}

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
