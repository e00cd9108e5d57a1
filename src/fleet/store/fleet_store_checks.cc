#include <cmath>
#include <string_view>

#include "base/printable.h"
#include "base/status.h"
#include "fleet/leases/device_owners.h"
#include "fleet/store/fleet_store.h"

namespace attune {
namespace {

constexpr size_t kMostNameBytes = 256, kMostReasonBytes = 1024, kMostInfoBytes = 1 << 20, kMostKeys = 64;
constexpr size_t kDigestDigits = 64;

absl::Status CheckText(std::string_view what, std::string_view text, size_t most_bytes = kMostNameBytes) {
  if (text.empty() || text.size() > most_bytes)
    return InvalidInput(what, ": \"", Printable(text), "\" does not have 1 to ", most_bytes, " bytes");
  if (WithoutControls(text) != text)
    return InvalidInput(what, ": \"", Printable(text), "\" has characters that cannot be printed");
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckStorable(const CertificateFacts& facts) {
  RETURN_IF_ERROR(CheckFleetIdentity(facts.who));
  RETURN_IF_ERROR(CheckText("serial", facts.serial));
  return facts.authority.empty() ? absl::OkStatus() : CheckText("authority", facts.authority);
}

absl::Status CheckReason(const std::string& reason) { return CheckText("reason", reason, kMostReasonBytes); }

absl::Status CheckOwners(const std::set<std::string>& owners) {
  if (std::ssize(owners) > kMaxOwners) return InvalidInput("owners: are more than ", kMaxOwners);
  for (const std::string& owner : owners) RETURN_IF_ERROR(CheckText("owner", owner));
  return absl::OkStatus();
}

absl::Status CheckStorable(const Revocation& revocation) { return CheckReason(revocation.reason); }

absl::Status CheckStorable(const PendingInvitation& invitation) {
  const std::string& digest = invitation.digest;
  if (digest.size() != kDigestDigits || digest.find_first_not_of("0123456789abcdef") != std::string::npos)
    return InvalidInput("digest: \"", Printable(digest), "\" is not a SHA-256");
  return CheckText("owner", invitation.owner);
}

absl::Status CheckStorable(const HeldLease& lease) {
  if (lease.token.epoch < 0 || lease.token.number < 0) return InvalidInput("token: is negative");
  RETURN_IF_ERROR(CheckText("device", lease.device));
  RETURN_IF_ERROR(CheckText("owner", lease.owner));
  return CheckText("key", lease.key);
}

absl::Status CheckStorable(const FleetDevice& device) {
  RETURN_IF_ERROR(CheckText("id", device.id));
  RETURN_IF_ERROR(CheckText("agent", device.agent));
  RETURN_IF_ERROR(CheckText("owner", device.owner));
  if (device.keys.size() > kMostKeys) return InvalidInput("keys: are more than ", kMostKeys);
  for (const std::string& key : device.keys) RETURN_IF_ERROR(CheckText("key", key));
  RETURN_IF_ERROR(CheckOwners(device.shared_with));
  if (device.info.size() > kMostInfoBytes)
    return InvalidInput("info: is longer than ", kMostInfoBytes, " bytes");
  return device.drained ? CheckReason(*device.drained) : absl::OkStatus();
}

absl::Status CheckStorable(const Calibration& calibration) {
  const Peaks& peaks = calibration.peaks;
  for (const double rate : {peaks.gflops_per_core, peaks.bf16_gflops_per_core, peaks.int8_gops_per_core,
                            peaks.l2_gb_per_s, peaks.l3_gb_per_s, peaks.memory_gb_per_s})
    if (!std::isfinite(rate) || rate < 0) return InvalidInput("peaks: ", rate, " is not a rate");
  return absl::OkStatus();
}

}  // namespace attune
