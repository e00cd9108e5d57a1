#include "cli/enrolment.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <system_error>
#include <thread>

#include "base/clock.h"
#include "base/log.h"
#include "base/private_file.h"
#include "base/status.h"
#include "cli/common/output.h"
#include "fleet/client/fleet_client.h"
#include "fleet/identity/credentials.h"
#include "fleet/identity/invitation.h"

namespace attune {
namespace {

constexpr int64_t kMostInvitationBytes = 4096;
constexpr char kStandardInput[] = "-";
constexpr std::chrono::seconds kEnrolmentPause(5);

// Reads an invitation from a file that only its owner may read; "-": a line of standard input.
absl::StatusOr<Invitation> ReadInvitation(const std::string& file) {
  std::string text;
  if (file == kStandardInput) {
    if (isatty(STDIN_FILENO) != 0) PrintNote("paste the invitation, and press Enter");
    std::getline(std::cin, text);
    text.resize(std::min<size_t>(text.size(), kMostInvitationBytes));
  } else {
    ASSIGN_OR_RETURN(text, ReadPrivateFile(file, kMostInvitationBytes));
  }
  absl::StatusOr<Invitation> invitation = Invitation::Parse(text);
  if (!invitation.ok())
    return Annotate(invitation.status(), file == kStandardInput ? "standard input" : file);
  return invitation;
}

absl::Status EnrolByText(const std::string& text, const std::string& folder) {
  if (LoadCredentials(folder).ok())
    return InvalidInput(
        folder, ": holds credentials already; leave the invitation out, or name another folder with --state");
  ASSIGN_OR_RETURN(const Invitation invitation, Invitation::Parse(text));
  ASSIGN_OR_RETURN(const FleetCredentials credentials, EnrolInFleet(invitation));
  return SaveCredentials(folder, credentials);
}

absl::Status EnrolByFile(const std::string& file, const std::string& folder) {
  if (LoadCredentials(folder).ok()) return absl::OkStatus();  // it has started again
  ASSIGN_OR_RETURN(const Invitation invitation, ReadInvitation(file));
  const Stopwatch since_start;
  absl::StatusOr<FleetCredentials> credentials = EnrolInFleet(invitation);
  // They come many at once, as long as the invitation counts.
  while (absl::IsUnavailable(credentials.status()) || absl::IsResourceExhausted(credentials.status())) {
    if (since_start.Seconds() > kInvitationSeconds) break;
    Log(LogLevel::kWarning, "not enrolled yet", "reason", credentials.status().message());
    std::this_thread::sleep_for(kEnrolmentPause);
    credentials = EnrolInFleet(invitation);
  }
  RETURN_IF_ERROR(credentials.status());
  RETURN_IF_ERROR(SaveCredentials(folder, *credentials));
  std::error_code ignored;  // it counts no more
  if (file != kStandardInput) std::filesystem::remove(file, ignored);
  return absl::OkStatus();
}

}  // namespace

void AddEnrolmentFlags(CLI::App& command, EnrolmentFlags& flags) {
  CLI::Option* invitation =
      command.add_option("INVITATION", flags.invitation,
                         "the text that attune fleet invite has printed; needed once, to enrol. Other users "
                         "of this machine can see arguments: prefer --invitation-file");
  command
      .add_option("--invitation-file", flags.invitation_file,
                  "read it from this file, which only you may read, and delete the file; -: from standard "
                  "input. Waits for the server")
      ->type_name("FILE")
      ->excludes(invitation);
}

absl::Status Enrol(const EnrolmentFlags& flags, const std::string& folder) {
  if (!flags.invitation.empty()) return EnrolByText(flags.invitation, folder);
  return flags.invitation_file.empty() ? absl::OkStatus() : EnrolByFile(flags.invitation_file, folder);
}

}  // namespace attune
