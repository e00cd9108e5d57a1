// An operation of the REST interface, declared once: requests are routed and checked by it, and the OpenAPI
// document is written from it.
#ifndef ATTUNE_SERVICE_REST_OPERATION_H_
#define ATTUNE_SERVICE_REST_OPERATION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/json_schema.h"
#include "http/message.h"
#include "nlohmann/json.hpp"
#include "service/access/access.h"

namespace attune {

inline constexpr int kMaxParameterLength = 1000;  // unless a parameter has a schema of its own
inline constexpr char kJsonType[] = "application/json";

// A request that is authorized, and valid for its operation.
struct RestCall {
  const HttpRequest& request;
  AccessToken caller = {};                               // empty where no token is needed
  nlohmann::json parameters = nlohmann::json::object();  // of all places, by name; without those left out
  nlohmann::json body = nullptr;                         // null where the operation takes no JSON

  std::string Text(const char* parameter) const { return parameters.value(parameter, ""); }
};

// A handler's error is answered as a problem of the status that fits its code.
using RestHandler = std::function<absl::StatusOr<HttpResponse>(const RestCall&)>;

struct RestParameter {
  std::string name = {};
  std::string place = {};  // "path", "query" or "header"
  std::string help = {};
  JsonSchema schema = {{"type", "string"}, {"maxLength", kMaxParameterLength}};
  bool is_required = false;
};

struct RestHeader {
  std::string name = {}, help = {};
};

struct RestAnswer {
  int status = 200;
  std::string help = {};
  JsonSchema schema = nullptr;  // of the body; null: it is no JSON, or there is none
  std::string type = {};        // of a body that is no JSON; empty: there is none
  std::vector<RestHeader> headers = {};
};

struct RestOperation {
  std::string id = {};                                   // for clients that are generated: "submitJob"
  std::string method = {};                               // as in HttpRoute
  std::string path = {};                                 // likewise
  std::string summary = {};                              // a sentence
  std::optional<AccessRole> role = AccessRole::kViewer;  // the lowest role that may call it; nothing: no
                                                         // token is needed
  std::vector<RestParameter> parameters = {};
  JsonSchema body = nullptr;   // the schema; null: it is no JSON, or there is none
  std::string body_type = {};  // of a body that is no JSON; empty: there is none
  size_t most_body_bytes = 64 << 10;
  std::vector<RestAnswer> answers = {};
  std::vector<int> problems = {};  // statuses of errors, beyond those that follow from the rest
  bool changes_nothing = false;    // though its method is not GET, so that it is not recorded
  RestHandler handler = {};

  bool IsRecorded() const { return role && method != "GET" && !changes_nothing; }
  // All statuses of errors.
  std::vector<int> Problems() const;
  // Whether answers are in JSON and have an ETag, so that a peer need not fetch them again.
  bool HasTag() const;
};

struct RestApi {
  std::vector<RestOperation> operations = {};
  JsonSchema schemas = JsonSchema::object();  // by name
};

HttpResponse JsonResponse(const JsonSchema& json, int status = 200);

}  // namespace attune

#endif  // ATTUNE_SERVICE_REST_OPERATION_H_
