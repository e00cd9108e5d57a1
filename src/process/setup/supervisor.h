// Keeps the services of an installation running.
//
// Problem: a server, agents and a runner must outlive the command that starts them, come back when one dies,
// and be gone for certain when they are no longer wanted, on machines with and without systemd. Idea: one
// small process starts them all and starts again what ends. The kernel ends them when that process ends, in
// whichever way, so that ending it ends all, and only its number and its start time must be saved. Price: it
// is one more process, and what it runs begins anew if it is killed.
#ifndef ATTUNE_PROCESS_SETUP_SUPERVISOR_H_
#define ATTUNE_PROCESS_SETUP_SUPERVISOR_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "process/setup/installation.h"
#include "process/setup/supervised_service.h"

namespace attune {

// Knows a process again, though the system gives its number to another one once it has ended.
//
// No two processes that have ever run on this machine are equal.
struct ProcessIdentity {
  pid_t pid = 0;
  int64_t started = 0;    // in ticks since the system has booted
  std::string boot = {};  // the id of that boot

  bool operator==(const ProcessIdentity&) const = default;
};

// Nothing if no process has this number now.
std::optional<ProcessIdentity> IdentityOf(pid_t pid);

// Write and read it in a file. Read: nothing if there is no such file, or nothing in it.
absl::Status SaveIdentity(const std::string& path, const ProcessIdentity& identity);
std::optional<ProcessIdentity> LoadIdentity(const std::string& path);

// Asks this very process to end (SIGTERM), and kills it if it has not after `grace_seconds`. False if it does
// not run. Fails if the system does not let us.
absl::StatusOr<bool> EndProcess(const ProcessIdentity& identity, double grace_seconds);

// Runs the services of the installation in the folder, until `is_stopped`. Fails if another process does so
// already.
absl::Status Supervise(const std::string& folder, const std::atomic<bool>& is_stopped);

// The process that does so; nothing if none does.
std::optional<ProcessIdentity> FindSupervisor(const Installation& installation);
// Starts one, which outlives this process. Its own messages go to supervisor.log. Returns it.
absl::StatusOr<ProcessIdentity> StartSupervisor(const Installation& installation);
// Ends it, and with it all services. False if there was none.
absl::StatusOr<bool> StopSupervisor(const Installation& installation);

// As the supervisor has written them last; empty if it has not yet.
std::vector<ServiceState> ReadServiceStates(const Installation& installation);

}  // namespace attune

#endif  // ATTUNE_PROCESS_SETUP_SUPERVISOR_H_
