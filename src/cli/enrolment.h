// Lets services that run on other machines, and people, join a fleet.
#ifndef ATTUNE_CLI_ENROLMENT_H_
#define ATTUNE_CLI_ENROLMENT_H_

#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"

namespace attune {

struct EnrolmentFlags {
  std::string invitation, invitation_file;
};

// The argument INVITATION, which others on the machine see, and the flag --invitation-file.
void AddEnrolmentFlags(CLI::App& command, EnrolmentFlags& flags);

// Enrols by the invitation, if there is one, and keeps the credentials in the folder. One in a file counts
// only until then, since unattended services restart with the same command; and it waits for a server that
// has no time for it yet.
absl::Status Enrol(const EnrolmentFlags& flags, const std::string& folder);

}  // namespace attune

#endif  // ATTUNE_CLI_ENROLMENT_H_
