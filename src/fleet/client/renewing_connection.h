// A member's connection to the fleet's server, whose certificate is renewed before it ends.
#ifndef ATTUNE_FLEET_CLIENT_RENEWING_CONNECTION_H_
#define ATTUNE_FLEET_CLIENT_RENEWING_CONNECTION_H_

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <memory>
#include <mutex>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "fleet/identity/credentials.h"

namespace attune {

// Another certificate for the same key, on a connection of its own.
absl::StatusOr<FleetCredentials> RenewCredentials(const FleetCredentials& credentials);

// Renews after a call that the server has answered, so that a server that is away causes only one delay.
// Thread safe; the clock must outlive it.
class RenewingConnection {
 public:
  // Renewed credentials replace those in the credentials' folder; if they are no file, they last as long as
  // this object.
  explicit RenewingConnection(FleetCredentials credentials, const Clock& clock = SystemClock());

  // For the next call.
  std::shared_ptr<grpc::Channel> channel() const;
  FleetCredentials credentials() const;
  // To be called when the server has begun to answer a call: renews if it asks for that, or if it is time.
  void OnAnswer(const grpc::ClientContext& context);
  // The server has asked for it on a stream, which it does once for each: it is time, whatever failed before.
  void AskToRenew();
  // A failure is logged, and tried again in a minute.
  void RenewIfDue();

 private:
  // For those who hold the mutex.
  void Use(FleetCredentials credentials);
  bool IsDue() const;

  const Clock& clock_;
  std::mutex renewing_;  // held by the one thread that renews

  mutable std::mutex mutex_;
  FleetCredentials credentials_;
  std::shared_ptr<grpc::Channel> channel_;
  bool is_asked_ = false;
  int64_t renewal_ms_ = 0;
  double retry_from_ = 0;  // after a failure; the clock's time
};

}  // namespace attune

#endif  // ATTUNE_FLEET_CLIENT_RENEWING_CONNECTION_H_
