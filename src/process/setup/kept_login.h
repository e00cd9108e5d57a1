// The login that `attune up` keeps, by which this user's other commands know the server at once.
#ifndef ATTUNE_PROCESS_SETUP_KEPT_LOGIN_H_
#define ATTUNE_PROCESS_SETUP_KEPT_LOGIN_H_

#include <string>

#include "absl/status/status.h"
#include "process/setup/installation.h"

namespace attune {

// Keeps the server and the token in the file `servers` (KnownServers), where it is the one that is meant when
// none is named. The installation's folder remembers what was done. A server with TLS is known by its key.
absl::Status KeepLogin(const Installation& installation, const std::string& token,
                       const std::string& servers);

// Undoes that: what is kept of the server goes, unless somebody has logged in to it otherwise since, and the
// server that was meant before is meant again. Nothing happens if no login was kept.
absl::Status ForgetLogin(const Installation& installation, const std::string& servers);

}  // namespace attune

#endif  // ATTUNE_PROCESS_SETUP_KEPT_LOGIN_H_
