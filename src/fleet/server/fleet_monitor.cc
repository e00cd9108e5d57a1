#include "fleet/server/fleet_monitor.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

#include "base/metrics_text.h"
#include "base/sql/sql_errors.h"
#include "base/status.h"
#include "http/router.h"

namespace attune {
namespace {

constexpr int kMostWatchers = 32;       // connections of programs that ask for metrics and health
constexpr double kMostTickSeconds = 5;  // a server that has not ticked for longer is stuck

// A metric that is one number.
struct Simple {
  std::string_view name, type, help;
  double (*value)(const ServerMetrics&);
};
constexpr Simple kSimple[] = {
    {"attune_fleet_agents", "gauge", "Agents that are connected.",
     [](const ServerMetrics& m) { return static_cast<double>(m.dispatcher.agents); }},
    {"attune_fleet_leases_granted_total", "counter", "Leases that were granted.",
     [](const ServerMetrics& m) { return static_cast<double>(m.dispatcher.counters.leases_granted); }},
    {"attune_fleet_leases_ended_total", "counter", "Leases that have ended, in whatever way.",
     [](const ServerMetrics& m) { return static_cast<double>(m.dispatcher.counters.leases_ended); }},
    {"attune_fleet_leases_lost_total", "counter", "Leases that have ended because one side was silent.",
     [](const ServerMetrics& m) { return static_cast<double>(m.dispatcher.counters.leases_lost); }},
    {"attune_fleet_results_passed_on_total", "counter", "Results of devices that were passed on to clients.",
     [](const ServerMetrics& m) { return static_cast<double>(m.dispatcher.counters.results_passed_on); }},
    {"attune_fleet_results_refused_total", "counter",
     "Results of devices that came under a stale token and were refused.",
     [](const ServerMetrics& m) { return static_cast<double>(m.dispatcher.counters.results_refused); }},
    {"attune_fleet_agents_replaced_total", "counter",
     "Connections of agents that ended as the same agent had connected again.",
     [](const ServerMetrics& m) { return static_cast<double>(m.dispatcher.counters.agents_replaced); }},
    {"attune_fleet_agents_with_shared_credentials", "gauge",
     "Agents whose credentials two places have used within ten minutes.",
     [](const ServerMetrics& m) { return static_cast<double>(m.dispatcher.agents_with_shared_credentials); }},
    {"attune_fleet_blobs_bytes", "gauge", "Bytes of the blobs that the server keeps.",
     [](const ServerMetrics& m) { return static_cast<double>(m.blob_bytes); }},
    {"attune_fleet_certificates_revoked", "gauge",
     "Certificates that were revoked and would be valid otherwise.",
     [](const ServerMetrics& m) { return static_cast<double>(m.revoked_certificates); }},
    {"attune_fleet_uptime_seconds", "gauge", "Seconds since the server has started.",
     [](const ServerMetrics& m) { return m.uptime_seconds; }},
    {"process_resident_memory_bytes", "gauge", "Resident memory of the server's process.",
     [](const ServerMetrics& m) { return static_cast<double>(m.resident_bytes); }},
    {"process_cpu_seconds_total", "counter", "Processor time that the server's process has used.",
     [](const ServerMetrics& m) { return m.cpu_seconds; }},
};

void AddDevices(const DispatcherSnapshot& dispatcher, MetricsText& text) {
  text.Begin("attune_fleet_devices", "gauge", "Devices by their state.");
  for (const auto& [state, count] :
       {std::pair("free", dispatcher.devices_free), std::pair("held", dispatcher.devices_held),
        std::pair("drained", dispatcher.devices_drained), std::pair("away", dispatcher.devices_away)})
    text.Add(static_cast<double>(count), {{"state", state}});
}

void AddWaiting(const DispatcherSnapshot& dispatcher, MetricsText& text) {
  std::vector<std::pair<int, std::string>> keys;
  double all = 0;
  for (const auto& [key, requests] : dispatcher.waiting) {
    keys.emplace_back(-requests, key);
    all += requests;
  }
  std::ranges::sort(keys);
  if (keys.size() > kMostKeysInMetrics) keys.resize(kMostKeysInMetrics);
  text.Begin("attune_fleet_requests_waiting", "gauge", "Requests that wait for a device.");
  text.Add(all);
  text.Begin("attune_fleet_requests_waiting_by_key", "gauge",
             "Requests that wait for a device, by key; only the keys that most wait for.");
  for (const auto& [requests, key] : keys) text.Add(-requests, {{"key", key}});
}

void AddEnrolments(const ServerMetrics& metrics, MetricsText& text) {
  text.Begin("attune_fleet_enrolments_total", "counter", "Attempts to enrol by their result.");
  text.Add(static_cast<double>(metrics.enrolled), {{"result", "ok"}});
  text.Add(static_cast<double>(metrics.refused_enrolments), {{"result", "refused"}});
}

}  // namespace

void ObserveProcess(ServerMetrics& metrics) {
  int64_t all_pages = 0, resident_pages = 0;
  std::ifstream("/proc/self/statm") >> all_pages >> resident_pages;
  metrics.resident_bytes = resident_pages * sysconf(_SC_PAGESIZE);
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  for (const timeval& time : {usage.ru_utime, usage.ru_stime})
    metrics.cpu_seconds += static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

std::string FormatMetrics(const ServerMetrics& metrics) {
  MetricsText text;
  for (const Simple& simple : kSimple) {
    text.Begin(simple.name, simple.type, simple.help);
    text.Add(simple.value(metrics));
  }
  AddDevices(metrics.dispatcher, text);
  AddWaiting(metrics.dispatcher, text);
  AddEnrolments(metrics, text);
  text.Begin("attune_fleet_lease_wait_seconds", "histogram",
             "Seconds that granted requests have waited for a device.");
  text.Add(metrics.dispatcher.counters.waited);
  return text.text();
}

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
