#include "sweep/own_fleet.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/process/command.h"
#include "base/status.h"
#include "device/pin.h"
#include "nlohmann/json.hpp"
#include "sweep/own_program.h"

namespace attune {
namespace {

using Json = nlohmann::json;

constexpr double kReadySeconds = 60;  // until a server or a device is there
constexpr double kPollSeconds = 0.05;
constexpr double kGraceSeconds = 5;
constexpr int64_t kMostLogBytes = int64_t{16} << 20;
constexpr char kReady[] = "serving at ";  // is what the server says then

// How many devices with this key are there.
absl::StatusOr<int64_t> CountDevices(const std::string& key) {
  ASSIGN_OR_RETURN(const std::string text,
                   RunCommand({kOwnProgram, "fleet", "list", "--key", key, "--json", "-"}));
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("devices"))
    return InternalError("attune fleet list has not written devices");
  return std::ranges::count_if(json["devices"], [](const Json& device) {
    return device.is_object() && device.value("is_there", Json()) == Json(true);
  });
}

// Polls until `is_ready`, or until `process` has ended. `what` and `log` are for messages.
absl::Status AwaitReady(CompanionProcess& process, const std::string& what, const std::string& log,
                        const Cancellation& cancellation,
                        const std::function<absl::StatusOr<bool>()>& is_ready) {
  const Stopwatch watch;
  while (watch.Seconds() < kReadySeconds) {
    ASSIGN_OR_RETURN(const bool ready, is_ready());
    if (ready) return absl::OkStatus();
    if (cancellation.is_cancelled()) return absl::CancelledError("stopped");
    if (process.AwaitEnd(kPollSeconds))
      return absl::AbortedError(absl::StrCat(what, " has ended: ", LastErrorOfLog(log, 0), " (", log, ")"));
  }
  return absl::DeadlineExceededError(
      absl::StrCat(what, " is not there after ", kReadySeconds, " s; ", log, " may say why"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<OwnFleet>> OwnFleet::Start(const std::string& folder,
                                                          const std::vector<SweepAgent>& agents,
                                                          const Cancellation& cancellation) {
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  if (!error) std::filesystem::create_directories(folder, error);
  if (error)
    return absl::FailedPreconditionError(absl::StrCat(folder, ": cannot be made: ", error.message()));
  std::unique_ptr<OwnFleet> fleet(new OwnFleet(folder, cancellation));
  // No client has joined it, so commands act as its operator.
  setenv("ATTUNE_SERVER", (folder + "/server").c_str(), /*overwrite=*/1);
  setenv("ATTUNE_FLEET", (folder + "/nobody").c_str(), /*overwrite=*/1);
  RETURN_IF_ERROR(fleet->StartServer());
  for (const SweepAgent& agent : agents) RETURN_IF_ERROR(fleet->StartAgent(agent));
  return fleet;
}

OwnFleet::~OwnFleet() {
  // Agents first: they take leave of their server.
  while (!members_.empty()) {
    members_.back()->Stop(kGraceSeconds);
    members_.pop_back();
  }
}

absl::Status OwnFleet::StartServer() {
  const std::string log = folder_ + "/server.log";
  // Nothing but the sweep uses the devices, and none is quarantined: no operator is there to end that.
  ASSIGN_OR_RETURN(members_.emplace_back(),
                   CompanionProcess::Start(kOwnProgram,
                                           {"attune", "server", "--listen", "127.0.0.1:0", "--enrolment",
                                            "127.0.0.1:0", "--calibrate-minutes", "0"},
                                           folder_, log));
  return AwaitReady(*members_.back(), "attune server", log, cancellation_, [&]() -> absl::StatusOr<bool> {
    ASSIGN_OR_RETURN(const std::string said, ReadFile(log, kMostLogBytes));
    return said.find(kReady) != std::string::npos;
  });
}

absl::Status OwnFleet::StartAgent(const SweepAgent& agent) {
  ASSIGN_OR_RETURN(const int64_t before, CountDevices(agent.key));
  ASSIGN_OR_RETURN(const std::string printed,
                   RunCommand({kOwnProgram, "fleet", "invite", "--role", "agent", "--owner", "server"}));
  const std::string name = absl::StrCat("agent-", members_.size());
  const std::string log = absl::StrCat(folder_, "/", name, ".log");
  {
    std::optional<PinnedTo> pinned;
    if (!agent.processors.empty()) pinned.emplace(agent.processors);
    // The sweep's own work is trusted, as without a fleet.
    ASSIGN_OR_RETURN(members_.emplace_back(),
                     CompanionProcess::Start(
                         kOwnProgram,
                         {"attune", "agent", std::string(absl::StripAsciiWhitespace(printed)), "--state",
                          absl::StrCat(folder_, "/", name), "--key", agent.key, "--trust", "server"},
                         folder_, log));
  }
  return AwaitReady(*members_.back(), absl::StrCat("the agent of ", agent.key), log, cancellation_,
                    [&]() -> absl::StatusOr<bool> {
                      ASSIGN_OR_RETURN(const int64_t now, CountDevices(agent.key));
                      return now > before;
                    });
}

}  // namespace attune
