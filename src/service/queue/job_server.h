// The jobs of a server, which REST asks for, and the gRPC service of its runners (wire/jobs.proto), which are
// members of the fleet beside it.
#ifndef ATTUNE_SERVICE_QUEUE_JOB_SERVER_H_
#define ATTUNE_SERVICE_QUEUE_JOB_SERVER_H_

#include <grpcpp/grpcpp.h>

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/metrics_text.h"
#include "fleet/identity/certificate.h"
#include "fleet/serving/fleet_parts.h"
#include "service/queue/job_desk.h"

namespace attune {

// Thread safe.
class JobServer {
 public:
  virtual ~JobServer() = default;

  // Lives as long as this server.
  virtual JobDesk& desk() = 0;
  // The service of runners, on the port for members.
  virtual grpc::Service& service() = 0;
  virtual void AddMetrics(MetricsText& text) const = 0;
  // Runners reach the service from now on. Fails if the schedule cannot be opened.
  virtual absl::Status Begin() = 0;
  // Cuts short what the schedule does; calls are still answered.
  virtual void Stop() = 0;
  // Closes the connections of runners that `refusal` refuses, with its reason.
  virtual void Close(const MemberRefusal& refusal) = 0;
};

// Fails if the folder cannot be made.
absl::StatusOr<std::unique_ptr<JobServer>> MakeJobServer(const JobScheduleOptions& options,
                                                         const FleetParts& parts);

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_JOB_SERVER_H_
