// The service Enrolment (wire/fleet.proto), which anyone may call who has an invitation.
#ifndef ATTUNE_FLEET_SERVER_ENROLMENT_SERVICE_H_
#define ATTUNE_FLEET_SERVER_ENROLMENT_SERVICE_H_

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <cstdint>

#include "base/rate_limit.h"
#include "fleet/admission/admission.h"
#include "fleet/wire/fleet.grpc.pb.h"

namespace attune {

// Thread safe. The admission must outlive it.
class EnrolmentService final : public fleet_proto::Enrolment::Service {
 public:
  explicit EnrolmentService(Admission& admission) : admission_(admission) {}

  // ResourceExhausted for an address that fails too often.
  grpc::Status Enrol(grpc::ServerContext* context, const fleet_proto::EnrolRequest* request,
                     fleet_proto::Certificate* certificate) override;

  // How many attempts had these results since the server has started.
  int64_t enrolled() const { return enrolled_; }
  int64_t refused() const { return refused_; }

 private:
  Admission& admission_;
  // Bounds the attempts to enrol from each network address, since the port is open to all and each attempt
  // costs the server work. An invitation's secret cannot be guessed in any number of attempts.
  RateLimit limit_;
  std::atomic<int64_t> enrolled_ = 0, refused_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVER_ENROLMENT_SERVICE_H_
