// A runner: a machine that runs the stages of a server's jobs.
//
// Problem: jobs crash and hang, files take time to move, and the server commands all of it over one
// connection. Idea: each job has a process of its own here, and a thread that fetches its files before the
// process gets the job and sends those that have changed after each stage; a stage counts only once the
// server has its files. When the connection ends, so do all processes, and the server continues the jobs on
// another machine. Price: what a stage writes is sent each time that it changes.
#ifndef ATTUNE_SERVICE_RUNNER_JOB_RUNNER_H_
#define ATTUNE_SERVICE_RUNNER_JOB_RUNNER_H_

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/file_descriptor.h"
#include "device/device.h"
#include "fleet/client/fleet_client.h"
#include "fleet/identity/credentials.h"

namespace attune {

struct JobRunnerOptions {
  std::string folder = {};   // of its credentials, and of the jobs' files while they are here
  std::string program = {};  // this program's version, for people
  // The programs that jobs may name, each with its command: the program and its first arguments.
  std::map<std::string, std::vector<std::string>> programs = {};
  int processors = 0;  // how many it offers; 0: all that this process may use
};

// Thread safe.
class JobRunner {
 public:
  // Fails if there are no credentials, or none of a runner, or if another runner has the folder. From now on,
  // this process stays on the processors that it offers.
  static absl::StatusOr<std::unique_ptr<JobRunner>> Create(JobRunnerOptions options);

  // Serves until Stop(), or until the server refuses this runner for good: then fails with the reason. A
  // server that cannot be reached is tried again and again.
  absl::Status Run();
  // Safe in a signal handler. Takes effect within a second.
  void Stop() { is_stopped_.store(true, std::memory_order_relaxed); }

  const DeviceInfo& machine() const { return machine_; }

 private:
  JobRunner(JobRunnerOptions options, FileDescriptor lock, std::string id, DeviceInfo machine, bool confines,
            const FleetCredentials& credentials)
      : options_(std::move(options)),
        lock_(std::move(lock)),
        id_(std::move(id)),
        machine_(std::move(machine)),
        confines_(confines),
        fleet_(credentials) {}

  // Whether there is a new certificate.
  bool RenewIfDue();

  const JobRunnerOptions options_;
  const FileDescriptor lock_;  // of the folder
  const std::string id_;       // as in its certificate
  const DeviceInfo machine_;   // with the processors that it offers
  const bool confines_;        // jobs are kept from each other's files
  std::atomic<bool> is_stopped_ = false;
  FleetClient fleet_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_RUNNER_JOB_RUNNER_H_
