// Parts that the commands for jobs on a server share.
#ifndef ATTUNE_CLI_JOBS_SERVER_H_
#define ATTUNE_CLI_JOBS_SERVER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/cancel.h"
#include "service/client/jobs_client.h"
#include "service/client/known_servers.h"

namespace attune {

struct ServerFlags {
  std::string server, token_file, authorities;
};

void AddServerFlags(CLI::App& command, ServerFlags& flags);

// The server and the token of the flags, else of $ATTUNE_URL and $ATTUNE_TOKEN, else those that attune login
// has kept. Fails, with the way out, if there are none.
absl::StatusOr<KnownServer> MeantServer(const ServerFlags& flags);

// The same without a token, unless one is kept.
absl::StatusOr<KnownServer> MeantServerAlone(const ServerFlags& flags);

// Whether the flags or $ATTUNE_TOKEN give a token, in the place of one that attune login has kept.
bool IsTokenGiven(const ServerFlags& flags);

// It need not answer. While it is away, a note says so. `cancellation` may be null, else it must outlive the
// client.
absl::StatusOr<std::unique_ptr<JobsClient>> OpenJobsServer(const ServerFlags& flags,
                                                           const Cancellation* cancellation = nullptr);
// The same of a server that MeantServer() has found.
absl::StatusOr<std::unique_ptr<JobsClient>> OpenJobsServer(const KnownServer& server,
                                                           const Cancellation* cancellation);

// Follows the jobs until all are over, and keeps them up to date. Calls `told` after each change, one at a
// time, with the job's index. Cancelled on Ctrl-C, which `cancellation` of the server's client gets: the jobs
// continue.
absl::Status AwaitJobs(JobsClient& server, Cancellation& cancellation, std::vector<RemoteJob>& jobs,
                       const std::function<absl::Status(size_t index)>& told);

}  // namespace attune

#endif  // ATTUNE_CLI_JOBS_SERVER_H_
