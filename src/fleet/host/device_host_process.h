// A device host that is a process of this machine.
#ifndef ATTUNE_FLEET_HOST_DEVICE_HOST_PROCESS_H_
#define ATTUNE_FLEET_HOST_DEVICE_HOST_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/process/worker_process.h"
#include "fleet/host/device_host.h"
#include "fleet/host/host_conversation.h"

namespace attune {

// Forks once, in Start(), and never again: a lost host stays lost. The agent then exits, and its supervisor
// starts it anew.
class DeviceHostProcess final : public DeviceHost {
 public:
  // Starts the process and waits until it is ready, at most a minute. `program`: whose main() passes
  // DeviceHostWorker() to RunIfWorker(), such as /proc/self/exe. The process inherits the environment, which
  // must hold no credentials, since measured code is near to it. This process must not have started gRPC
  // yet, which does not survive a fork.
  static absl::StatusOr<std::unique_ptr<DeviceHostProcess>> Start(const std::string& program,
                                                                  OnHostEvent on_event);
  ~DeviceHostProcess() override;

  const DeviceInfo& device() const override { return ready_.device; }
  const std::vector<std::string>& lacks() const override { return ready_.lacks; }

  void Put(const std::string& digest, int file) override { Send(NewBlob{digest}, file); }
  void Forget(const std::string& digest) override { Send(ForgetBlob{digest}); }
  void Run(RunBatch batch) override { Send(std::move(batch)); }
  void Cancel(int64_t number) override { Send(CancelBatch{number}); }

  // For tests that kill it.
  pid_t pid() const { return pid_; }

 private:
  DeviceHostProcess(std::unique_ptr<WorkerProcess> process, HostReady ready, OnHostEvent on_event);

  // Sends a command, and the file that it announces, if any. A host that does not take them is given up.
  void Send(const HostCommand& command, int file = -1);
  // The loop of the thread that reads reports.
  void Read();
  // Reads one report and delivers it.
  absl::Status ReadOne();

  const HostReady ready_;
  const OnHostEvent on_event_;
  const pid_t pid_;
  const int socket_;  // the process's; open as long as there is a process

  std::mutex mutex_;
  std::unique_ptr<WorkerProcess> process_;  // null: the host is lost
  bool is_ending_ = false;
  HostConversation conversation_;

  std::thread reader_;  // last member: uses all of the above
};

}  // namespace attune

#endif  // ATTUNE_FLEET_HOST_DEVICE_HOST_PROCESS_H_
