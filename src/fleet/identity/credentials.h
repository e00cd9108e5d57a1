// The credentials of an agent, a client or an operator: everything needed to speak with its fleet.
//
// They are one file, credentials.pem, in a folder of its own, so that they are replaced as a whole: a process
// that is killed while it renews its certificate leaves either the old credentials or the new ones, never a
// key beside the certificate of another.
#ifndef ATTUNE_FLEET_IDENTITY_CREDENTIALS_H_
#define ATTUNE_FLEET_IDENTITY_CREDENTIALS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "fleet/identity/certificate.h"

namespace attune {

struct FleetCredentials {
  std::string server = {};           // "host:port" where all show certificates, not that of the enrolment
  std::string authorities_pem = {};  // one certificate, or two while the authority is being replaced
  std::string certificate_pem = {};
  std::string key_pem = {};  // PKCS #8
  std::string folder =
      {};  // that LoadCredentials() has found them in, for renewed ones; empty: they are no file
};

// The time (ms since 1970) from which they should be renewed: that of the certificate, or a day after it was
// signed if there are two authorities, so that the one that was replaced is not trusted for long.
absl::StatusOr<int64_t> RenewalMillis(const FleetCredentials& credentials);

// $ATTUNE_FLEET, else attune/fleet in $XDG_CONFIG_HOME, else in ~/.config. `environment` is getenv or a
// replacement for it. Fails if HOME is missing too.
absl::StatusOr<std::string> DefaultCredentialsFolder(
    const std::function<const char*(const char*)>& environment);

// Reads the credentials of the folder. Fails, with the file's name and the way out, if there are none
// (NotFound), if others can read them (PermissionDenied), if the certificate has ended
// (FailedPrecondition), or if they are damaged (InvalidArgument).
absl::StatusOr<FleetCredentials> LoadCredentials(const std::string& folder,
                                                 const Clock& clock = SystemClock());

// The content of such a file, for credentials that are no file. Parse fails unless SaveCredentials() would
// accept them.
std::string FormatCredentials(const FleetCredentials& credentials);
absl::StatusOr<FleetCredentials> ParseCredentials(std::string_view text);

// The same for a member of this role. InvalidArgument if they are those of another one.
absl::StatusOr<FleetCredentials> LoadCredentialsOf(FleetRole role, const std::string& folder);

// Replaces the credentials of the folder, which is made if it is missing. Credentials that LoadCredentials()
// would not accept, such as a certificate for another key, change nothing and are an error.
absl::Status SaveCredentials(const std::string& folder, const FleetCredentials& credentials);

}  // namespace attune

#endif  // ATTUNE_FLEET_IDENTITY_CREDENTIALS_H_
