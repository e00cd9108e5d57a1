#include "process/setup/process_identity.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file.h"
#include "base/file_descriptor.h"
#include "base/output_file.h"
#include "base/process/pipe.h"
#include "base/state_file.h"
#include "base/status.h"

namespace attune {
namespace {

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

}  // namespace attune
