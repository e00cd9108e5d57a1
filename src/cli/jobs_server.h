// Parts that the commands for jobs on a server share.
#ifndef ATTUNE_CLI_JOBS_SERVER_H_
#define ATTUNE_CLI_JOBS_SERVER_H_

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "service/client/jobs_client.h"

namespace attune {

// The server of the fleet that this user has joined. Fails if he has joined none.
absl::StatusOr<std::unique_ptr<JobsClient>> JoinedJobsServer();

// Calls `ask` every second until it returns true or fails. While the server does not answer (Unavailable) it
// is asked again, since it may come back. Cancelled on Ctrl-C: the jobs go on.
absl::Status PollServer(const std::function<absl::StatusOr<bool>()>& ask);

}  // namespace attune

#endif  // ATTUNE_CLI_JOBS_SERVER_H_
