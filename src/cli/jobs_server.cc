#include "cli/jobs_server.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/private_file.h"
#include "base/status.h"
#include "base/threads.h"
#include "cli/common/output.h"
#include "cli/common/stops_on_signal.h"
#include "cli/login_at_issuer.h"

namespace attune {
namespace {

constexpr int64_t kMostTokenBytes = 64 << 10, kMostAuthoritiesBytes = 1 << 20;

std::string Environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

absl::StatusOr<KnownServer> NamedServer(const ServerFlags& flags) {
  ASSIGN_OR_RETURN(const std::string path, KnownServers::DefaultPath(std::getenv));
  ASSIGN_OR_RETURN(const KnownServers servers, KnownServers::Load(path));
  const std::string named = flags.server.empty() ? Environment("ATTUNE_URL") : flags.server;
  if (named.empty()) {
    if (std::optional<KnownServer> last = servers.Find()) return *std::move(last);
    return absl::NotFoundError(
        "no server is known; name one with --server https://HOST:9193, or save one with attune login");
  }
  ASSIGN_OR_RETURN(const std::string url, ServerUrl(named));
  return servers.Find(url).value_or(KnownServer{.url = url});
}

}  // namespace

void AddServerFlags(CLI::App& command, ServerFlags& flags) {
  command
      .add_option(
          "--server", flags.server,
          "the address of the server, https://HOST:9193 (default: $ATTUNE_URL, or that of the last attune "
          "login)")
      ->type_name("URL");
  command
      .add_option(
          "--token-file", flags.token_file,
          "a file with a token, which only you may read (default: $ATTUNE_TOKEN, or that of attune login)")
      ->type_name("FILE");
  command
      .add_option("--ca", flags.authorities,
                  "a file of certificates, in PEM, that authenticate the server (default: those of attune "
                  "login, or the system's)")
      ->type_name("FILE");
}

absl::StatusOr<KnownServer> MeantServerAlone(const ServerFlags& flags) {
  ASSIGN_OR_RETURN(KnownServer server, NamedServer(flags));
  if (flags.authorities.empty()) return server;
  server.trust = {};
  ASSIGN_OR_RETURN(server.trust.authorities_pem, ReadFile(flags.authorities, kMostAuthoritiesBytes));
  return server;
}

bool IsTokenGiven(const ServerFlags& flags) {
  return !flags.token_file.empty() || !Environment("ATTUNE_TOKEN").empty();
}

absl::StatusOr<KnownServer> MeantServer(const ServerFlags& flags) {
  ASSIGN_OR_RETURN(KnownServer server, MeantServerAlone(flags));
  if (IsTokenGiven(flags)) {
    server.token = Environment("ATTUNE_TOKEN");
    if (!flags.token_file.empty()) {
      ASSIGN_OR_RETURN(const std::string text, ReadPrivateFile(flags.token_file, kMostTokenBytes));
      server.token = absl::StripAsciiWhitespace(text);
    }
    server.login = {};
  } else {
    ASSIGN_OR_RETURN(server, Renewed(std::move(server)));
  }
  if (!server.token.empty()) return server;
  return absl::UnauthenticatedError(absl::StrCat("no token for ", server.url, " is known; attune login ",
                                                 server.url,
                                                 " keeps one; or give --token-file or $ATTUNE_TOKEN"));
}

absl::StatusOr<std::unique_ptr<JobsClient>> OpenJobsServer(const ServerFlags& flags,
                                                           const Cancellation* cancellation) {
  ASSIGN_OR_RETURN(const KnownServer server, MeantServer(flags));
  return OpenJobsServer(server, cancellation);
}

absl::StatusOr<std::unique_ptr<JobsClient>> OpenJobsServer(const KnownServer& server,
                                                           const Cancellation* cancellation) {
  RestClientOptions options = {.cancellation = cancellation, .on_away = [](const absl::Status& why) {
                                 PrintNote(absl::StrCat(why.message(), "; waiting for it"));
                               }};
  // A login's token may end while a command waits.
  if (!server.login.refresh_token.empty())
    options.renew_token = [server](const std::string& refused) -> absl::StatusOr<std::string> {
      KnownServer with_refused = server;
      with_refused.token = refused;
      ASSIGN_OR_RETURN(const KnownServer renewed, Renewed(std::move(with_refused), /*is_refused=*/true));
      return renewed.token;
    };
  return JobsClient::Open(server, options);
}

absl::Status AwaitJobs(JobsClient& server, Cancellation& cancellation, std::vector<RemoteJob>& jobs,
                       const std::function<absl::Status(size_t index)>& told) {
  const StopsOnSignal stops([](void* stopped) { static_cast<Cancellation*>(stopped)->Cancel(); },
                            &cancellation, "\n");
  constexpr size_t kMostAtOnce = 16;  // connections
  std::mutex mutex;
  std::atomic<size_t> next = 0;
  absl::Status failed;
  const auto follow_some = [&] {
    for (size_t index = 0; (index = next++) < jobs.size();) {
      const auto update = [&](const RemoteJob& job) -> absl::StatusOr<bool> {
        const std::lock_guard<std::mutex> lock(mutex);
        jobs[index] = job;
        RETURN_IF_ERROR(told(index));
        return true;
      };
      const absl::Status followed = server.Follow(jobs[index].id, update);
      const std::lock_guard<std::mutex> lock(mutex);
      failed.Update(followed);
      if (!followed.ok()) next = jobs.size();
    }
  };
  {
    ThreadGroup others;
    others.Start(static_cast<int>(std::min(jobs.size(), kMostAtOnce)) - 1, follow_some);
    follow_some();
  }
  if (!cancellation.is_cancelled()) return failed;
  return absl::CancelledError(
      "stopped waiting; the jobs continue on the server, and attune jobs list shows them");
}

}  // namespace attune
