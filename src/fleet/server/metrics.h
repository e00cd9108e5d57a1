// The server's metrics.
#ifndef ATTUNE_FLEET_SERVER_METRICS_H_
#define ATTUNE_FLEET_SERVER_METRICS_H_

#include <cstdint>
#include <string>

#include "fleet/server/dispatcher_snapshot.h"

namespace attune {

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

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVER_METRICS_H_
