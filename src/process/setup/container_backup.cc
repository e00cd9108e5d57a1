#include "process/setup/container_backup.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/memory_file.h"
#include "base/output_file.h"
#include "base/status.h"
#include "process/setup/container_engine.h"
#include "process/setup/container_plan.h"
#include "process/setup/containers.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

// In the containers. The passphrase is in memory, and both go away in the end.
constexpr char kPassphrase[] = "/tmp/passphrase", kBackup[] = "/state/backup";
constexpr CommandLimits kLongLimits = {.seconds = 86'400};

// Runs a script of the shell in a container, with the file as its input.
absl::StatusOr<std::string> RunScript(const Installation& installation, const std::string& container,
                                      const std::string& script, const std::string& input) {
  return AskEngine(installation, {"exec", "--interactive", container, "sh", "-euc", "umask 077; " + script},
                   {.input = input}, kLongLimits);
}

absl::Status RemoveContainer(const Installation& installation, const std::string& name) {
  return AskEngine(installation, {"rm", "--force", "--volumes", name}).status();
}

absl::StatusOr<std::string> FillVolume(const Installation& installation, const std::string& container,
                                       const std::string& file, const std::string& passphrase) {
  RETURN_IF_ERROR(AskEngine(installation, RestoreArguments(installation)).status());
  ASSIGN_OR_RETURN(const MemoryFile secret, MemoryFile::Of(passphrase + "\n"));
  RETURN_IF_ERROR(
      RunScript(installation, container, absl::StrCat("cat > ", kPassphrase), secret.path()).status());
  RETURN_IF_ERROR(RunScript(installation, container, absl::StrCat("cat > ", kBackup), file).status());
  ASSIGN_OR_RETURN(const std::string token,
                   AskEngine(installation,
                             {"exec", container, "attune", "restore", kBackup, "--state",
                              StateInContainer("server"), "--passphrase-file", kPassphrase},
                             {}, kLongLimits));
  RETURN_IF_ERROR(AskEngine(installation, {"exec", container, "rm", "--force", kBackup}).status());
  return std::string(absl::StripAsciiWhitespace(token));
}

}  // namespace

absl::StatusOr<std::string> BackUpContainer(const Installation& installation, const std::string& file,
                                            const std::string& passphrase) {
  RETURN_IF_ERROR(OutputFile::Check(file));
  std::error_code error;
  const std::string server = ContainerName(installation, "server");
  ASSIGN_OR_RETURN(const std::vector<ServiceState> states, ContainerStates(installation));
  if (states.empty() || states.front().pid == 0)
    return absl::UnavailableError(
        absl::StrCat(server, ": does not run, and its container makes the backup; run attune up first"));
  ASSIGN_OR_RETURN(const MemoryFile secret, MemoryFile::Of(passphrase + "\n"));
  const absl::StatusOr<std::string> said = RunScript(
      installation, server,
      absl::StrCat("trap 'rm -f ", kPassphrase, "' EXIT; cat > ", kPassphrase, "; attune backup ", kBackup,
                   " --state ", StateInContainer("server"), " --passphrase-file ", kPassphrase),
      secret.path());
  RETURN_IF_ERROR(said.status());
  // A colon in a relative path would make it one of a container.
  const std::string path = fs::absolute(file, error).string();
  const absl::Status copied =
      AskEngine(installation, {"cp", absl::StrCat(server, ":", kBackup), path}, {}, kLongLimits).status();
  RETURN_IF_ERROR(AskEngine(installation, {"exec", server, "rm", "--force", kBackup}).status());
  RETURN_IF_ERROR(copied);
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write, error);
  if (error) return absl::FailedPreconditionError(absl::StrCat(file, ": ", error.message()));
  return absl::StrCat(file, absl::StripPrefix(*said, kBackup));
}

absl::StatusOr<std::string> RestoreContainer(const Installation& installation, const std::string& file,
                                             const std::string& passphrase) {
  ASSIGN_OR_RETURN(const std::vector<ServiceState> states, ContainerStates(installation));
  if (!states.empty())
    return absl::FailedPreconditionError(absl::StrCat(
        ContainerPrefix(installation), ": its containers are there; attune down --keep-state ends them"));
  const std::string volume = ContainerName(installation, "server");
  ASSIGN_OR_RETURN(const std::vector<std::string> volumes, ListVolumes(installation));
  if (std::ranges::find(volumes, volume) != volumes.end())
    return absl::FailedPreconditionError(
        absl::StrCat(volume, ": the server's volume is there already, and restoring overwrites nothing; ",
                     installation.engine, " volume rm ", volume, " removes it"));
  RETURN_IF_ERROR(CheckImages(installation));
  RETURN_IF_ERROR(AskEngine(installation, VolumeArguments(installation, volume)).status());
  const std::string container = ContainerName(installation, "restore");
  absl::StatusOr<std::string> token = FillVolume(installation, container, file, passphrase);
  const absl::Status removed = RemoveContainer(installation, container);
  if (!token.ok()) {
    RemoveVolumes(installation, {volume}).IgnoreError();
    return token;
  }
  RETURN_IF_ERROR(removed);
  RETURN_IF_ERROR(RemoveVolumes(installation, volumes));
  return token;
}

}  // namespace attune
