#include "fleet/slurm/pilot_controller.h"

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status.h"
#include "fleet/slurm/pilot_planner.h"

namespace attune {

void PilotController::Outage::Note(const absl::Status& status) {
  if (status.ok() && is_told_) Log(LogLevel::kInfo, "answers again", "who", what_);
  if (!status.ok() && !is_told_)
    Log(LogLevel::kWarning, "does not answer", "who", what_, "reason", status.message());
  is_told_ = !status.ok();
}

PilotController::PilotController(PilotControllerOptions options, PilotFleet& fleet, SlurmCommands& slurm,
                                 PilotSpool& spool, const Clock& clock)
    : options_(std::move(options)),
      fleet_(fleet),
      slurm_(slurm),
      spool_(spool),
      prefix_(PilotPrefix(spool.tag())),
      planner_(
          options_.limits, [tag = spool.tag()](bool stays) { return PilotName(tag, RandomPilotId(), stays); },
          clock) {}

absl::Status PilotController::Start() {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, spool_.Pilots());
  for (const std::string& name : names) planner_.Adopt(name);
  return absl::OkStatus();
}

absl::StatusOr<PilotView> PilotController::Look() {
  PilotView view;
  ASSIGN_OR_RETURN(view.waiting, fleet_.Waiting());
  auto jobs = slurm_.Jobs(prefix_);
  slurm_outage_.Note(jobs.status());
  if (jobs.ok()) view.jobs = *std::move(jobs);
  ASSIGN_OR_RETURN(view.devices, fleet_.Devices());
  return view;
}

void PilotController::Step() {
  const absl::StatusOr<PilotView> view = Look();
  fleet_outage_.Note(view.status());
  if (!view.ok()) return;  // a pilot whose device is not seen would look as if it were absent
  const PilotActions actions = planner_.Plan(*view);
  for (const std::string& device : actions.removed_devices)
    if (const absl::Status removed = fleet_.Remove(device); !removed.ok())
      Log(LogLevel::kWarning, "a device is not removed", "device", device, "reason", removed.message());
  for (const ForgottenPilot& pilot : actions.forgotten) Forget(pilot);
  for (const std::string& name : actions.cancelled) {
    const absl::Status cancelled = slurm_.Cancel(name);
    Log(cancelled.ok() ? LogLevel::kInfo : LogLevel::kWarning, "pilot is cancelled", "pilot", name, "result",
        cancelled.ToString());
  }
  for (const std::string& name : actions.invited)
    if (const absl::Status invited = Invite(name); !invited.ok())
      Log(LogLevel::kWarning, "pilot is not invited again", "pilot", name, "reason", invited.message());
  Submit(actions.submitted);
}

void PilotController::Forget(const ForgottenPilot& pilot) {
  if (pilot.is_lost) {
    Log(LogLevel::kWarning, "pilot has never come", "pilot", pilot.name, "printed",
        spool_.LastLine(pilot.name));
  } else {
    Log(LogLevel::kInfo, "pilot has ended", "pilot", pilot.name);
  }
  // Without its invitation, a job that Slurm still starts does not enrol.
  spool_.Remove(pilot.name);
}

absl::Status PilotController::Invite(const std::string& name) {
  ASSIGN_OR_RETURN(const std::string invitation, fleet_.Invite());
  return spool_.Invite(name, invitation);
}

SlurmJob PilotController::JobOf(const std::string& name) const {
  SlurmJob job = {
      .name = name,
      .script = spool_.Script(),
      .arguments = {options_.program, "agent",
                    absl::StrCat("--invitation-file=", spool_.InvitationFile(name)),
                    absl::StrCat("--state=", spool_.StateFolder(name)), absl::StrCat("--key=", name)},
      .folder = spool_.path(),
      .log = spool_.Log(name)};
  for (const std::string& key : options_.keys) job.arguments.push_back(absl::StrCat("--key=", key));
  for (const std::string& owner : options_.trusted) job.arguments.push_back(absl::StrCat("--trust=", owner));
  if (!PilotStays(name))
    job.arguments.push_back(absl::StrCat("--idle-seconds=", options_.limits.idle_seconds));
  return job;
}

void PilotController::Submit(const std::vector<std::string>& names) {
  absl::Status failed;  // what hinders one hinders the others
  for (const std::string& name : names) {
    if (failed.ok()) failed = Invite(name);
    if (!failed.ok()) {
      spool_.Remove(name);
      planner_.NotSubmitted(name);
      continue;
    }
    failed = slurm_.Submit(JobOf(name));
    if (!failed.ok()) planner_.SubmissionFailed();
    if (failed.ok()) Log(LogLevel::kInfo, "pilot is submitted", "pilot", name);
  }
  if (!failed.ok()) Log(LogLevel::kWarning, "pilots are not submitted", "reason", failed.message());
}

}  // namespace attune
