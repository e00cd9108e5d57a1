#include "process/setup/containers.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/process/pipe.h"
#include "base/status.h"
#include "nlohmann/json.hpp"
#include "process/setup/container_engine.h"
#include "process/setup/container_plan.h"

namespace attune {
namespace {

using Json = nlohmann::ordered_json;

// Asks for names of what has the installation's label, one a line.
absl::StatusOr<std::vector<std::string>> ListNames(const Installation& installation,
                                                   std::vector<std::string> command,
                                                   const char* format = "{{.Name}}") {
  command.insert(command.end(), {"--filter", ContainerFilter(installation), "--format", format});
  ASSIGN_OR_RETURN(const std::string text, AskEngine(installation, std::move(command)));
  return std::vector<std::string>(absl::StrSplit(text, '\n', absl::SkipWhitespace()));
}

absl::StatusOr<std::vector<std::string>> ListContainers(const Installation& installation) {
  return ListNames(installation, {"ps", "--all"}, "{{.Names}}");
}

absl::StatusOr<std::vector<std::string>> ListNetworks(const Installation& installation) {
  return ListNames(installation, {"network", "ls"});
}

absl::Status Ask(const Installation& installation, std::vector<std::string> command,
                 const std::vector<std::string>& names) {
  if (names.empty()) return absl::OkStatus();
  command.insert(command.end(), names.begin(), names.end());
  return AskEngine(installation, std::move(command)).status();
}

ServiceState StateOf(const Json& container) {
  const Json& state = container.at("State");
  const std::string status = state.at("Status");
  ServiceState found = {.name = container.at("Name"), .restarts = container.value("RestartCount", 0)};
  if (found.name.starts_with('/')) found.name.erase(0, 1);  // so docker has it
  if (status == "running") found.pid = state.at("Pid");
  if (status != "running" || found.restarts > 0)
    found.end = absl::StrCat("exit status ", state.value("ExitCode", 0));
  return found;
}

// By their names, which are those of containers here.
absl::StatusOr<std::map<std::string, ServiceState>> InspectContainers(const Installation& installation) {
  std::map<std::string, ServiceState> found;
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ListContainers(installation));
  if (names.empty()) return found;
  std::vector<std::string> command = {"container", "inspect"};
  command.insert(command.end(), names.begin(), names.end());
  ASSIGN_OR_RETURN(const std::string text, AskEngine(installation, std::move(command)));
  try {
    for (const Json& container : Json::parse(text)) {
      ServiceState state = StateOf(container);
      found[state.name] = std::move(state);
    }
  } catch (const Json::exception& error) {
    return absl::UnavailableError(
        absl::StrCat(installation.engine, " container inspect: answers in an unknown form: ", error.what()));
  }
  return found;
}

}  // namespace

absl::Status CheckImages(const Installation& installation) {
  for (const std::string& image : ContainerImages(installation)) {
    const absl::Status status = AskEngine(installation, {"image", "inspect", image}).status();
    if (status.ok()) continue;
    if (!absl::IsUnavailable(status)) return status;
    return absl::NotFoundError(absl::StrCat(installation.engine, " has no image ", image,
                                            "; ./do images makes it, ", installation.engine,
                                            " load -i or pull brings it in, and --images names another one"));
  }
  return absl::OkStatus();
}

absl::Status MakeNetworkAndVolumes(const Installation& installation) {
  ASSIGN_OR_RETURN(const std::vector<std::string> networks, ListNetworks(installation));
  if (networks.empty()) RETURN_IF_ERROR(AskEngine(installation, NetworkArguments(installation)).status());
  ASSIGN_OR_RETURN(const std::vector<std::string> there, ListVolumes(installation));
  for (const std::string& volume : ContainerVolumes(installation)) {
    if (std::ranges::find(there, volume) != there.end()) continue;
    RETURN_IF_ERROR(AskEngine(installation, VolumeArguments(installation, volume)).status());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> MakeFirstTokenInContainer(const Installation& installation) {
  ASSIGN_OR_RETURN(const std::string text, AskEngine(installation, FirstTokenArguments(installation)));
  return std::string(absl::StripAsciiWhitespace(text));
}

absl::Status StartServerContainer(const Installation& installation) {
  return AskEngine(installation, ServerArguments(installation)).status();
}

absl::Status StartMemberContainers(const Installation& installation) {
  const ProcessorShares shares = ShareThisMachine();
  for (const std::string& service : ContainerServices(installation)) {
    if (service == "server") continue;
    RETURN_IF_ERROR(AskEngine(installation, InviteArguments(installation, service)).status());
    RETURN_IF_ERROR(AskEngine(installation, MemberArguments(installation, service, shares)).status());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ServiceState>> ContainerStates(const Installation& installation) {
  std::vector<ServiceState> states;
  ASSIGN_OR_RETURN(const auto containers, InspectContainers(installation));
  if (containers.empty()) return states;
  for (const std::string& service : ContainerServices(installation)) {
    const auto found = containers.find(ContainerName(installation, service));
    states.push_back(found == containers.end() ? ServiceState() : found->second);
    states.back().name = service;
  }
  return states;
}

absl::StatusOr<std::string> AgentContainerHealth(const Installation& installation,
                                                 const std::string& service) {
  ASSIGN_OR_RETURN(const std::string text,
                   AskEngine(installation, {"exec", ContainerName(installation, service), "attune", "health",
                                            "agent", "--state", StateInContainer(service)}));
  return std::string(absl::StripAsciiWhitespace(text));
}

std::string EndOfContainerLog(const Installation& installation, const std::string& service) {
  PrintedErrors printed;
  const std::string name = ContainerName(installation, service);
  const absl::StatusOr<std::string> text =
      AskEngine(installation, {"logs", "--tail", "10", name}, {.joins_errors = true});
  if (text.ok()) printed.Add(*text);
  return absl::StrCat("; see ", installation.engine, " logs ", name, printed.Suffix());
}

absl::StatusOr<bool> RemoveContainers(const Installation& installation) {
  ASSIGN_OR_RETURN(const auto containers, InspectContainers(installation));
  const std::string server = ContainerName(installation, "server");
  std::vector<std::string> names, members, servers;
  bool has_run = false;
  for (const auto& [name, state] : containers) {
    names.push_back(name);
    if (state.pid == 0) continue;
    has_run = true;
    (name == server ? servers : members).push_back(name);
  }
  // Members first, so that they need not wait for a server that is gone.
  RETURN_IF_ERROR(Ask(installation, {"stop", "-t", "20"}, members));
  RETURN_IF_ERROR(Ask(installation, {"stop", "-t", "20"}, servers));
  RETURN_IF_ERROR(Ask(installation, {"rm", "--force", "--volumes"}, names));
  ASSIGN_OR_RETURN(const std::vector<std::string> networks, ListNetworks(installation));
  RETURN_IF_ERROR(Ask(installation, {"network", "rm"}, networks));
  return has_run;
}

absl::StatusOr<std::vector<std::string>> ListVolumes(const Installation& installation) {
  return ListNames(installation, {"volume", "ls"});
}

absl::Status RemoveVolumes(const Installation& installation, const std::vector<std::string>& volumes) {
  return Ask(installation, {"volume", "rm"}, volumes);
}

}  // namespace attune
