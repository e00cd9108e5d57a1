// Whether a server lives, and whether it is to be asked: for load balancers and supervisors, without a token.
#ifndef ATTUNE_HTTP_HEALTH_H_
#define ATTUNE_HTTP_HEALTH_H_

#include <functional>

#include "absl/status/status.h"
#include "http/router.h"

namespace attune {

// GET /healthz answers 200; GET /readyz too while `readiness` is ok, and else 503 with its message.
void AddHealthRoutes(std::function<absl::Status()> readiness, HttpRouter& router);

}  // namespace attune

#endif  // ATTUNE_HTTP_HEALTH_H_
