// Logins at the identity providers of a server.
#ifndef ATTUNE_CLI_LOGIN_AT_ISSUER_H_
#define ATTUNE_CLI_LOGIN_AT_ISSUER_H_

#include <string>

#include "absl/status/statusor.h"
#include "service/client/known_servers.h"

namespace attune {

// Has the person log in with a browser, and returns the server with what that gives. `name`: of the issuer;
// empty: the first that the server trusts. FailedPrecondition if it trusts none.
absl::StatusOr<KnownServer> LogInAtIssuer(KnownServer server, const std::string& name);

// The server as it is, or with a new token, which is then kept, if that of a login ends soon or `is_refused`.
// Several processes may ask at once: one of them asks the issuer. Unauthenticated if the person must log in
// again.
absl::StatusOr<KnownServer> Renewed(KnownServer server, bool is_refused = false);

}  // namespace attune

#endif  // ATTUNE_CLI_LOGIN_AT_ISSUER_H_
