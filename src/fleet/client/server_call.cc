#include "fleet/client/server_call.h"

#include <chrono>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "fleet/identity/pinned_server.h"
#include "fleet/wire/channel.h"
#include "fleet/wire/rpc_status.h"

namespace attune {
namespace {

constexpr double kLookSeconds = 2;  // at who answers instead of the server

}  // namespace

void SetServerCallDeadline(grpc::ClientContext& context) {
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(kCallSeconds));
}

absl::Status ExplainServerCall(const grpc::Status& status, const FleetCredentials& credentials) {
  const absl::Status explained = FromRpc(status);
  // gRPC's own answer has no text.
  if (absl::IsUnimplemented(explained) && explained.message().empty())
    return absl::FailedPreconditionError(
        absl::StrCat("the fleet's server ", credentials.server, " is too old to do this; update it"));
  // The server cancels calls of which it hears nothing for long. Callers that cancel know it themselves.
  const bool has_no_answer =
      absl::IsUnavailable(explained) || absl::IsDeadlineExceeded(explained) || absl::IsCancelled(explained);
  if (!has_no_answer) return explained;
  if (absl::IsUnavailable(explained)) RETURN_IF_ERROR(ExplainLostServer(credentials, kLookSeconds));
  return absl::UnavailableError(absl::StrCat("the fleet's server ", credentials.server, " does not answer (",
                                             explained.message(), "); is attune server running there?"));
}

}  // namespace attune
