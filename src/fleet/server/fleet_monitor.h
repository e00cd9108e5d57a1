// Tells metrics and health of a fleet's server by HTTP.
#ifndef ATTUNE_FLEET_SERVER_FLEET_MONITOR_H_
#define ATTUNE_FLEET_SERVER_FLEET_MONITOR_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "base/clock.h"
#include "fleet/server/dispatcher_snapshot.h"
#include "fleet/server/enrolment_service.h"
#include "fleet/server/fleet_server_options.h"
#include "fleet/server/fleet_server_state.h"
#include "http/router.h"
#include "http/server.h"

namespace attune {

// The server's metrics.
//
// Keys come from the fleet's members, and each is a series that Prometheus keeps: only a few, those that most
// requests wait for, have one of their own.
inline constexpr int kMostKeysInMetrics = 50;

struct ServerMetrics {
  DispatcherSnapshot dispatcher = {};
  int64_t blob_bytes = 0;
  int64_t enrolled = 0, refused_enrolments = 0;  // since the server has started
  int64_t revoked_certificates = 0;              // that would be valid otherwise
  double uptime_seconds = 0;
  int64_t resident_bytes = 0;  // memory of this process
  double cpu_seconds = 0;      // that it has used, of users and of the system
};

// Fills in the fields about this process.
void ObserveProcess(ServerMetrics& metrics);

// The text that Prometheus reads (metrics_text.h).
std::string FormatMetrics(const ServerMetrics& metrics);

// Answers everyone who reaches its address, once Begin() has been called and until Stop(). Not thread safe,
// except for Drain().
class FleetMonitor {
 public:
  // All arguments must outlive it; `beside` does not change after Begin().
  FleetMonitor(const FleetServerState& state, const EnrolmentService& enrolment,
               const ServiceForMembers& beside)
      : state_(state), enrolment_(enrolment), beside_(beside) {}

  // Listens at this address. Fails if the port is taken.
  absl::Status Begin(const std::string& address);
  // May be called without Begin(), and several times.
  void Stop() { http_.reset(); }
  // From now on, the server is not ready.
  void Drain() { is_draining_ = true; }

  // "host:port"; empty before Begin().
  const std::string& address() const { return address_; }

 private:
  absl::Status Readiness() const;
  std::string Metrics() const;
  HttpRouter Routes() const;

  const FleetServerState& state_;
  const EnrolmentService& enrolment_;
  const ServiceForMembers& beside_;
  const Stopwatch since_start_;
  std::atomic<bool> is_draining_ = false;
  std::string address_;
  std::unique_ptr<HttpServer> http_;  // null: nothing is told
};

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVER_FLEET_MONITOR_H_
