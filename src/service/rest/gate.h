// Lets requests in: who asks, whether he may, how often, and whether the request is as its operation wants
// it.
#ifndef ATTUNE_SERVICE_REST_GATE_H_
#define ATTUNE_SERVICE_REST_GATE_H_

#include <optional>
#include <variant>

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
  // The problem because of which a request is refused before its body is read; nothing: it may be read.
  std::optional<HttpResponse> Refusal(const RestOperation& operation, const HttpRequest& request);

 private:
  // The caller, or why nobody is known.
  std::variant<AccessToken, HttpResponse> Identify(const HttpRequest& request);

  ServiceStore& store_;
  RateLimit limit_;
  const Clock& clock_;
};

// A router for all operations. The gate and the interface must outlive it.
HttpRouter RouterOf(const RestApi& api, Gate& gate);

}  // namespace attune

#endif  // ATTUNE_SERVICE_REST_GATE_H_
