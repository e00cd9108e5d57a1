// The files with which a fleet's server proves who it is: its authorities and its own certificate.
//
// Problem: an authority must be replaced one day, and an agent that trusts only the old one would then take
// the server for an impostor, and could not be told otherwise. Idea: for a while there are two. All who renew
// their certificates get them from the new authority, and learn to trust both; the server's own certificate
// is from the old one until the end, so that both those who have renewed and those who have not accept it.
// Price: those who have not renewed by the end must enrol again.
#ifndef ATTUNE_FLEET_IDENTITY_AUTHORITY_FILES_H_
#define ATTUNE_FLEET_IDENTITY_AUTHORITY_FILES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "fleet/identity/certificate.h"

namespace attune {

// The server's side of TLS.
struct ServerTls {
  // The server's certificate, then that of the authority which has signed it. Give a server both, so that it
  // shows both: those who enrol find there the authority whose fingerprint their invitation has.
  std::string chain_pem = {};
  std::string key_pem = {};
  int64_t renewal_ms = 0;  // since 1970, UTC: ask for it again then
};

// Keeps what would be files, for a server that has no folder that lasts.
class FleetSecrets {
 public:
  virtual ~FleetSecrets() = default;
  // Nothing if it was never saved.
  virtual absl::StatusOr<std::optional<std::string>> LoadAuthorities() = 0;
  // A change that returns ok lasts, whatever happens to this server.
  virtual absl::Status SaveAuthorities(const std::string& text) = 0;
  // When the state was restored, as text (fleet/admission/restored_times.h).
  virtual absl::StatusOr<std::string> LoadRestoredTimes() = 0;
};

// In a folder, the files authorities.pem and server.pem, which only their owner can read. For one thread at a
// time, and for one process at a time: another one that has the same folder open does not see the changes.
// Movable. Errors name the file.
class AuthorityFiles {
 public:
  // Makes the folder, and an authority, if they are missing. Fails if the authority's file is damaged or if
  // others can read it. The clock must outlive this object, and so must `secrets`, which have the authorities
  // in the place of their file if they are not null.
  static absl::StatusOr<AuthorityFiles> OpenOrCreate(const std::string& folder,
                                                     const Clock& clock = SystemClock(),
                                                     FleetSecrets* secrets = nullptr);

  // Signs the certificates of those who enrol or renew: the new one, while the authority is being replaced.
  const CertificateAuthority& signer() const { return authorities_.back(); }
  // Has signed the server's certificate: the old one, while the authority is being replaced. Invitations have
  // its fingerprint.
  const CertificateAuthority& servers_signer() const { return authorities_.front(); }
  // The certificates of both, one after the other, for all who must verify others.
  std::string TrustedPem() const;

  bool is_being_replaced() const { return authorities_.size() > 1; }
  // Creates the new authority. FailedPrecondition if one is being replaced already.
  absl::Status BeginReplacement();
  // Forgets the old authority: its certificates and invitations are worth nothing from now on, and the
  // server's certificate must be asked for again. FailedPrecondition if none is being replaced.
  absl::Status EndReplacement();

  // The server's certificate for these names and addresses, of which there must be one. It is made anew, with
  // a new key, if it is due for renewal or damaged, or if hosts or authority are others than before.
  absl::StatusOr<ServerTls> ServerTlsFor(const std::vector<std::string>& hosts) const;

 private:
  AuthorityFiles(std::string folder, const Clock& clock, FleetSecrets* secrets)
      : folder_(std::move(folder)), clock_(&clock), secrets_(secrets) {}
  absl::StatusOr<std::optional<std::string>> LoadAuthorities() const;
  absl::Status ReadAuthorities(std::string_view text);
  absl::Status WriteAuthorities(const std::vector<const CertificateAuthority*>& authorities) const;
  std::optional<ServerTls> ReadServerTls(const std::string& preamble) const;
  absl::StatusOr<ServerTls> NewServerTls(const std::vector<std::string>& hosts) const;

  std::string folder_;
  const Clock* clock_;
  FleetSecrets* secrets_;                          // null: the authorities are in their file
  std::vector<CertificateAuthority> authorities_;  // one, or the old one and the new one
};

}  // namespace attune

#endif  // ATTUNE_FLEET_IDENTITY_AUTHORITY_FILES_H_
