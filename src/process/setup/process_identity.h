// Knows a process again, though the system gives its number to another one once it has ended.
#ifndef ATTUNE_PROCESS_SETUP_PROCESS_IDENTITY_H_
#define ATTUNE_PROCESS_SETUP_PROCESS_IDENTITY_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace attune {

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

}  // namespace attune

#endif  // ATTUNE_PROCESS_SETUP_PROCESS_IDENTITY_H_
