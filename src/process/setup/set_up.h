// `attune up` and `attune down`: sets the services of an installation up and takes them down again.
#ifndef ATTUNE_PROCESS_SETUP_SET_UP_H_
#define ATTUNE_PROCESS_SETUP_SET_UP_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "process/setup/installation.h"
#include "process/setup/supervised_service.h"

namespace attune {

struct ServiceReport {
  ServiceState state = {};
  bool is_healthy = false;
  std::string health = {};  // one line
};

// Whether something watches over the services: the supervisor, or the engine that has all their containers.
absl::StatusOr<bool> ServicesRun(const Installation& installation);
// The services as they are now; empty if nothing runs. Fails if the engine of containers does not answer.
absl::StatusOr<std::vector<ServiceReport>> ReportServices(const Installation& installation);

struct SetUpOptions {
  double seconds = 180;  // until all must be healthy
  // Is told what it waits for, again and again.
  std::function<void(const std::string& stage)> show = [](const std::string&) {};
};

// Starts the services, and waits until all are healthy. Ports of 0 become ones of the system's choice, and
// the settings are kept in the folder. If it fails, nothing runs, and the error has the end of the log.
absl::Status SetUp(Installation& installation, const SetUpOptions& options);

// Ends the services, and keeps their state. False if none ran.
absl::StatusOr<bool> StopServices(const Installation& installation);
// Removes what they have left, once they have ended.
absl::Status RemoveState(const Installation& installation);

// The text of the first token; empty once a user has seen it and it is forgotten.
absl::StatusOr<std::string> ReadFirstToken(const Installation& installation);
absl::Status ForgetFirstToken(const Installation& installation);

}  // namespace attune

#endif  // ATTUNE_PROCESS_SETUP_SET_UP_H_
