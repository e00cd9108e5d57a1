// Flags that say what a job on a server has to reach, and the agreement that they make.
#ifndef ATTUNE_CLI_AGREEMENT_FLAGS_H_
#define ATTUNE_CLI_AGREEMENT_FLAGS_H_

#include <string>

#include "CLI/CLI.hpp"
#include "cli/common/output.h"

namespace attune {

struct AgreementFlags {
  std::string latency, p99, accuracy_loss, size, device_time, deadline, priority;
};

void AddAgreementFlags(CLI::App& command, AgreementFlags& flags);

// Adds to the body that submits a job what the flags want of it: an agreement, or, if they name no promise
// that its kind can have, the deadline and the priority of the job alone. The flags must have been checked by
// the command line.
void AddAgreement(const AgreementFlags& flags, Json& job);

}  // namespace attune

#endif  // ATTUNE_CLI_AGREEMENT_FLAGS_H_
