#include "fleet/server/fleet_housekeeping.h"

#include <set>
#include <string>

#include "base/log.h"

namespace attune {
namespace {

constexpr double kTickSeconds = 0.1, kHousekeepingSeconds = 1, kForgettingSeconds = 3600;

}  // namespace

double FleetHousekeeping::Tick() {
  ForgetEndedIfDue();
  state_.dispatcher->Tick();
  state_.calibrator->Tick();
  if (since_housekeeping_.Seconds() < kHousekeepingSeconds) return kTickSeconds;
  since_housekeeping_.Lap();
  state_.file_calls->CancelIdle();
  CloseRefused();
  certificates_.RenewIfDue();
  state_.dispatcher->AskToRenew(state_.authority->SignerId());
  return kTickSeconds;
}

void FleetHousekeeping::ForgetEndedIfDue() {
  if (since_forgetting_ && since_forgetting_->Seconds() < kForgettingSeconds) return;
  since_forgetting_.emplace();
  const absl::Status forgotten = state_.admission->ForgetEnded();
  if (!forgotten.ok())
    Log(LogLevel::kWarning, "certificates that have ended stay", "reason", forgotten.message());
}

void FleetHousekeeping::Close(const MemberRefusal& refusal) {
  state_.dispatcher->Close(refusal);
  if (beside_.close) beside_.close(refusal);
}

void FleetHousekeeping::CloseRefused() {
  std::set<std::string> serials;
  Close([&](const CertificateFacts& facts) {
    serials.insert(facts.serial);
    return absl::OkStatus();
  });
  // An operator, or another server, may also revoke in the database while this one runs.
  const auto revoked = state_.store->RevokedAmong(serials);
  Close([&](const CertificateFacts& facts) -> absl::Status {
    if (revoked.ok() && revoked->contains(facts.serial)) return CertificateIsRevoked();
    if (state_.authority->Check(facts).ok()) return absl::OkStatus();
    return absl::UnavailableError("the fleet's authority was replaced; connect with the new certificate");
  });
}

}  // namespace attune
