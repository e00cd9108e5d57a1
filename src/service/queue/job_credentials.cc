#include "service/queue/job_credentials.h"

#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "fleet/identity/certificate.h"
#include "fleet/identity/credentials.h"

namespace attune {
namespace {

constexpr char kJobIdentity[] = "job";  // the ids of identities that jobs measure by begin so

}  // namespace

absl::Status JobCredentials::Revoke(const std::string& identity) {
  parts_.devices.ForgetPriority(identity);
  const absl::Status revoked = parts_.store.RevokeIdentity(
      identity, {.reason = "its job is elsewhere or over", .time_ms = SystemClock().WallMillis()});
  // The certificates of a long job may have ended, and been forgotten.
  return absl::IsNotFound(revoked) ? absl::OkStatus() : revoked;
}

absl::Status JobCredentials::RevokeAll() {
  identities_.clear();
  ASSIGN_OR_RETURN(const std::vector<IssuedCertificate> valid,
                   parts_.store.ValidCertificates(SystemClock().WallMillis()));
  for (const IssuedCertificate& certificate : valid) {
    const std::string& id = certificate.facts.who.id;
    if (id.starts_with(kJobIdentity)) RETURN_IF_ERROR(Revoke(id));
  }
  return absl::OkStatus();
}

absl::Status JobCredentials::KeepOnly(const std::set<std::string_view>& jobs) {
  for (auto entry = identities_.begin(); entry != identities_.end();) {
    if (jobs.contains(entry->first)) {
      ++entry;
      continue;
    }
    RETURN_IF_ERROR(Revoke(entry->second));
    entry = identities_.erase(entry);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> JobCredentials::New(const JobSpec& job) {
  if (const auto before = identities_.find(job.id); before != identities_.end())
    RETURN_IF_ERROR(Revoke(before->second));
  ASSIGN_OR_RETURN(
      const FleetCredentials credentials,
      parts_.admission.NewCredentials({.role = FleetRole::kClient, .owner = job.owner, .id = kJobIdentity}));
  ASSIGN_OR_RETURN(const CertificateFacts facts, ReadCertificate(credentials.certificate_pem));
  identities_[job.id] = facts.who.id;
  parts_.devices.SetPriority(facts.who.id, job.priority);
  return FormatCredentials(credentials);
}

}  // namespace attune
