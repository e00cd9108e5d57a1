// How much of a server one peer, one token and one tenant may take, for attune server.
#ifndef ATTUNE_PROCESS_COMMANDS_SERVER_LIMITS_H_
#define ATTUNE_PROCESS_COMMANDS_SERVER_LIMITS_H_

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "process/server/rest_server.h"
#include "service/rest/stream_admission.h"

namespace attune {

struct ServerLimitFlags {
  int connections = ConnectionLimits().in_all, of_address = ConnectionLimits().of_address;
  std::vector<std::string> proxies = {};
  int token_streams = StreamLimits().of_token, tenant_streams = StreamLimits().of_tenant;
};

// The flags must outlive the command.
void AddServerLimitOptions(CLI::App& command, ServerLimitFlags& flags);

// Sets the limits, and has the process open as many files as they take, as far as it may.
absl::Status SetServerLimits(const ServerLimitFlags& flags, RestServerOptions& rest);

}  // namespace attune

#endif  // ATTUNE_PROCESS_COMMANDS_SERVER_LIMITS_H_
