// The work of a fleet's server that is due from time to time.
#ifndef ATTUNE_FLEET_SERVER_FLEET_HOUSEKEEPING_H_
#define ATTUNE_FLEET_SERVER_FLEET_HOUSEKEEPING_H_

#include <optional>

#include "absl/status/status.h"
#include "base/background_loop.h"
#include "base/clock.h"
#include "fleet/identity/certificate.h"
#include "fleet/server/fleet_server_options.h"
#include "fleet/server/fleet_server_state.h"
#include "fleet/server/server_certificates.h"

namespace attune {

// One thread, which Begin() starts and Stop() ends, lets time pass for the dispatcher and the calibrator, and
// renews, closes and forgets what is due.
class FleetHousekeeping {
 public:
  // All arguments must outlive it; `beside` does not change after Begin().
  FleetHousekeeping(FleetServerState& state, ServerCertificates& certificates,
                    const ServiceForMembers& beside)
      : state_(state), certificates_(certificates), beside_(beside) {}

  // Fails if the system has no thread to give.
  absl::Status Begin() { return timer_.Start(); }
  // May be called without Begin(), and several times.
  void Stop() { timer_.Stop(); }

  // Closes connections by certificates that count no more: TLS does not look at them again. The thread does
  // it about once a second.
  void CloseRefused();

 private:
  // Does what is due. Returns the seconds until the next tick.
  double Tick();
  void ForgetEndedIfDue();
  void Close(const MemberRefusal& refusal);

  FleetServerState& state_;
  ServerCertificates& certificates_;
  const ServiceForMembers& beside_;
  Stopwatch since_housekeeping_;
  std::optional<Stopwatch> since_forgetting_;
  BackgroundLoop timer_{[this] { return Tick(); }};
};

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVER_FLEET_HOUSEKEEPING_H_
