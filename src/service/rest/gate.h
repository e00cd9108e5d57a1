// Lets requests in: who asks, whether he may, how often, and whether the request is as its operation wants
// it.
#ifndef ATTUNE_SERVICE_REST_GATE_H_
#define ATTUNE_SERVICE_REST_GATE_H_

#include <optional>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/rate_limit.h"
#include "http/router.h"
#include "service/rest/operation.h"
#include "service/rest/service_store.h"

namespace attune {

// Thread safe. The arguments must outlive it.
class Gate {
 public:
  // `limit` is that of one token.
  Gate(ServiceStore& store, const RateLimitOptions& limit, const Clock& clock = SystemClock())
      : store_(store), limit_(limit, clock), clock_(clock) {}

  // What the operation answers, or the problem because of which it is not asked. An answer in JSON to GET has
  // an ETag, and is left out where the peer has it already.
  HttpResponse Answer(const RestOperation& operation, const JsonSchema& schemas, const HttpRequest& request);

 private:
  // Sets the caller. Returns the problem, if there is one.
  std::optional<HttpResponse> Identify(const RestOperation& operation, RestCall& call);

  ServiceStore& store_;
  RateLimit limit_;
  const Clock& clock_;
};

// A router for all operations. The gate and the interface must outlive it.
HttpRouter RouterOf(const RestApi& api, Gate& gate);

}  // namespace attune

#endif  // ATTUNE_SERVICE_REST_GATE_H_
