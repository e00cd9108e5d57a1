#include "process/commands/server_limits.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status.h"

namespace attune {
namespace {

// Raises the limit of open files and connections as far as the system lets this process. Returns the limit
// that holds then.
int64_t RaiseOpenFiles() {
  constexpr rlim_t kEnough = 1 << 20;  // where there is no limit at all
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlimit raised = {.rlim_cur = std::max(limit.rlim_cur, std::min(limit.rlim_max, kEnough)),
                         .rlim_max = limit.rlim_max};
  if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  return static_cast<int64_t>(std::min(limit.rlim_cur, kEnough));
}

}  // namespace

void AddServerLimitOptions(CLI::App& command, ServerLimitFlags& flags) {
  constexpr int kMost = 1'000'000;
  const auto add = [&](const char* name, int& value, int least, const char* help) {
    command.add_option(name, value, absl::StrCat(help, " (default: ", value, ")"))
        ->check(CLI::Range(least, kMost));
  };
  add("--connections", flags.connections, 1, "most connections of people and programs to --http at a time");
  add("--address-connections", flags.of_address, 0, "most of these from one address; 0: no limit");
  command
      .add_option("--proxy", flags.proxies,
                  "address of a reverse proxy, or of another server on the same database, that connects for "
                  "many: --address-connections does not limit it, and its X-Forwarded-For counts")
      ->type_name("ADDRESS")
      ->take_all();
  add("--token-streams", flags.token_streams, 1, "most streams of events that one token follows at a time");
  add("--tenant-streams", flags.tenant_streams, 1,
      "most streams of events that one tenant follows at a time");
}

absl::Status SetServerLimits(const ServerLimitFlags& flags, RestServerOptions& rest) {
  // The other half is for databases, files and members of the fleet.
  const int64_t most = RaiseOpenFiles() / 2;
  rest.connections = {.in_all = static_cast<int>(std::min<int64_t>(flags.connections, most)),
                      .of_address = flags.of_address};
  if (rest.connections.in_all < flags.connections)
    Log(LogLevel::kWarning, "the process may open too few files for all connections", "connections",
        rest.connections.in_all, "wanted", flags.connections);
  RETURN_IF_ERROR(Annotate(AddProxies(flags.proxies, rest.connections), "--proxy"));
  // Requests use the connections that streams leave.
  constexpr int kStreamsOf = 3, kConnectionsOf = 5;
  rest.streams = {.of_token = flags.token_streams,
                  .of_tenant = flags.tenant_streams,
                  .in_all = std::max(1, rest.connections.in_all * kStreamsOf / kConnectionsOf)};
  return absl::OkStatus();
}

}  // namespace attune
