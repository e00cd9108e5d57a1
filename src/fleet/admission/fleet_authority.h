// The fleet's authority while its server runs, and its replacement by a new one.
//
// Problem: gRPC reads the server's certificates from files, some time after they have changed. A member with
// a certificate of the new authority would be refused before that. Idea: the new authority signs only once
// the server is known to accept its certificates; from then on members are asked to renew
// (identity/authority_files.h).
#ifndef ATTUNE_FLEET_ADMISSION_FLEET_AUTHORITY_H_
#define ATTUNE_FLEET_ADMISSION_FLEET_AUTHORITY_H_

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/process/message.h"
#include "fleet/identity/authority_files.h"
#include "fleet/identity/certificate.h"

namespace attune {

// Times are ms since 1970, UTC.
struct AuthorityTimes {
  int64_t created_ms = 0;  // of the one that counts until the replacement ends
  std::optional<int64_t> replaced_from_ms =
      {};  // when its replacement began; nothing: it is not being replaced
};

// Thread safe. The clock must outlive it.
class FleetAuthority {
 public:
  // `files`: as the server has them when it starts.
  explicit FleetAuthority(AuthorityFiles files, const Clock& clock = SystemClock())
      : files_(std::move(files)), clock_(clock) {}

  // The id of the one that signs, and of the one that alone counts once the replacement has ended. They
  // differ while the server does not yet accept certificates of the latter.
  std::string SignerId() const;
  std::string NewestId() const;
  absl::StatusOr<std::string> Sign(const std::string& request_pem, const FleetIdentity& who,
                                   double seconds) const;
  // Whether a certificate counts; PermissionDenied, with the way out, if its authority was replaced.
  absl::Status Check(const CertificateFacts& facts) const;
  // The fingerprint of the one that has signed the server's certificate, for invitations.
  absl::StatusOr<std::string> ServersFingerprint() const;
  // As AuthorityFiles has them.
  absl::StatusOr<ServerTls> ServerTlsFor(const std::vector<std::string>& hosts) const;
  std::string TrustedPem() const;

  AuthorityTimes times() const;
  // Both take effect once ServerAccepts() has been called. FailedPrecondition as AuthorityFiles has it.
  absl::Status BeginReplacement();
  absl::Status EndReplacement();
  // New connections to the server are accepted with certificates of these authorities, and of no others.
  void ServerAccepts(const std::string& trusted_pem);
  // Waits until that is so. DeadlineExceeded if it is not in time.
  absl::Status AwaitServer(Deadline deadline) const;

 private:
  // For those who hold the mutex.
  const CertificateAuthority& signer() const {
    return server_accepts_ ? files_.signer() : files_.servers_signer();
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  AuthorityFiles files_;
  bool server_accepts_ = true;  // certificates of all authorities of the files
  const Clock& clock_;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_ADMISSION_FLEET_AUTHORITY_H_
