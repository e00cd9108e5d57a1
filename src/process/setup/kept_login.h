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

// Undoes that: removes the saved login of the server, unless the user has logged in to it otherwise since,
// and makes the earlier server the default again. Does nothing if no login was saved.
absl::Status ForgetLogin(const Installation& installation, const std::string& servers);

}  // namespace attune

#endif  // ATTUNE_PROCESS_SETUP_KEPT_LOGIN_H_
