// Lets a job's process measure on a device of the fleet.
#ifndef ATTUNE_SERVICE_RUNNER_ELSEWHERE_H_
#define ATTUNE_SERVICE_RUNNER_ELSEWHERE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "measure/service.h"

namespace attune {

// A ServiceElsewhere (work/driver/runner_worker.h): `credentials` are those that the server has given for the
// job.
absl::StatusOr<std::shared_ptr<MeasuringService>> MeasureElsewhere(const std::string& key,
                                                                   const std::string& credentials);

// A PortElsewhere: that of the server which has given the credentials.
int MeasuringPort(const std::string& credentials);

}  // namespace attune

#endif  // ATTUNE_SERVICE_RUNNER_ELSEWHERE_H_
