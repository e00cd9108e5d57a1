#include "fleet/server/fleet_monitor.h"

#include "base/metrics_text.h"
#include "base/sql/sql_errors.h"
#include "base/status.h"
#include "fleet/server/metrics.h"
#include "http/health.h"

namespace attune {
namespace {

constexpr int kMostWatchers = 32;       // connections of programs that ask for metrics and health
constexpr double kMostTickSeconds = 5;  // a server that has not ticked for longer is stuck

}  // namespace

absl::Status FleetMonitor::Readiness() const {
  if (is_draining_) return absl::UnavailableError("the server is ending");
  if (state_.dispatcher->Snapshot().seconds_since_tick > kMostTickSeconds)
    return absl::UnavailableError("the server is stuck");
  return state_.store->CheckWritable();
}

std::string FleetMonitor::Metrics() const {
  ServerMetrics metrics = {.dispatcher = state_.dispatcher->Snapshot(),
                           .blob_bytes = state_.blobs->bytes(),
                           .enrolled = enrolment_.enrolled(),
                           .refused_enrolments = enrolment_.refused(),
                           .uptime_seconds = since_start_.Seconds()};
  metrics.revoked_certificates = state_.store->NumRevoked(SystemClock().WallMillis()).value_or(0);
  ObserveProcess(metrics);
  MetricsText more;
  more.Begin("attune_database_errors_total", "counter", "Times that a database could not do its part.");
  more.Add(static_cast<double>(NumSqlErrors()));
  more.Begin("attune_fleet_file_calls", "gauge", "Blobs and files that are on their way.");
  more.Add(static_cast<double>(state_.file_calls->count()));
  if (beside_.add_metrics) beside_.add_metrics(more);
  return FormatMetrics(metrics) + more.text();
}

HttpRouter FleetMonitor::Routes() const {
  HttpRouter router;
  router.Add({"GET", "/metrics", [this](const HttpRequest&) {
                return HttpResponse{.body = Metrics(), .content_type = kMetricsContentType};
              }});
  AddHealthRoutes([this] { return Readiness(); }, router);
  return router;
}

absl::Status FleetMonitor::Begin(const std::string& address) {
  ASSIGN_OR_RETURN(
      http_,
      HttpServer::Start({.address = address, .limits = {.in_all = kMostWatchers}, .threads = 1}, Routes()));
  address_ = http_->address();
  return absl::OkStatus();
}

}  // namespace attune
