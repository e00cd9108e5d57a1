// The checks of attune doctor. Each says what it has found; nothing in it names the user or the
// machine's host, or is a secret, since people paste it into reports.
#ifndef ATTUNE_CLI_DOCTOR_CHECKS_H_
#define ATTUNE_CLI_DOCTOR_CHECKS_H_

#include <string>
#include <vector>

#include "cli/common/output.h"
#include "device/machine_facts.h"

namespace attune {

struct Finding {
  std::string name;          // "processor"
  std::string text;          // what there is
  std::string way_out = {};  // empty: there is no problem
  Json facts = Json::object();
};

Finding CheckVersion();
Finding CheckProcessor(const MachineFacts& machine);
// How many threads networks run on, and why.
Finding CheckThreads(const MachineFacts& machine);
Finding CheckSystem(const MachineFacts& machine);
Finding CheckMemory(const MachineFacts& machine);
Finding CheckGovernor(const MachineFacts& machine);
// Takes a moment, in which whatever computes belongs to other programs.
Finding CheckLoad(const MachineFacts& machine);
Finding CheckRecords();
Finding CheckCache();
// Call it while this process has no other threads.
Finding CheckSandbox();
Finding CheckFleet();
Finding CheckServer();

// All of them.
std::vector<Finding> ExamineThisMachine();

// The path with "~" for the home folder, and "USER" for other folders with the user's name.
std::string WithoutUser(const std::string& path, const std::string& home);

}  // namespace attune

#endif  // ATTUNE_CLI_DOCTOR_CHECKS_H_
