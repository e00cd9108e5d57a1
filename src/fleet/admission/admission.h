// Lets people and devices into the fleet, and renews their certificates.
#ifndef ATTUNE_FLEET_ADMISSION_ADMISSION_H_
#define ATTUNE_FLEET_ADMISSION_ADMISSION_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/rate_limit.h"
#include "fleet/admission/fleet_authority.h"
#include "fleet/admission/restored_times.h"
#include "fleet/identity/certificate.h"
#include "fleet/identity/credentials.h"
#include "fleet/identity/invitation.h"
#include "fleet/store/fleet_store.h"
#include "fleet/wire/fleet.pb.h"

namespace attune {

// The validity of certificates; members renew them in time.
inline constexpr double kCertificateSeconds = 30.0 * 86400;

// Thread safe. The authority, the store and the clock must outlive it.
class Admission {
 public:
  Admission(FleetAuthority& authority, FleetStore& store, const Clock& clock = SystemClock())
      : authority_(authority), store_(store), renewals_(kRenewals, clock), clock_(clock) {}

  FleetAuthority& authority() { return authority_; }

  // "host:port" where admitted members reach the two services. To be called before the other functions.
  void SetAddresses(std::string server, std::string enrolment) {
    const std::lock_guard<std::mutex> lock(mutex_);
    server_ = std::move(server);
    enrolment_ = std::move(enrolment);
  }

  // From now on, Check() refuses certificates of these times that the store does not know.
  void SetRestoredTimes(std::vector<RestoredTime> times) {
    const std::lock_guard<std::mutex> lock(mutex_);
    restored_ = std::move(times);
  }

  // A new invitation for a member with this role and owner. Fails if they are no identity's, or with the
  // store's errors.
  absl::StatusOr<Invitation> Invite(FleetRole role, const std::string& owner);
  // Returns the certificate for the sender of an invitation's secret, which is used up. PermissionDenied,
  // with the same text for every reason, if there is no such invitation.
  absl::StatusOr<fleet_proto::Certificate> Enrol(const fleet_proto::EnrolRequest& request);
  // Another certificate for the same identity. ResourceExhausted if it has renewed its certificate too often:
  // each is a row in the store.
  absl::StatusOr<fleet_proto::Certificate> Renew(const FleetIdentity& who,
                                                 const fleet_proto::RenewRequest& request);
  // Credentials of the server's own operator, with a new key.
  absl::StatusOr<FleetCredentials> OperatorCredentials();
  // Credentials with a new key for a member that the server admits by itself. Its id begins with that of
  // `who`, or with the role's name if that is empty.
  absl::StatusOr<FleetCredentials> NewCredentials(FleetIdentity who);
  // Whether the member with this certificate is admitted. PermissionDenied, with the reason, if not. While
  // the authority is being replaced, notes who has shown a certificate of the new one.
  absl::Status Check(const CertificateFacts& facts);
  // Forgets certificates that ended more than a day ago. To be called once an hour, by one thread: the wall
  // clock must say so at two calls in a row, so that one that is set wrong for a moment undoes no revocation.
  absl::Status ForgetEnded();

 private:
  absl::StatusOr<fleet_proto::Certificate> Certify(const FleetIdentity& who, const std::string& request_pem);
  absl::StatusOr<FleetCredentials> CredentialsOf(const FleetIdentity& who);

  // PermissionDenied if the certificate, which the store does not know, was issued after the backup that the
  // store was restored from.
  absl::Status CheckIsRemembered(const CertificateFacts& facts);
  absl::Status NoteShown(const CertificateFacts& facts);
  // Whether the invitation with this digest has ended by the clock that does not jump; false if another
  // process has made it. Forgets it.
  bool HasEnded(const std::string& digest);

  static constexpr RateLimitOptions kRenewals = {.at_once = 20, .seconds_each = 3600};

  FleetAuthority& authority_;
  FleetStore& store_;
  RateLimit renewals_;  // of each member
  std::mutex mutex_;    // of what follows
  std::string server_, enrolment_;
  std::vector<RestoredTime> restored_;
  std::map<std::string, double>
      ends_;                     // of invitations that this process has made, by digest; the clock's time
  std::set<std::string> shown_;  // serials that are noted
  int64_t looked_ms_ = 0;        // the wall clock when ForgetEnded() was last called; 0: it was not
  const Clock& clock_;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_ADMISSION_ADMISSION_H_
