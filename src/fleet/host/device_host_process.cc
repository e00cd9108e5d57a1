#include "fleet/host/device_host_process.h"

#include <sys/socket.h>

#include <variant>

#include "absl/strings/str_cat.h"
#include "base/overloaded.h"
#include "base/process/message.h"
#include "base/process/message_checks.h"
#include "base/status.h"
#include "base/threads.h"
#include "fleet/host/device_host_worker.h"

namespace attune {
namespace {

constexpr double kStartSeconds = 60;
// The host reads commands at once, unless it is about to check a large blob.
constexpr double kSendSeconds = 120;
constexpr double kGraceSeconds = 1;  // for a host that has closed its socket to end

absl::StatusOr<HostReady> AwaitReport(WorkerProcess& process, Deadline deadline) {
  ASSIGN_OR_RETURN(const std::string message, ReceiveMessage(process.socket(), deadline));
  ASSIGN_OR_RETURN(HostReport report, DecodeHostReport(message));
  auto* const ready = std::get_if<HostReady>(&report);
  if (ready == nullptr) return DamagedMessage();
  return std::move(*ready);
}

}  // namespace

absl::StatusOr<std::unique_ptr<DeviceHostProcess>> DeviceHostProcess::Start(const std::string& program,
                                                                            OnHostEvent on_event) {
  const Deadline deadline = After(kStartSeconds);
  ASSIGN_OR_RETURN(std::unique_ptr<WorkerProcess> process,
                   WorkerProcess::Start(program, kDeviceHostKind, {.is_confined = false}));
  RETURN_IF_ERROR(process->AwaitReady(deadline));
  absl::StatusOr<HostReady> ready = AwaitReport(*process, deadline);
  if (!ready.ok()) {
    const ProcessEnd end = process->Stop(kGraceSeconds);
    return absl::FailedPreconditionError(
        absl::StrCat("the device host does not start: ", ready.status().message(), "; ", end.reason));
  }
  std::unique_ptr<DeviceHostProcess> host(
      new DeviceHostProcess(std::move(process), *std::move(ready), std::move(on_event)));
  if (!StartThread(host->reader_, [self = host.get()] { self->Read(); }))
    return absl::ResourceExhaustedError("the system has no more threads");
  return host;
}

DeviceHostProcess::DeviceHostProcess(std::unique_ptr<WorkerProcess> process, HostReady ready,
                                     OnHostEvent on_event)
    : ready_(std::move(ready)),
      on_event_(std::move(on_event)),
      pid_(process->pid()),
      socket_(process->socket()),
      process_(std::move(process)) {}

DeviceHostProcess::~DeviceHostProcess() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_ending_ = true;
    if (process_ != nullptr) shutdown(socket_, SHUT_RDWR);
  }
  if (reader_.joinable()) reader_.join();
}

void DeviceHostProcess::Send(const HostCommand& command, int file) {
  const std::string message = EncodeHostCommand(command);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (process_ == nullptr) return;
  if (const auto* run = std::get_if<RunBatch>(&command)) conversation_.Ask(*run);
  const Deadline deadline = After(kSendSeconds);
  absl::Status sent = process_->Send(message, deadline);
  if (sent.ok() && file >= 0) sent = SendFile(socket_, file, deadline);
  // A part may have been sent, so there is no way on. The reader sees that, and reports the loss.
  if (!sent.ok()) shutdown(socket_, SHUT_RDWR);
}

absl::Status DeviceHostProcess::ReadOne() {
  ASSIGN_OR_RETURN(const std::string message, ReceiveMessage(socket_, kNoDeadline));
  ASSIGN_OR_RETURN(const HostReport report, DecodeHostReport(message));
  RETURN_IF_ERROR(conversation_.Take(report));
  return std::visit(Overloaded{[](const HostReady&) { return DamagedMessage(); },
                               [&](const auto& event) {
                                 on_event_(event);
                                 return absl::OkStatus();
                               }},
                    report);
}

void DeviceHostProcess::Read() {
  absl::Status status;
  while (status.ok()) status = ReadOne();
  // Wakes a thread that waits in Send(), and so has the mutex.
  shutdown(socket_, SHUT_RDWR);
  std::unique_lock<std::mutex> lock(mutex_);
  if (is_ending_) return;
  const std::unique_ptr<WorkerProcess> lost = std::move(process_);
  lock.unlock();
  const ProcessEnd end = lost->Stop(kGraceSeconds);
  on_event_(HostLost{absl::StrCat("the device host is lost: ", status.message(), "; ", end.reason)});
}

}  // namespace attune
