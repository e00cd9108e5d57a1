#include "service/runner/job_runner.h"

#include "absl/strings/str_cat.h"
#include "base/backoff.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/process/sandbox.h"
#include "base/sqlite/active_lock.h"
#include "base/status.h"
#include "device/codec.h"
#include "device/host.h"
#include "device/pin_tree.h"
#include "fleet/identity/certificate.h"
#include "fleet/wire/rpc_status.h"
#include "service/runner/runner_connection.h"
#include "service/wire/checked_messages.h"

namespace attune {
namespace {

namespace proto = jobs_service_proto;

constexpr double kRenewalSeconds = 60;

}  // namespace

absl::StatusOr<std::unique_ptr<JobRunner>> JobRunner::Create(JobRunnerOptions options) {
  ASSIGN_OR_RETURN(const FleetCredentials credentials, LoadCredentialsOf(FleetRole::kRunner, options.folder));
  ASSIGN_OR_RETURN(const CertificateFacts facts, ReadCertificate(credentials.certificate_pem));
  ASSIGN_OR_RETURN(FileDescriptor lock, LockActive(options.folder + "/runner", "runner"));
  if (lock.get() < 0)
    return absl::FailedPreconditionError(absl::StrCat(options.folder, ": another runner has this folder"));
  ASSIGN_OR_RETURN(DeviceInfo machine, HostDevice());
  const auto usable = static_cast<int>(machine.usable.size());
  if (options.processors > usable)
    return InvalidInput("this machine has ", usable, " processors, fewer than ", options.processors);
  if (options.processors > 0) machine.usable.resize(static_cast<size_t>(options.processors));
  PinProcessTree(machine.usable);
  const bool confines = CanForbidFiles();
  if (!confines)
    Log(LogLevel::kWarning,
        "jobs cannot be kept from each other's files here (Linux 5.13 with Landlock can)");
  return std::unique_ptr<JobRunner>(new JobRunner(std::move(options), std::move(lock), facts.who.id,
                                                  std::move(machine), confines, credentials));
}

bool JobRunner::RenewIfDue() {
  const std::string before = fleet_.connection().credentials().certificate_pem;
  // The server may ask for a renewal with any answer.
  const absl::Status asked = fleet_.Devices(id_).status();
  if (!asked.ok()) Log(LogLevel::kInfo, "the server does not answer", "reason", asked.message());
  return fleet_.connection().credentials().certificate_pem != before;
}

absl::Status JobRunner::Run() {
  proto::RunnerHello hello;
  hello.set_version(kJobsVersion);
  hello.set_program(options_.program);
  hello.set_device(EncodeDevice(machine_));
  hello.set_memory_bytes(MemoryOfMachine());
  for (const auto& [name, command] : options_.programs) hello.add_programs(name);
  hello.set_confines(confines_);
  Backoff backoff;
  Stopwatch since_renewal;
  while (!is_stopped_) {
    const FleetCredentials credentials = fleet_.connection().credentials();
    RunnerConnection connection(credentials,
                                {.folder = options_.folder + "/jobs",
                                 .programs = options_.programs,
                                 .confinement = confines_ ? Confinement::kMust : Confinement::kIfPossible});
    // A new certificate is that of the next connection.
    const absl::Status ended = connection.Serve(hello, is_stopped_, [&] {
      if (since_renewal.Seconds() < kRenewalSeconds) return false;
      since_renewal.Lap();
      return RenewIfDue();
    });
    if (is_stopped_) break;
    if (IsRefusedForGood(ended)) return ended;
    if (connection.was_welcomed() && !connection.has_failed()) backoff.Reset();
    Log(LogLevel::kWarning, "not connected to the server", "runner", id_, "server", credentials.server,
        "reason", ended.message());
    backoff.Pause([&] { return is_stopped_.load(); });
  }
  return absl::OkStatus();
}

}  // namespace attune
