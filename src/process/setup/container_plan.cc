#include "process/setup/container_plan.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "base/file.h"
#include "process/setup/services.h"
#include "service/access/access.h"

namespace attune {
namespace {

using Arguments = std::vector<std::string>;

constexpr char kLabel[] = "attune.up";
// The user of the images (tools/packages/images.py), who owns their folders for volumes. The engine gets it,
// so that an image without a user does not run as root.
constexpr char kUser[] = "1000:1000";
// The ports that the server listens at in its container, which has a network of its own.
constexpr char kHttpPort[] = "9193", kMembersPort[] = "9190", kEnrolmentPort[] = "9191",
               kMetricsPort[] = "9192";

void Append(Arguments& to, const Arguments& more) { to.insert(to.end(), more.begin(), more.end()); }

std::string LabelOf(const Installation& installation) {
  return absl::StrCat(kLabel, "=", ContainerPrefix(installation));
}

std::string ImageNamed(const Installation& installation, const std::string& name) {
  return absl::StrReplaceAll(installation.images, {{kImagePlaceholder, name}});
}

// "agent" of "agent-2".
std::string RoleOf(const std::string& service) { return service.substr(0, service.find('-')); }

std::string ImageOf(const Installation& installation, const std::string& service) {
  const std::string role = RoleOf(service);
  return ImageNamed(installation, role == "runner" ? "compiler" : role);
}

// The options that all containers have in common. `volume` is that of a service.
Arguments Confined(const Installation& installation, const std::string& volume) {
  // The images are complete: nothing is fetched.
  return {"--pull",
          "never",
          "--label",
          LabelOf(installation),
          "--user",
          kUser,
          "--read-only",
          "--tmpfs",
          "/tmp",
          "--cap-drop",
          "all",
          "--security-opt",
          "no-new-privileges",
          "--volume",
          absl::StrCat(ContainerName(installation, volume), ":/state"),
          "--env",
          "HOME=/state"};
}

// A container that ends by itself. Its output is a secret, which no engine's log may contain.
Arguments RunOnce(const Installation& installation, const std::string& volume) {
  Arguments arguments = {"run", "--rm", "--log-driver", "none"};
  Append(arguments, Confined(installation, volume));
  return arguments;
}

// One that the engine starts again whenever it ends.
Arguments RunService(const Installation& installation, const std::string& service) {
  Arguments arguments = {"run",       "--detach", "--name",    ContainerName(installation, service),
                         "--restart", "always",   "--network", ContainerPrefix(installation)};
  Append(arguments, Confined(installation, service));
  return arguments;
}

// "127.0.0.1:9193:9193" for a container's port.
std::string Published(const std::string& address, const char* port) {
  return absl::StrCat(address, ":", port);
}

}  // namespace

std::string UsualImages(const std::string& engine, const std::string& version) {
  // Podman puts images that came with no registry's name on this host.
  return absl::StrCat(engine == "podman" ? "localhost/" : "", "attune-", kImagePlaceholder, ":", version);
}

std::string ContainerPrefix(const Installation& installation) {
  constexpr size_t kDigits = 8;
  return absl::StrCat("attune-", Sha256Hex(installation.folder).substr(0, kDigits));
}

std::string ContainerName(const Installation& installation, const std::string& service) {
  return absl::StrCat(ContainerPrefix(installation), "-", service);
}

Arguments ContainerServices(const Installation& installation) {
  Arguments services = {"server"};
  for (int agent = 1; agent <= installation.agents; ++agent)
    services.push_back(absl::StrCat("agent-", agent));
  if (installation.agents > 0) services.push_back("runner");
  return services;
}

Arguments ContainerImages(const Installation& installation) {
  if (installation.agents == 0) return {ImageNamed(installation, "server")};
  return {ImageNamed(installation, "server"), ImageNamed(installation, "agent"),
          ImageNamed(installation, "compiler")};
}

Arguments ContainerVolumes(const Installation& installation) {
  Arguments volumes;
  for (const std::string& service : ContainerServices(installation))
    volumes.push_back(ContainerName(installation, service));
  volumes.push_back(ContainerName(installation, "leases"));
  return volumes;
}

std::string ContainerFilter(const Installation& installation) {
  return absl::StrCat("label=", LabelOf(installation));
}

Arguments NetworkArguments(const Installation& installation) {
  return {"network", "create", "--label", LabelOf(installation), ContainerPrefix(installation)};
}

Arguments VolumeArguments(const Installation& installation, const std::string& volume) {
  return {"volume", "create", "--label", LabelOf(installation), volume};
}

Arguments FirstTokenArguments(const Installation& installation) {
  Arguments arguments = RunOnce(installation, "server");
  Append(arguments,
         {"--network", "none", "--entrypoint", "attune", ImageOf(installation, "server"), "server", "token",
          "first", "--role", "admin", "--if-none", "--state", StateInContainer("server")});
  return arguments;
}

Arguments ServerArguments(const Installation& installation) {
  Arguments arguments = RunService(installation, "server");
  Append(arguments, {"--publish",
                     Published(installation.http, kHttpPort),
                     "--publish",
                     Published(installation.metrics, kMetricsPort),
                     "--env",
                     absl::StrCat("ATTUNE_SERVER=", StateInContainer("server")),
                     "--entrypoint",
                     "attune",
                     ImageOf(installation, "server"),
                     "server",
                     "--state",
                     StateInContainer("server"),
                     "--host",
                     ContainerName(installation, "server"),
                     "--listen",
                     absl::StrCat("0.0.0.0:", kMembersPort),
                     "--enrolment",
                     absl::StrCat("0.0.0.0:", kEnrolmentPort),
                     "--metrics",
                     absl::StrCat("0.0.0.0:", kMetricsPort),
                     "--http",
                     absl::StrCat("0.0.0.0:", kHttpPort),
                     "--http-in-the-clear"});
  return arguments;
}

Arguments InviteArguments(const Installation& installation, const std::string& service) {
  const std::string folder = StateInContainer(service);
  Arguments arguments = RunOnce(installation, service);
  // The invitation goes from one volume to the other, and never through this machine.
  Append(arguments,
         {"--network", ContainerPrefix(installation), "--volume",
          absl::StrCat(ContainerName(installation, "server"), ":/server"), "--env",
          "ATTUNE_SERVER=/server/server", "--entrypoint", "sh", ImageOf(installation, service), "-euc",
          absl::StrCat("umask 077; mkdir -p ", folder, "; test -e ", folder,
                       "/credentials.pem || attune fleet invite --role ", RoleOf(service), " --owner ",
                       kFirstTenant, " > ", folder, "/invitation")});
  return arguments;
}

Arguments MemberArguments(const Installation& installation, const std::string& service,
                          const ProcessorShares& shares) {
  const std::string role = RoleOf(service);
  const bool is_agent = role == "agent";
  const std::vector<int>& processors = is_agent ? shares.measuring : shares.computing;
  Arguments command = {"attune",
                       role,
                       "--state",
                       StateInContainer(service),
                       "--invitation-file",
                       absl::StrCat(StateInContainer(service), "/invitation")};
  Arguments arguments = RunService(installation, service);
  // The agents of one machine measure one after the other.
  Append(arguments, {"--volume", absl::StrCat(ContainerName(installation, "leases"), ":/leases"), "--env",
                     "ATTUNE_LEASES=/leases"});
  if (is_agent) {
    Append(arguments, {"--env", absl::StrCat("ATTUNE_AGENT=", StateInContainer(service))});
    Append(command, AgentFlags(installation));
  }
  if (processors.empty()) {
    Append(arguments, {"--entrypoint", "attune", ImageOf(installation, service)});
    command.erase(command.begin());
  } else {
    // Not the engine's --cpuset-cpus, which users without root mostly may not use.
    Append(arguments, {"--entrypoint", "taskset", ImageOf(installation, service), "--cpu-list",
                       absl::StrJoin(processors, ",")});
  }
  Append(arguments, command);
  return arguments;
}

Arguments RestoreArguments(const Installation& installation) {
  // Some engines log what `exec` prints too, which will be a token.
  Arguments arguments = {"run",       "--detach", "--name",       ContainerName(installation, "restore"),
                         "--network", "none",     "--log-driver", "none"};
  Append(arguments, Confined(installation, "server"));
  Append(arguments, {"--entrypoint", "sleep", ImageOf(installation, "server"), "infinity"});
  return arguments;
}

std::string StateInContainer(const std::string& service) { return absl::StrCat("/state/", RoleOf(service)); }

}  // namespace attune
