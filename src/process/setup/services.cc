#include "process/setup/services.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/process/sibling_program.h"
#include "base/state_file.h"
#include "base/status.h"
#include "device/codec.h"
#include "device/device.h"
#include "fleet/client/health.h"
#include "fleet/identity/certificate.h"
#include "fleet/identity/credentials.h"
#include "fleet/identity/member_folders.h"
#include "fleet/identity/pem_file.h"
#include "process/setup/containers.h"
#include "process/setup/processor_shares.h"
#include "service/access/access.h"

namespace attune {
namespace {

std::string LogOf(const Installation& installation, const std::string& name) {
  return absl::StrCat(installation.LogFolder(), "/", name, ".log");
}

std::string InvitationPath(const std::string& folder) { return folder + "/invitation"; }

// Whether the server lets these credentials in. True if that cannot be known now.
bool AreCurrent(const FleetCredentials& credentials) {
  return !absl::IsPermissionDenied(FleetClient(credentials).Devices("").status());
}

// Leaves an invitation in a member's folder if it has no credentials that count: it is new, or the server's
// state was restored from a backup that does not know it.
absl::Status Invite(const Installation& installation, const std::string& role, const std::string& folder) {
  if (const auto own = LoadCredentials(folder); own.ok() && AreCurrent(*own)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const FleetCredentials credentials,
                   LoadCredentials(OperatorFolder(installation.ServerFolder())));
  FleetClient fleet(credentials);
  if (role == Name(FleetRole::kAgent)) {
    ASSIGN_OR_RETURN(const DeviceInfo here, HostDevice());
    RETURN_IF_ERROR(ForgetReplaced(fleet, installation.key, here.fingerprint));
  }
  ASSIGN_OR_RETURN(const std::string invitation, fleet.Invite(role, kFirstTenant));
  RETURN_IF_ERROR(MakeStateFolder(folder));
  std::error_code error;
  std::filesystem::remove(folder + "/credentials.pem", error);
  if (error) return absl::FailedPreconditionError(absl::StrCat(folder, ": ", error.message()));
  Log(LogLevel::kInfo, "member invited", "role", role, "folder", folder);
  return WriteStateFile(InvitationPath(folder), invitation + "\n");
}

// The program of a member that enrols by the invitation.
ServiceProgram MemberProgram(const Installation& installation, const std::string& role,
                             const std::string& name, const std::string& folder) {
  const std::string program = SiblingProgram("attune");
  return {.name = name,
          .program = program,
          .arguments = {"attune", role, "--state", folder, "--invitation-file", InvitationPath(folder)},
          .log = LogOf(installation, name),
          .prepare = [=]() -> absl::Status {
            if (program.empty())
              return absl::NotFoundError(
                  "attune is neither beside attune-server nor in PATH; it is in the package attune");
            return Invite(installation, role, folder);
          }};
}

}  // namespace

absl::Status ForgetReplaced(FleetClient& fleet, const std::string& key, const std::string& fingerprint) {
  ASSIGN_OR_RETURN(const std::vector<fleet_proto::Device> devices, fleet.Overview(key));
  for (const fleet_proto::Device& device : devices) {
    const auto info = DecodeDevice(device.info());
    const bool is_replaced =
        !device.is_there() && device.owner() == kFirstTenant && info.ok() && info->fingerprint != fingerprint;
    if (!is_replaced) continue;
    Log(LogLevel::kInfo, "device is replaced", "device", device.id(), "key", key);
    fleet_proto::DeviceChange change;
    change.set_id(device.id());
    change.set_kind(fleet_proto::DeviceChange::REMOVE);
    RETURN_IF_ERROR(fleet.Change(change).status());
  }
  return absl::OkStatus();
}

ServiceProgram ServerProgram(const Installation& installation) {
  ServiceProgram server = {
      .name = "server",
      .arguments = {"attune", "server", "--state", installation.ServerFolder(), "--listen",
                    installation.listen, "--enrolment", installation.enrolment, "--metrics",
                    installation.metrics, "--http", installation.http},
      .log = LogOf(installation, "server")};
  const auto add = [&](const std::vector<std::string>& more) {
    server.arguments.insert(server.arguments.end(), more.begin(), more.end());
  };
  // Others see a command line, and the URL may have a password.
  if (!installation.database.empty()) add({"--database-file", installation.DatabasePath()});
  if (!installation.host.empty()) add({"--host", installation.host});
  if (!installation.http_tls.empty()) {
    add({"--http-tls"});
    add(installation.http_tls);
  }
  return server;
}

std::vector<ServiceProgram> MemberPrograms(const Installation& installation) {
  std::vector<ServiceProgram> programs;
  if (installation.agents == 0) return programs;
  const ProcessorShares shares = ShareThisMachine();
  const std::vector<std::string> flags = AgentFlags(installation);
  for (int agent = 1; agent <= installation.agents; ++agent) {
    ServiceProgram program =
        MemberProgram(installation, "agent", absl::StrCat("agent-", agent), installation.AgentFolder(agent));
    program.processors = shares.measuring;
    program.arguments.insert(program.arguments.end(), flags.begin(), flags.end());
    programs.push_back(std::move(program));
  }
  programs.push_back(MemberProgram(installation, "runner", "runner", installation.RunnerFolder()));
  programs.back().processors = shares.computing;
  return programs;
}

std::vector<std::string> AgentFlags(const Installation& installation) {
  std::vector<std::string> flags = {"--key", installation.key};
  for (const std::string& owner : installation.trusted) flags.insert(flags.end(), {"--trust", owner});
  return flags;
}

absl::Status CheckClock(const Installation& installation, const Clock& clock) {
  std::vector<std::string> folders = {OperatorFolder(installation.ServerFolder()),
                                      installation.RunnerFolder()};
  for (int agent = 1; agent <= installation.agents; ++agent)
    folders.push_back(installation.AgentFolder(agent));
  for (const std::string& folder : folders) {
    const absl::StatusOr<FleetCredentials> own = LoadCredentials(folder, clock);
    if (!own.ok()) continue;  // it is new, or gets others
    RETURN_IF_ERROR(CheckHasBegun(own->certificate_pem, clock));
    ASSIGN_OR_RETURN(const PemParts authorities, SplitPem(own->authorities_pem));
    for (const std::string& authority : authorities.certificates)
      RETURN_IF_ERROR(CheckHasBegun(authority, clock));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ServiceHealth(const Installation& installation, const std::string& name) {
  if (name == "server") return ServerHealth(installation.metrics);
  if (name == "runner") return RunnerHealth(installation.metrics);
  int agent = 0;
  constexpr std::string_view kAgent = "agent-";
  if (!absl::StartsWith(name, kAgent) || !absl::SimpleAtoi(name.substr(kAgent.size()), &agent))
    return InvalidInput("there is no service \"", name, "\"");
  if (installation.UsesContainers()) return AgentContainerHealth(installation, name);
  return AgentHealth(installation.AgentFolder(agent));
}

}  // namespace attune
