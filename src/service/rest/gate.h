// Authorizes requests: identifies the caller, checks the role and the rate, and checks the request against
// its operation.
#ifndef ATTUNE_SERVICE_REST_GATE_H_
#define ATTUNE_SERVICE_REST_GATE_H_

#include <atomic>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/clock.h"
#include "base/rate_limit.h"
#include "http/router.h"
#include "service/audit/audit_log.h"
#include "service/identity/callers.h"
#include "service/rest/operation.h"
#include "service/rest/request_metrics.h"
#include "service/rest/stream_admission.h"
#include "service/tenants/tenants.h"

namespace attune {

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
