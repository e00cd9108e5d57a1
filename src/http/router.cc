#include "http/router.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/log.h"
#include "http/problem.h"
#include "http/target.h"

namespace attune {
namespace {

using Parts = std::vector<std::string>;

Parts PartsOf(std::string_view path) { return absl::StrSplit(path, '/', absl::SkipEmpty()); }

bool IsNamed(std::string_view part) { return part.size() > 2 && part.front() == '{' && part.back() == '}'; }

bool Matches(const Parts& wanted, const Parts& given) {
  return std::ranges::equal(wanted, given,
                            [](const std::string& w, const std::string& g) { return IsNamed(w) || w == g; });
}

// Whether the first template is to be tried before the other.
bool IsMoreLiteral(const Parts& one, const Parts& other) {
  return std::ranges::lexicographical_compare(one, other, {}, IsNamed, IsNamed);
}

HttpResponse Call(const HttpRoute& route, const HttpRequest& request) {
  try {
    return route.handler(request);
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

size_t HttpRouter::MostBodyBytes(std::string_view method, std::string_view target) const {
  const std::optional<HttpTarget> parsed = ParseTarget(target);
  std::set<std::string> allowed;
  const HttpRoute* route = parsed ? Find(method, parsed->parts, allowed) : nullptr;
  return route == nullptr ? 0 : route->most_body_bytes;
}

HttpResponse HttpRouter::Answer(HttpRequest request) const {
  std::optional<HttpTarget> target = ParseTarget(request.path);
  if (!target) return Problem(400, "the path of the request is none");
  std::set<std::string> allowed;
  const HttpRoute* route = Find(request.method, target->parts, allowed);
  if (route == nullptr) {
    if (allowed.empty()) return Problem(404, "there is nothing at this path");
    HttpResponse response = Problem(405, "this path does not take this method");
    response.headers["Allow"] = absl::StrJoin(allowed, ", ");
    return response;
  }
  request.path = std::move(target->path);
  request.query = std::move(target->query);
  const Parts names = PartsOf(route->path);
  for (size_t i = 0; i < names.size(); ++i) {
    if (IsNamed(names[i])) request.parts[names[i].substr(1, names[i].size() - 2)] = target->parts[i];
  }
  return Call(*route, request);
}

}  // namespace attune
