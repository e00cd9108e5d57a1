// Finds who answers a request, by its method and the parts of its path.
#ifndef ATTUNE_HTTP_ROUTER_H_
#define ATTUNE_HTTP_ROUTER_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "http/message.h"

namespace attune {

using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

struct HttpRoute {
  std::string method = {};  // GET, which answers HEAD too, POST, PUT, PATCH or DELETE
  // "/v1/jobs/{id}"; a part in braces stands for any one part. A last one as in "/files/{name...}" stands for
  // one or more, whose slashes may be escaped.
  std::string path = {};
  HttpHandler handler = {};
  size_t most_body_bytes = 64 << 10;  // a larger body is refused (413)
  // Is asked before a body is read that is not small, with a request that has none yet and no parts: refuses
  // it, or returns nothing. May be null, which refuses none.
  std::function<std::optional<HttpResponse>(const HttpRequest&)> refusal = {};
};

// Immutable once all routes are added, and then thread safe if the handlers are.
class HttpRouter {
 public:
  // No two routes may match the same request; literal parts go before those in braces.
  void Add(HttpRoute route);
  // Answers GET and HEAD where no route has the path, as for the files of a page and for the views that it
  // shows at addresses of its own.
  void SetFallback(HttpHandler handler) { fallback_ = std::move(handler); }
  const std::vector<HttpRoute>& routes() const { return routes_; }

  // The most bytes that the body of such a request may have; nothing if there is no route for it.
  std::optional<size_t> MostBodyBytes(std::string_view method, std::string_view target) const;
  // The answer with which the request's route refuses it; nothing if it does not.
  std::optional<HttpResponse> Refusal(const HttpRequest& request) const;
  // The response of the route, whose parts of the path are set; problems of HTTP (400, 404, 405 with Allow)
  // if there is none, and 500 if the handler throws.
  HttpResponse Answer(HttpRequest request) const;

 private:
  // The route of such a request; null if there is none, and then `allowed` has the methods that there are.
  const HttpRoute* Find(std::string_view method, const std::vector<std::string>& parts,
                        std::set<std::string>& allowed) const;

  std::vector<HttpRoute> routes_;
  HttpHandler fallback_;  // may be null
};

// For load balancers and supervisors, without a token: GET /healthz answers 200; GET /readyz too while
// `readiness` is ok, and else 503 with its message.
void AddHealthRoutes(std::function<absl::Status()> readiness, HttpRouter& router);

}  // namespace attune

#endif  // ATTUNE_HTTP_ROUTER_H_
