// Authorizes requests: identifies the caller, checks the role and the rate, and checks the request against
// its operation.
#ifndef ATTUNE_SERVICE_REST_GATE_H_
#define ATTUNE_SERVICE_REST_GATE_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/clock.h"
#include "base/metrics_text.h"
#include "base/rate_limit.h"
#include "http/router.h"
#include "service/audit/audit_log.h"
#include "service/identity/callers.h"
#include "service/rest/operation.h"
#include "service/rest/stream_admission.h"
#include "service/tenants/tenants.h"

namespace attune {

// How many requests there were, and how long their answers took.
//
// Thread safe.
class RequestMetrics {
 public:
  // `operation`: its id, of which there are few. `seconds`: from when the whole request was there until the
  // answer was; a stream's events count for nothing.
  void Count(const std::string& operation, int status, double seconds);
  void AddTo(MetricsText& text) const;

 private:
  // In seconds. Known answers are to come within 50 ms.
  static constexpr std::array<double, 10> kBounds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5};
  static constexpr size_t kClasses = 5;  // of statuses: 1xx to 5xx

  struct Counts {
    std::array<int64_t, kClasses> by_class = {};
    std::array<int64_t, kBounds.size() + 1> by_seconds = {};
    double seconds = 0;  // of all together
  };

  mutable std::mutex mutex_;
  std::map<std::string, Counts> counts_;  // by operation
};

// Thread safe. The arguments must outlive it.
class Gate {
 public:
  // `limit` is that of one token. `folder`: of the server's state, whose path no problem tells.
  Gate(Callers& callers, AuditLog& audit, Tenants& tenants, const RateLimitOptions& limit,
       std::string folder = "", const Clock& clock = SystemClock(), const StreamLimits& streams = {})
      : callers_(callers),
        audit_(audit),
        tenants_(tenants),
        limit_(limit, clock),
        strangers_(kOfStrangers, clock),
        streams_(callers, streams),
        folder_(std::move(folder)) {}

  // Returns the operation's answer, or the problem because of which it is not called. An answer in JSON to
  // GET has an ETag, and is left out where the peer has it already.
  HttpResponse Answer(const RestOperation& operation, const JsonSchema& schemas, const HttpRequest& request);
  // The problem because of which a request is refused before its body is read; nothing: it may be read.
  std::optional<HttpResponse> Refusal(const RestOperation& operation, const HttpRequest& request);
  // From now on, authorizes only requests that change nothing.
  void Drain() { is_draining_ = true; }
  bool is_draining() const { return is_draining_; }

  const RequestMetrics& metrics() const { return metrics_; }
  // The streams of callers that it has authorized; once begun, they end with the authorization.
  StreamAdmission& streams() { return streams_; }
  const StreamAdmission& streams() const { return streams_; }

 private:
  // For one address, for requests without a token that counts: 50 a second, in the long run.
  static constexpr RateLimitOptions kOfStrangers = {.at_once = 500, .seconds_each = 0.02};

  HttpResponse Decide(const RestOperation& operation, const JsonSchema& schemas, const HttpRequest& request);
  // Returns the caller, which is empty where no token is needed; or the problem because of which the request
  // is refused.
  std::variant<AccessToken, HttpResponse> LetIn(const RestOperation& operation, const HttpRequest& request);
  // Returns the handler's answer. A mutation is in the audit log before it has an effect.
  absl::StatusOr<HttpResponse> Handle(const RestOperation& operation, const RestCall& call);
  // Leaves the folder's path out of a problem, and logs it.
  void HidePaths(HttpResponse& response) const;

  Callers& callers_;
  AuditLog& audit_;
  Tenants& tenants_;
  RateLimit limit_, strangers_;
  StreamAdmission streams_;
  const std::string folder_;
  RequestMetrics metrics_;
  std::atomic<bool> is_draining_ = false;
};

// A router for all operations. The gate and the interface must outlive it.
HttpRouter RouterOf(const RestApi& api, Gate& gate);

}  // namespace attune

#endif  // ATTUNE_SERVICE_REST_GATE_H_
