#include "service/rest/operation.h"

#include <set>

namespace attune {

std::vector<int> RestOperation::Problems() const {
  // A path or a parameter may be none, and the server may be ending or overloaded.
  std::set<int> statuses = {400, 429, 500, 503};
  if (role) statuses.insert({401, 403});
  if (!body.is_null() || !body_type.empty()) statuses.insert({413, 415});
  statuses.insert(problems.begin(), problems.end());
  return {statuses.begin(), statuses.end()};
}

bool RestOperation::HasTag() const {
  return method == "GET" && !answers.empty() && answers.front().status == 200 &&
         !answers.front().schema.is_null();
}

HttpResponse JsonResponse(const JsonSchema& json, int status) {
  // Names that people have given may be no UTF-8.
  return {.status = status,
          .body = json.dump(-1, ' ', false, JsonSchema::error_handler_t::replace) + "\n",
          .content_type = kJsonType};
}

}  // namespace attune
