#include "http/router.h"

#include <algorithm>
#include <exception>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/log.h"
#include "http/problem.h"
#include "http/target.h"

namespace attune {
namespace {

using Parts = std::vector<std::string>;

constexpr std::string_view kRest = "...}";  // ends a part that stands for all further ones

Parts PartsOf(std::string_view path) { return absl::StrSplit(path, '/', absl::SkipEmpty()); }

bool IsNamed(std::string_view part) { return part.size() > 2 && part.front() == '{' && part.back() == '}'; }

bool IsRest(std::string_view part) { return IsNamed(part) && part.ends_with(kRest); }

bool MatchesPart(const std::string& wanted, const std::string& given) {
  return IsNamed(wanted) ? IsRest(wanted) || given.find('/') == std::string::npos : wanted == given;
}

bool Matches(const Parts& wanted, const Parts& given) {
  const bool has_rest = !wanted.empty() && IsRest(wanted.back());
  if (has_rest ? given.size() < wanted.size() : given.size() != wanted.size()) return false;
  return std::equal(wanted.begin(), wanted.end(), given.begin(), MatchesPart);
}

// The parts of the path that the template's names stand for.
std::map<std::string, std::string, std::less<>> NamedParts(const Parts& wanted, const Parts& given) {
  std::map<std::string, std::string, std::less<>> named;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (IsRest(wanted[i])) {
      const std::string name = wanted[i].substr(1, wanted[i].size() - 1 - kRest.size());
      named[name] = absl::StrJoin(given.begin() + static_cast<std::ptrdiff_t>(i), given.end(), "/");
    } else if (IsNamed(wanted[i])) {
      named[wanted[i].substr(1, wanted[i].size() - 2)] = given[i];
    }
  }
  return named;
}

// Whether the first template is to be tried before the other.
bool IsMoreLiteral(const Parts& one, const Parts& other) {
  return std::ranges::lexicographical_compare(one, other, {}, IsNamed, IsNamed);
}

template <typename Answer, typename Handler>
Answer Call(const Handler& handler, const HttpRequest& request) {
  try {
    return handler(request);
  } catch (const std::exception& error) {
    // Ours never throw; libraries below them may.
    return Problem(absl::InternalError(error.what()));
  }
}

}  // namespace

void HttpRouter::Add(HttpRoute route) {
  const auto place = std::ranges::find_if(routes_, [&](const HttpRoute& other) {
    return IsMoreLiteral(PartsOf(route.path), PartsOf(other.path));
  });
  routes_.insert(place, std::move(route));
}

const HttpRoute* HttpRouter::Find(std::string_view method, const Parts& parts,
                                  std::set<std::string>& allowed) const {
  const std::string_view wanted = method == "HEAD" ? "GET" : method;
  for (const HttpRoute& route : routes_) {
    if (!Matches(PartsOf(route.path), parts)) continue;
    if (route.method == wanted) return &route;
    allowed.insert(route.method);
  }
  if (allowed.contains("GET")) allowed.insert("HEAD");
  return nullptr;
}

std::optional<size_t> HttpRouter::MostBodyBytes(std::string_view method, std::string_view target) const {
  const std::optional<HttpTarget> parsed = ParseTarget(target);
  std::set<std::string> allowed;
  const HttpRoute* route = parsed ? Find(method, parsed->parts, allowed) : nullptr;
  if (route == nullptr) return std::nullopt;
  return route->most_body_bytes;
}

std::optional<HttpResponse> HttpRouter::Refusal(const HttpRequest& request) const {
  const std::optional<HttpTarget> target = ParseTarget(request.path);
  std::set<std::string> allowed;
  const HttpRoute* route = target ? Find(request.method, target->parts, allowed) : nullptr;
  if (route == nullptr || !route->refusal) return std::nullopt;
  return Call<std::optional<HttpResponse>>(route->refusal, request);
}

HttpResponse HttpRouter::Answer(HttpRequest request) const {
  std::optional<HttpTarget> target = ParseTarget(request.path);
  if (!target) return Problem(400, "the path of the request is none");
  std::set<std::string> allowed;
  const HttpRoute* route = Find(request.method, target->parts, allowed);
  if (route == nullptr) {
    const bool reads = request.method == "GET" || request.method == "HEAD";
    if (allowed.empty() && reads && fallback_) {
      request.path = std::move(target->path);
      return Call<HttpResponse>(fallback_, request);
    }
    if (allowed.empty()) return Problem(404, "there is nothing at this path");
    HttpResponse response = Problem(405, "this path does not take this method");
    response.headers["Allow"] = absl::StrJoin(allowed, ", ");
    return response;
  }
  request.path = std::move(target->path);
  request.query = std::move(target->query);
  request.parts = NamedParts(PartsOf(route->path), target->parts);
  return Call<HttpResponse>(route->handler, request);
}

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
