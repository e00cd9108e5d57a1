#include "http/health.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace attune {

void AddHealthRoutes(std::function<absl::Status()> readiness, HttpRouter& router) {
  router.Add(
      {"GET", "/healthz", [](const HttpRequest&) { return HttpResponse{.body = "the server lives\n"}; }});
  router.Add({"GET", "/readyz", [is_ready = std::move(readiness)](const HttpRequest&) {
                const absl::Status ready = is_ready();
                return ready.ok() ? HttpResponse{.body = "the server is ready\n"}
                                  : HttpResponse{.status = 503, .body = absl::StrCat(ready.message(), "\n")};
              }});
}

}  // namespace attune
